"""Diagnoses and errors against brute force."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import krein
from krein import Diagnosis, RandomFourier, RandomGegenbauer, approximation_error, diagnose
from krein._hashing import as_generator
from krein.comparison.compare import N_SEEDS
from krein.comparison.sample import Sample
from krein.kernels import (
    TL1,
    ArcCosine,
    CoshGaussian,
    Custom,
    DeltaGaussian,
    Gaussian,
    GaussianCombination,
    Hellinger,
    Laplacian,
    NeuralTangent,
    Pairwise,
    Precomputed,
    ShiftGaussian,
    SinhGaussian,
)

X = np.random.default_rng(0).random((60, 3))
WORDS = ["krein", "kernel", "keen", "tree", "three", "tea", "ten", "net", "kettle", "rein"] * 3


def _common(x, y):
    """Letters in common, less a tenth of those that are not: indefinite in general."""
    return len(set(x) & set(y)) - 0.4 * len(set(x) ^ set(y))


KERNELS = [
    Gaussian(sigma=0.5),
    Laplacian(),
    DeltaGaussian(),
    GaussianCombination((1.0, -2.0), (1.0, 0.2)),
    TL1(rho=2.0),
    ShiftGaussian(shift=0.4),
    SinhGaussian(beta=1.0),
    CoshGaussian(beta=1.0),
]


def _diagnose(kernel, data=X, **options):
    return diagnose(kernel, data, random_state=0, **{"n_components": 32, **options})


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_numbers_against_brute_force(kernel):
    diagnosis = _diagnose(kernel)
    K = kernel(X)
    n = len(K)
    skew = 0.0
    for i in range(n):
        for j in range(n):
            skew += ((K[i, j] - K[j, i]) / 2) ** 2
    assert_allclose(diagnosis.asymmetry, np.sqrt(skew / np.sum(K**2)), rtol=1e-9, atol=1e-14)
    values = np.sort(np.linalg.eigvals((K + K.T) / 2).real)[::-1]
    assert_allclose(diagnosis.eigenvalues, values, atol=1e-10 * np.abs(values).max())
    assert_allclose(diagnosis.eigenvalues.sum(), np.trace(K), atol=1e-9 * np.abs(values).max())
    negative = np.abs(values[values < 0]).sum() / np.abs(values).sum()
    assert_allclose(diagnosis.negative_mass, negative, atol=1e-10)
    assert diagnosis.rank == np.linalg.matrix_rank(K, rtol=1e-8)
    singular = np.sqrt(np.linalg.eigvalsh(K.T @ K)[::-1].clip(0))
    best = np.linalg.norm(singular[32:]) / np.linalg.norm(K)
    assert_allclose(diagnosis.low_rank_error, best, rtol=1e-4, atol=1e-6)
    assert (diagnosis.n_rows, diagnosis.n_components) == (60, 32)


@pytest.mark.parametrize("kernel", [Gaussian(sigma=0.5), Laplacian()], ids=repr)
def test_positive_definite_kernels_are_proved_by_their_measure(kernel):
    diagnosis = _diagnose(kernel)
    assert diagnosis.is_positive_definite
    assert diagnosis.negative_mass < 1e-12
    assert diagnosis.asymmetry == 0
    assert "Bochner" in diagnosis.evidence
    assert_allclose(diagnosis.total_mass, 1.0)
    assert "positive definite" in diagnosis.advice


def test_positive_matrix_without_a_proof_says_so():
    diagnosis = _diagnose(Custom(lambda A, B: np.asarray(A) @ np.asarray(B).T))
    assert diagnosis.is_positive_definite
    assert "no proof" in diagnosis.evidence
    assert diagnosis.rank == 3
    assert diagnosis.total_mass is None


def test_indefinite_kernel():
    diagnosis = _diagnose(DeltaGaussian())
    assert not diagnosis.is_positive_definite
    # Zero trace: positive and negative eigenvalues have the same sum.
    assert_allclose(diagnosis.negative_mass, 0.5, atol=1e-9)
    assert diagnosis.asymmetry == 0
    assert f"{diagnosis.eigenvalues[-1]:.3g}" in diagnosis.evidence
    assert_allclose(diagnosis.total_mass, 2.0)
    assert "indefinite" in diagnosis.advice


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not k.is_symmetric], ids=repr)
def test_asymmetric_kernel(kernel):
    diagnosis = _diagnose(kernel)
    assert not diagnosis.is_positive_definite
    assert diagnosis.asymmetry > 0.01
    assert diagnosis.evidence == "not symmetric"
    assert "transform_dual" in diagnosis.advice
    assert list(diagnosis.errors) == ["RandomFourier", "Nystrom"]


def test_a_skew_matrix_has_asymmetry_one():
    K = np.random.default_rng(1).standard_normal((20, 20))
    assert_allclose(_diagnose(Precomputed(symmetric=False), K - K.T).asymmetry, 1.0)


def test_a_skew_kernel_has_the_rank_of_its_matrix():
    kernel = ShiftGaussian(shift=0.2).skew_part
    diagnosis = _diagnose(kernel)
    assert diagnosis.rank == np.linalg.matrix_rank(kernel(X), rtol=1e-8) > 40
    assert not diagnosis.eigenvalues.any()  # of the symmetric part


@pytest.mark.parametrize(
    "kernel",
    [ShiftGaussian() * Gaussian(), Gaussian() * ShiftGaussian().symmetric_part],
    ids=["skew", "symmetric"],
)
def test_a_product_without_a_known_measure_is_diagnosed(kernel):
    diagnosis = _diagnose(kernel)
    assert diagnosis.total_mass is None
    assert list(diagnosis.errors) == ["Nystrom"]


def test_precomputed_matrix():
    K = DeltaGaussian()(X)
    diagnosis = _diagnose(Precomputed(), K)
    assert_allclose(diagnosis.eigenvalues, _diagnose(DeltaGaussian()).eigenvalues, atol=1e-12)
    assert not diagnosis.is_positive_definite
    assert diagnosis.suggested_method == "Nystrom"
    assert diagnosis.total_mass is None
    assert list(diagnosis.errors) == ["Nystrom"]


def test_a_sample_of_a_precomputed_matrix_keeps_rows_and_columns_together():
    K = np.diag(np.arange(1.0, 61.0))
    diagnosis = _diagnose(Precomputed(), K, max_rows=10)
    assert diagnosis.n_rows == 10
    assert len(set(diagnosis.eigenvalues)) == 10  # ten of the sixty, none twice
    assert set(diagnosis.eigenvalues) <= set(np.arange(1.0, 61.0))


@pytest.mark.parametrize(
    "kernel", [Pairwise(_common), Custom(lambda A, B: [[_common(a, b) for b in B] for a in A])]
)
def test_kernel_on_strings(kernel):
    diagnosis = diagnose(kernel, WORDS, n_components=8, random_state=0)
    K = np.array([[_common(x, y) for y in WORDS] for x in WORDS])
    assert_allclose(diagnosis.eigenvalues, np.linalg.eigvalsh(K)[::-1], atol=1e-9)
    assert diagnosis.rank <= 10  # ten words, three times each
    assert diagnosis.suggested_method == "Nystrom"
    assert diagnose(kernel, WORDS, max_rows=10, random_state=0).n_rows == 10


def test_at_most_max_rows_are_examined_and_the_seed_decides_which():
    first, second = (_diagnose(DeltaGaussian(), max_rows=25) for _ in range(2))
    assert first.n_rows == 25
    assert np.array_equal(first.eigenvalues, second.eigenvalues)
    assert first.errors == second.errors
    other = diagnose(DeltaGaussian(), X, n_components=32, max_rows=25, random_state=1)
    assert not np.array_equal(first.eigenvalues, other.eigenvalues)


@pytest.mark.parametrize("make", [sparse.csr_array, np.ndarray.tolist])
def test_sparse_and_list_input(make):
    one, other = _diagnose(DeltaGaussian(), make(X)), _diagnose(DeltaGaussian())
    assert_allclose(one.eigenvalues, other.eigenvalues, atol=1e-10)
    assert_allclose(one.errors["RandomFourier"], other.errors["RandomFourier"], rtol=1e-6)


def test_kernel_that_is_zero():
    diagnosis = _diagnose(0.0 * Gaussian())
    assert (diagnosis.negative_mass, diagnosis.asymmetry, diagnosis.rank) == (0.0, 0.0, 0)


@pytest.mark.usefixtures("solve_each_programme_once")
@pytest.mark.parametrize("kernel", [ArcCosine(0), NeuralTangent(), Hellinger()], ids=repr)
def test_suggestion_is_the_map_with_the_smaller_measured_error(load, kernel):
    """Errors vary between draws: means are compared within six standard errors (p < 1e-4)."""
    rows = np.asarray(load("letter")[0], dtype=float)
    rows = rows[np.random.default_rng(0).choice(len(rows), 250, replace=False)]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    diagnosis = diagnose(kernel, rows, random_state=0)
    assert diagnosis.suggested_method == min(diagnosis.errors, key=diagnosis.errors.get)
    folds = Sample.of(kernel, rows, len(rows), N_SEEDS, as_generator(0)).folds
    means, variances, n = {}, {}, 15
    for cls in (RandomFourier, RandomGegenbauer):
        errors = np.empty(n)
        for seed, fold in zip(range(n), folds * (n // N_SEEDS), strict=True):
            features = cls(kernel, 256, random_state=seed).fit(fold.fitted)
            errors[seed] = approximation_error(features, fold.left)
        means[cls.__name__] = errors.mean()
        variances[cls.__name__] = errors.var(ddof=1)
    assert diagnosis.errors.keys() == {*means, "Nystrom"}
    for name, mean in means.items():
        standard_error = np.sqrt(variances[name] * (1 / n + 1 / N_SEEDS))
        # A map of exact degrees only does not vary: round-off is all that is left.
        assert abs(diagnosis.errors[name] - mean) < 6 * standard_error + 1e-9
    fourier, gegenbauer = means.values()
    if abs(fourier - gegenbauer) > 6 * np.sqrt(sum(variances.values()) / N_SEEDS):
        assert min(means, key=diagnosis.errors.get) == min(means, key=means.get)


def test_table():
    diagnosis = _diagnose(DeltaGaussian())
    lines = str(diagnosis).splitlines()
    assert len(lines) == len(diagnosis.rows())
    starts = {line.index(value) for line, (_, value) in zip(lines, diagnosis.rows(), strict=True)}
    assert len(starts) == 1  # values are aligned
    text = str(diagnosis)
    for part in (
        "DeltaGaussian()",
        "negative mass",
        "asymmetry",
        "numerical rank",
        "total mass",
        "error of RandomFourier, width 32",
        "suggested method",
        "no: eigenvalue",
    ):
        assert part in text
    assert isinstance(diagnosis, Diagnosis)
    assert str(_diagnose(TL1())).count("none") == 1


def test_plot_draws_every_eigenvalue():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    diagnosis = _diagnose(DeltaGaussian())
    ax = diagnosis.plot()
    assert isinstance(ax, matplotlib.axes.Axes)
    drawn = np.concatenate([line.get_ydata() for line in ax.get_lines()])
    values = np.abs(diagnosis.eigenvalues)
    assert_allclose(np.sort(drawn), np.sort(values[values > 1e-16 * values.max()]))
    assert {text.get_text().split()[0] for text in ax.get_legend().get_texts()} == {
        "positive",
        "negative",
    }
    given = plt.figure().add_subplot()
    assert diagnosis.plot(given) is given
    plt.close("all")


WITHOUT = """
import sys
sys.modules["matplotlib"] = None  # importing it now raises ImportError
import numpy as np, krein
from krein.kernels import Gaussian
diagnosis = krein.diagnose(Gaussian(), np.eye(4), n_components=4, random_state=0)
try:
    diagnosis.plot()
