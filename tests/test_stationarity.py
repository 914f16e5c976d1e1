"""Which kernels are functions of x − y: declared, combined, or found on rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import chi2_kernel, cosine_similarity, laplacian_kernel, rbf_kernel

import krein
from krein.kernels import (
    TL1,
    ArcCosine,
    Constant,
    Custom,
    EditDistance,
    FromMeasure,
    Gaussian,
    GeodesicGaussian,
    Hellinger,
    Kernel,
    Laplacian,
    Multiquadric,
    NoMeasureError,
    Pairwise,
    Polynomial,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
    Similarity,
)
from krein.testing import check_kernel

X = np.random.default_rng(0).standard_normal((30, 4))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)

STATIONARY = [
    Gaussian(),
    Laplacian(),
    TL1(3.0),
    Multiquadric(),
    ShiftGaussian(),
    Constant(-2.0),
    FromMeasure(Gaussian().measure(4)),
    2 * TL1() - Gaussian() * ShiftGaussian() + 1,
    ShiftGaussian().T,
    (ShiftGaussian() + TL1()).symmetric_part,
    ShiftGaussian().skew_part,
    Similarity(TL1()),
]
ZONAL = [Sigmoid(), ArcCosine(), GeodesicGaussian(), -Polynomial(), Polynomial() + Gaussian()]


@pytest.mark.parametrize("kernel", STATIONARY, ids=repr)
def test_declared(kernel):
    found = kernel.stationarity()
    assert found
    assert kernel.is_stationary() is kernel.is_stationary(X) is True
    assert kernel.traits.is_stationary
    assert "declare" in str(found)


@pytest.mark.parametrize("kernel", ZONAL, ids=repr)
def test_functions_of_products_are_stationary_on_unit_rows_only(kernel):
    assert not kernel.is_stationary()
    assert "rows of norm 1 only" in str(kernel.stationarity())
    assert kernel.is_stationary(UNIT)
    assert "function of ⟨x, y⟩" in str(kernel.stationarity(UNIT))
    assert kernel.is_stationary(sparse.csr_array(UNIT))
    assert kernel.is_stationary(UNIT.astype(np.float32))


def test_a_sum_of_a_kernel_of_differences_and_one_of_products_on_unit_rows():
    """Neither k(x + h, y + h) nor k(Qx, Qy) is k(x, y), but both terms are known."""
    kernel = TL1() + Sigmoid()
    assert "functions of x − y and of ⟨x, y⟩" in str(kernel.stationarity(UNIT))
    assert kernel.is_stationary(UNIT)
    assert not kernel.is_stationary(X)


@pytest.mark.parametrize(
    ("kernel", "on_rows", "on_unit_rows"),
    [
        (Custom(rbf_kernel), "k(x + h, y + h) equals", "k(x + h, y + h) equals"),
        (Custom(laplacian_kernel) * TL1(3.0), "k(x + h, y + h) equals", "k(x + h, y + h) equals"),
        (Custom(cosine_similarity), "differs from k(x + h, y + h) by", "k(Qx, Qy) equals"),
        (
            Custom(lambda A, B: A[:, :1] * B[:, 0]),
            "random shift h, k(x, y) differs from k(x + h, y + h) by",
            "random shift h and reflection Q, k(x, y) differs from k(x + h, y + h) by",
        ),
        (Pairwise(lambda x, y: float(x @ y)), "differs from k(x + h", "k(Qx, Qy) equals"),
        (Sigmoid(), "differs from k(x + h", "because it is a function of ⟨x, y⟩"),
    ],
    ids=["rbf", "laplacian", "cosine", "first column", "products", "sigmoid"],
)
def test_tested(kernel, on_rows, on_unit_rows):
    for rows, said in ((X, on_rows), (UNIT, on_unit_rows)):
        found = kernel.stationarity(rows)
        assert said in str(found)
        assert found.holds == ("differs" not in said)
        assert kernel.stationarity(rows[::-1]) == found  # rows are drawn by their content


def test_values_of_any_size():
    """Neither the size of the values nor that of the rows matters."""
    for scale in (1e-9, 1.0, 1e9):
        local = Custom(lambda A, B, s=scale: s * rbf_kernel(A, B, gamma=1 / s**2))
        assert local.is_stationary(scale * X)
        linear = Custom(lambda A, B, s=scale: s * (A @ B.T))
        assert not linear.is_stationary(scale * X)


def test_rows_outside_of_the_domain_of_a_function():
    """Shifted rows stay non-negative; reflected rows do not, and the function raises there."""
    rows = np.abs(UNIT)
    found = Custom(chi2_kernel).stationarity(rows)
    assert not found
    assert "k(Qx, Qy) (undefined)" in str(found)
    assert Hellinger().is_stationary(rows)
    with pytest.raises(ValueError, match="negative values"):  # on the rows themselves
        Custom(chi2_kernel).is_stationary(X)


def test_one_column_on_the_sphere():
    rows = np.array([[1.0], [-1.0]])
    assert Custom(lambda A, B: A @ B.T).is_stationary(rows)
    assert not Custom(lambda A, B: np.maximum(A, 0) * np.maximum(B.T, 0)).is_stationary(rows)


def test_data_that_are_not_vectors():
    for kernel, data in (
        (EditDistance(), ["a", "bc"]),
        (Pairwise(lambda x, y: float(len(x & y))), [{1}, {2}]),
        (Custom(lambda A, B: np.ones((len(A), len(B)))), [[1.0], [2.0, 3.0]]),
        (Precomputed(), np.eye(3)),
    ):
        assert "its data are not vectors" in str(kernel.stationarity(data))
        assert not kernel.is_stationary(data)


def test_a_kernel_that_declares_nothing_needs_rows():
    with pytest.raises(ValueError, match=r"Custom\(rbf_kernel\) does not declare .* pass rows X"):
        Custom(rbf_kernel).is_stationary()
    assert Custom(rbf_kernel).is_stationary([[1.0, 2.0], [3.0, 4.0]])


def test_a_wrong_declaration_fails_the_check():
    class Wrong(Kernel):
        traits = Gaussian.traits

        def _block(self, X, Y):
            return np.asarray(X[:, [0]] * Y[:, [0]].T)

    with pytest.raises(AssertionError, match="is_stationary is wrong"):
        check_kernel(Wrong(), lambda x, y: x[0] * y[0], X[:5], X[5:9])


def test_random_fourier_says_how_it_found_out():
    with pytest.raises(NoMeasureError, match=r"not a function of x − y: .*k\(x \+ h.*Nyström"):
        krein.RandomFourier(Custom(cosine_similarity)).fit(X)
    with pytest.raises(NoMeasureError, match=r"has no spectral measure: none is .*MixtureF"):
        krein.RandomFourier(Custom(rbf_kernel)).fit(X)
    skew = Custom(lambda A, B: np.exp(-np.square(A[:, :1] - B[:, 0] + 1)), symmetric=False)
    with pytest.raises(NoMeasureError, match=r"only needs kernel values\.$"):
        krein.RandomFourier(skew).fit(X)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_columns_in_different_units_are_shifted_by_their_own_size(container):
    units = np.array([1e-6, 1.0, 1e6, 1.0])

    def bells(rows, others):
        rows, others = (sparse.csr_matrix(each).toarray() / units for each in (rows, others))
        return laplacian_kernel(rows, others, gamma=1)

    X_units = container(X * units)
    assert Custom(bells).is_stationary(X_units)
    assert not Custom(lambda A, B: bells(A, B) * A[:, :1]).is_stationary(X_units)
