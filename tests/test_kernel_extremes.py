"""Widths and rows near the ends of floating point, and rows far from the origin."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_twins import TWINS, name, rows
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from krein import KreinPCA, RandomFourier, RandomGegenbauer, SimilarityFeatures
from krein.estimators import CorrectedSVC
from krein.kernels import (
    TL1,
    ArcCosine,
    Cauchy,
    CoshGaussian,
    DeltaGaussian,
    Epanechnikov,
    Gaussian,
    Laplacian,
    Matern,
    Multiquadric,
    NeuralTangent,
    Polynomial,
    RectifiedSigmoid,
    ShiftGaussian,
    Sigmoid,
    SinhGaussian,
    Tanimoto,
    ThinPlateSpline,
    Tversky,
)
from krein.kernels.values import BadPairError

WIDTHS = (1e-300, 1e-170, 1e170, 1e300)
KINDS = {"dense": np.asarray, "CSR": sparse.csr_array}
CASES = [(kernel, kind) for kernel, _, kind in TWINS]


def calls(kernel, X):
    """All ways to ask for values."""
    return kernel(X), kernel(X, X[:3]), kernel.diag(X)


@pytest.mark.parametrize("form", KINDS)
@pytest.mark.parametrize(("kernel", "kind"), CASES, ids=name)
class TestNeverNaN:
    def test_widths(self, kernel, kind, form):
        X = rows(kind, 8, 0)
        for parameter in kernel.get_params():
            if parameter not in ("sigma", "sigma_neg", "a", "rho", "c", "nu", "gamma", "coef0"):
                continue
            for width in WIDTHS:
                extreme = clone(kernel).set_params(**{parameter: width})
                for dtype in (np.float64, np.float32):
                    for values in calls(extreme, KINDS[form](X.astype(dtype))):
                        assert not np.isnan(values).any()

    @pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e150, 1e300])
    def test_rows(self, kernel, kind, form, factor):
        if kind == "unit":
            pytest.skip("rows are unit rows")
        X = rows(kind, 8, 0) * factor
        X[0] = rows(kind, 1, 5)  # and an ordinary row among them
        for values in calls(kernel, KINDS[form](X)):
            assert not np.isnan(values).any()


@pytest.mark.parametrize("form", KINDS)
def test_values_at_the_ends_are_the_limits(form):
    X = KINDS[form](rows("any", 8, 0))
    identity, ones = np.eye(8), np.ones((8, 8))
    for kernel in (Gaussian, Matern, Laplacian, Cauchy, Epanechnikov):
        assert_array_equal(kernel(1e-300)(X), identity)
        assert_array_equal(kernel(1e300)(X), ones)
    for kernel in (ShiftGaussian(1e300), SinhGaussian(1e300, 0.0), CoshGaussian(1e300, 0.0)):
        assert_array_equal(kernel(X), ones)
    assert_array_equal(DeltaGaussian(1e-300, 1e300)(X), identity - 1)
    assert_array_equal(Multiquadric(1e300, 2.0)(X), 2 * ones)
    assert_array_equal(TL1(1e300)(X), 1e300 * ones)
    assert_array_equal(Matern(1.0, 1e300)(X), Matern(1.0, 1e17)(X))
    assert_allclose(Matern(1.0, 1e300)(X), Gaussian(1.0)(X), rtol=1e-12)


@pytest.mark.parametrize("form", KINDS)
@pytest.mark.parametrize("exponent", [-665, -500, 500, 990])
def test_kernels_whose_width_grows_with_the_rows_do_not_change(form, exponent):
    X = rows("any", 8, 0)
    factor = 2.0**exponent
    far = KINDS[form](X * factor)
    for kernel in (Gaussian, Cauchy, Matern, Laplacian, Epanechnikov):
        assert_allclose(kernel(factor)(far), kernel(1.0)(KINDS[form](X)), rtol=1e-12, atol=1e-14)
    shifted = ShiftGaussian(factor, 0.3 * factor)(far)
    assert_allclose(shifted, ShiftGaussian(1.0, 0.3)(X), rtol=1e-9)
    assert_allclose(ArcCosine(0)(far), ArcCosine(0)(X), rtol=1e-12)
    assert_allclose(Tanimoto()(abs(far)), Tanimoto()(abs(X)), rtol=1e-12)
    if abs(exponent) <= 500:
        assert_allclose(NeuralTangent()(far) / factor**2, NeuralTangent()(X), rtol=1e-9)


def test_one_huge_row_leaves_the_others_alone():
    X = rows("any", 12, 0)
    huge = np.vstack([X, [[1e300, -1e300, 0.0]]])
    for kernel in (Gaussian(), Cauchy(), Multiquadric(), ShiftGaussian()):
        for A in (huge, sparse.csr_array(huge)):
            assert_allclose(kernel(A)[:12, :12], kernel(X), rtol=1e-9)
    assert_array_equal(Gaussian()(huge)[12], np.eye(13)[12])
    assert np.isposinf(ThinPlateSpline()(huge)[12, 0])


# --- far from the origin --------------------------------------------------------------------------

FAR = [
    Gaussian(),
    Gaussian(0.5) * 2.0,
    Cauchy(),
    Matern(),
    DeltaGaussian(),
    Epanechnikov(3.0),
    ShiftGaussian(1.0, 0.4),
    SinhGaussian(1.0, 0.3),
    CoshGaussian(1.0, [0.3, -0.2, 0.1]),
    Laplacian(),
]


@pytest.mark.parametrize("form", KINDS)
@pytest.mark.parametrize("kernel", FAR, ids=name)
def test_an_offset_of_ten_million_changes_nothing(kernel, form):
    X = rows("any", 30, 0)
    far = X + 1e7
    expected = kernel(far - 1e7)  # the rows that are left after rounding
    assert_allclose(kernel(KINDS[form](far)), expected, atol=2e-8)
    assert_allclose(kernel(KINDS[form](far[:5]), KINDS[form](far)), expected[:5], atol=2e-8)


def test_sparse_rows_with_filled_and_empty_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 50)) * (rng.random((40, 50)) < 0.05)
    X[:, 7] += 1e7 + rng.normal(size=40)
    X[:, 30] = np.where(rng.random(40) < 0.8, 3e6 + rng.normal(size=40), 3e6)
    expected = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    assert_allclose(Gaussian()(sparse.csr_array(X)), expected, atol=1e-7)
    assert_allclose(Gaussian()(sparse.csr_array(X), X), expected, atol=1e-7)


def test_wide_sparse_rows_stay_sparse():
    import tracemalloc

    X = sparse.random(200, 200_000, 1e-4, random_state=0, format="csr")
    X = sparse.hstack([X, np.ones((200, 1)) * 1e6]).tocsr()
    tracemalloc.start()
    Gaussian()(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e7  # the dense matrix has 3.2e8 bytes


@pytest.mark.parametrize(
    "kernel",
    [
        Laplacian(),
        TL1(),
        1.0 * Laplacian(),
        Gaussian(),
        ShiftGaussian(),
        Polynomial(),
        Sigmoid(),
        RectifiedSigmoid(),
        Tanimoto(),
        Tversky(),
    ],
    ids=repr,
)
def test_a_sparse_matrix_of_the_caller_stays_as_it_is(kernel):
    data, indices = np.array([1.0, 2, 3, 4, 5]), np.array([2, 0, 1, 1, 0])
    X = sparse.csr_matrix((data, indices, np.array([0, 2, 3, 5])), shape=(3, 3))
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    expected = kernel(X.toarray())
    assert_allclose(kernel(X), expected, rtol=1e-12)
    assert_allclose(kernel(X, X), kernel(X.toarray(), X.toarray()), rtol=1e-12)
    kernel.diag(X)
    for now, then in zip((X.data, X.indices, X.indptr), before, strict=True):
        assert_array_equal(now, then)


@pytest.mark.parametrize("kernel", [Tanimoto(), Tversky(), Laplacian(), Polynomial()], ids=repr)
def test_entries_of_a_sparse_matrix_that_stand_twice_are_summed(kernel):
    parts = np.ones(3), np.array([0, 0, 1], dtype=np.int64), np.array([0, 3], dtype=np.int64)
    X = sparse.csr_array(parts, shape=(1, 2))
    Y = np.array([[1.0, 3.0]])
    assert_allclose(kernel(X, Y), kernel(np.array([[2.0, 1.0]]), Y), rtol=1e-12)
    assert X.nnz == 3


@pytest.mark.parametrize("kernel", [Gaussian(), ShiftGaussian(), SinhGaussian(), CoshGaussian()])
def test_single_precision_far_from_the_origin(kernel):
    X = (rows("any", 40, 0) + 1e6).astype(np.float32)
    exact = kernel(X.astype(float), X[:10].astype(float))
    assert_allclose(kernel(X, X[:10]), exact, rtol=0, atol=1e-5 * np.abs(exact).max())


# --- maps and learners ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", KINDS)
@pytest.mark.parametrize("factor", [1e-310, 1e-200, 1e150, 1e300])
def test_directions_of_tiny_and_huge_rows_are_kept(form, factor):
    X = rows("any", 60, 0)
    features = RandomGegenbauer(ArcCosine(0), 32, random_state=0)
    expected = clone(features).fit(X).transform(X)
    found = features.fit(KINDS[form](X * factor)).transform(KINDS[form](X * factor))
    assert_allclose(found, expected, atol=1e-10)


@pytest.mark.filterwarnings("ignore::UserWarning")  # that such widths say nothing
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kernel", [k for k, _, _ in TWINS if "sigma" in k.get_params()], ids=name)
@pytest.mark.parametrize("kind", [RandomFourier, RandomGegenbauer])
def test_random_maps_give_numbers_or_a_sentence(kind, kernel, width):
    X = rows("unit", 40, 0)
    features = kind(clone(kernel).set_params(sigma=width), 16, random_state=0)
    try:
        features.fit(X)
    except ValueError:
        return
    assert np.isfinite(features.transform(X)).all()
    assert np.isfinite(features.transform_dual(X)).all()


HUGE = np.array([[1.0, 2], [3, 4], [1e300, 1], [0, 1], [2, 2], [1, 1], [2, 1], [5, 3]])
SENTENCE = r"RectifiedSigmoid\(\) returned inf for object 2 of X and object \d of Y"


@pytest.mark.parametrize(
    "estimator",
    [
        CorrectedSVC(RectifiedSigmoid()),
        KreinPCA(kernel=RectifiedSigmoid()),
        SimilarityFeatures(RectifiedSigmoid(), 8, landmarks="all", scale=True),
    ],
    ids=lambda e: type(e).__name__,
)
def test_infinite_values_are_a_sentence_in_fit(estimator):
    with pytest.raises(BadPairError, match=SENTENCE):
        clone(estimator).fit(HUGE, np.arange(8) % 2)
    assert not hasattr(estimator, "kernel_")


@pytest.mark.parametrize(
    "estimator",
    [
        CorrectedSVC(Polynomial(3)),
        KreinPCA(kernel=Polynomial(3)),
        SimilarityFeatures(Polynomial(3), 7, landmarks="all"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_infinite_values_are_a_sentence_for_new_rows(estimator):
    good = np.delete(HUGE, 2, axis=0)
    fitted = clone(estimator).fit(good, np.arange(7) % 2)
    verb = "predict" if hasattr(fitted, "predict") else "transform"
    with pytest.raises(BadPairError, match=r"returned inf for object 2 of X and object \d of Y"):
        getattr(fitted, verb)(HUGE)


def test_diagnose_names_the_pair():
    import krein

    with pytest.raises(BadPairError, match=SENTENCE):
        krein.diagnose(RectifiedSigmoid(), HUGE, n_components=2)