except ImportError as error:
    assert "krein[plot]" in str(error), error
else:
    raise AssertionError("no ImportError")
"""


def test_plot_without_matplotlib_names_the_extra():
    source = str(Path(krein.__file__).resolve().parents[1])
    code = f"import sys; sys.path.insert(0, {source!r})" + WITHOUT
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.traits.has_closed_form], ids=repr)
def test_approximation_error_is_the_dense_formula(kernel):
    Y = np.random.default_rng(1).random((25, 3))
    features = RandomFourier(kernel, 32, random_state=0).fit(X)
    for args in ((X,), (X, Y), (Y, X)):
        K, approximate = kernel(*args), features.approximate_kernel(*args)
        expected = np.linalg.norm(approximate - K) / np.linalg.norm(K)
        assert_allclose(approximation_error(features, *args), expected, rtol=1e-9)


def test_approximation_error_in_blocks(monkeypatch):
    from krein import agreement

    features = RandomFourier(DeltaGaussian(), 32, random_state=0).fit(X)
    whole = approximation_error(features, X)
    blocks = agreement.row_blocks
    monkeypatch.setattr(agreement, "row_blocks", lambda n, size: blocks(n, size, 7 * size))
    assert_allclose(approximation_error(features, X), whole, rtol=1e-9)


def test_approximation_error_on_the_sphere_is_that_of_unit_rows():
    kernel = NeuralTangent()
    features = RandomGegenbauer(kernel, 32, random_state=0).fit(X)
    K = kernel(X / np.linalg.norm(X, axis=1, keepdims=True))
    expected = np.linalg.norm(features.approximate_kernel(X) - K) / np.linalg.norm(K)
    assert_allclose(approximation_error(features, X), expected, rtol=1e-9)


@pytest.mark.parametrize("make", [sparse.csr_array, np.ndarray.tolist, np.float32])
def test_approximation_error_of_other_containers(make):
    features = RandomFourier(Gaussian(), 32, random_state=0).fit(X)
    assert_allclose(
        approximation_error(features, make(X)), approximation_error(features, X), rtol=1e-3
    )


@pytest.mark.parametrize(
    ("thing", "instead"),
    [
        ("rbf", "here krein.kernels.Gaussian(sigma=1.0), got 'rbf'."),
        (np.dot, "here krein.kernels.Pairwise(f) if"),
        (Gaussian, "here Gaussian(), got <class"),
        ("auto", "e.g. krein.kernels.Gaussian(), or 'precomputed' for a matrix of values, got"),
        (None, "e.g. krein.kernels.Gaussian(), or 'precomputed' for a matrix of values, got None"),
        (3, "e.g. krein.kernels.Gaussian(), or 'precomputed' for a matrix of values, got 3"),
    ],
)
def test_only_kernels_are_diagnosed(thing, instead):
    with pytest.raises(TypeError, match=re.escape(f"diagnose takes a kernel object, {instead}")):
        diagnose(thing, X)


@pytest.mark.parametrize("kernel", [Gaussian(), Pairwise(_common)])
def test_one_row_is_not_enough(kernel):
    with pytest.raises(ValueError, match="at least two rows, got 1"):
        diagnose(kernel, X[:1])


def test_bad_data_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        diagnose(Gaussian(), np.array([[np.nan], [1.0]]))
    with pytest.raises(ValueError, match="not symmetric"):
        diagnose(Precomputed(), np.triu(np.ones((4, 4))))
    with pytest.raises(ValueError, match="square"):
        diagnose(Precomputed(), np.ones((4, 3)))


def test_a_relative_error_needs_a_kernel_that_is_not_zero():
    features = RandomFourier(DeltaGaussian(), 16, random_state=0).fit(X)
    with pytest.raises(ValueError, match="zero on these rows"):
        approximation_error(features, np.zeros((3, 3)))


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_matrix_of_values_needs_no_kernel_object(symmetric):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    K = (Gaussian() if symmetric else ShiftGaussian())(rows)
    found = krein.diagnose("precomputed", K, random_state=0)
    expected = krein.diagnose(Precomputed(symmetric=symmetric), K, random_state=0)
    assert found.suggested_method == "Nystrom"
    assert str(found) == str(expected)
    compared = krein.compare("precomputed", K, widths=8, random_state=0)
    assert {row.method for row in compared.rows} == {"Nystrom"}


def test_a_matrix_of_values_is_square():
    with pytest.raises(ValueError, match="square"):
        krein.diagnose("precomputed", np.ones((3, 2)))


@pytest.mark.parametrize(
    "sizes", [{"n_components": "16"}, {"n_components": 16.0}, {"max_rows": "all"}]
)
def test_sizes_of_a_diagnosis_are_whole_numbers(sizes):
    [(name, value)] = sizes.items()
    with pytest.raises(ValueError, match=f"needs {name} to be a whole number ≥ 2, got {value!r}"):
        diagnose(Gaussian(), X, **sizes)


def test_too_few_distinct_rows_are_named():
    found = diagnose(Gaussian(), np.repeat(X[:5], 4, axis=0), n_components=2)
    assert "needs at least 6 distinct rows, got 5" in found.advice
    assert str(found.negative_mass)[0] != "-"
    assert str(diagnose(Gaussian(), X[:5], n_components=2).negative_mass) == "0.0"
