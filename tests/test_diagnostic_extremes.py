"""Diagnoses and comparisons of kernels with huge or tiny values, on few rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import krein
from krein.kernels import TL1, ArcCosine, Custom, Gaussian, Polynomial

X = np.random.default_rng(0).random((90, 5))


def _one_way(A, B):
    return np.exp(-np.maximum(A[:, None] - B[None], 0).sum(axis=-1))


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_errors_do_not_depend_on_the_unit_of_the_kernel(factor):
    methods = ["RandomFourier", "Nystrom"]
    plain, scaled = (
        krein.compare(kernel, X, methods, widths=8, random_state=0)
        for kernel in (Gaussian(), factor * Gaussian())
    )
    for one, other in zip(plain.rows, scaled.rows, strict=True):
        assert_allclose(other.errors, one.errors, rtol=1e-6)
    diagnoses = [
        krein.diagnose(kernel, X, n_components=8, random_state=0)
        for kernel in (Gaussian(), factor * Gaussian())
    ]
    assert_allclose(diagnoses[1].low_rank_error, diagnoses[0].low_rank_error, rtol=1e-6)
    assert diagnoses[1].suggested_method == diagnoses[0].suggested_method
    features = krein.Nystrom(factor * Gaussian(), 8, random_state=0).fit(X)
    same = krein.Nystrom(Gaussian(), 8, random_state=0).fit(X)
    errors = [krein.approximation_error(found, X) for found in (features, same)]
    assert_allclose(*errors, rtol=1e-6)


def test_few_rows_do_not_all_become_landmarks_of_an_indefinite_kernel():
    kernel = TL1(rho=2.0)
    diagnosis = krein.diagnose(kernel, X, random_state=0)
    compared = krein.compare(kernel, X, "Nystrom", widths=[30, 60], random_state=0)
    half, whole = compared.rows
    assert whole.error > 2 * half.error
    assert diagnosis.widths == {"Nystrom": 30}
    assert_allclose(diagnosis.errors["Nystrom"], half.error)


def test_an_error_above_that_of_zeros_is_said():
    advice = krein.compare(Gaussian(0.1), X, "RandomFourier", 4, random_state=0).advice
    assert "A matrix of zeros has the error 1" in advice


def test_an_error_that_is_nearly_that_of_zeros_is_said():
    diagnosis = krein.diagnose(Gaussian(0.1), X, n_components=4, random_state=0)
    assert 0.9 < min(diagnosis.errors.values()) < 1
    assert "A matrix of zeros has the error 1" in diagnosis.advice


def test_a_zero_kernel_and_the_name_of_a_function_are_said():
    diagnosis = krein.diagnose(0 * Gaussian(), X, random_state=0)
    assert "The kernel is zero on these rows" in diagnosis.advice
    assert krein.diagnose(Custom(_one_way), X, random_state=0).kernel == "Custom(_one_way)"


def test_a_false_declaration_is_the_advice():
    assert "declare symmetric=False" in krein.diagnose(Custom(_one_way), X, random_state=0).advice
    declared = krein.diagnose(Custom(_one_way, symmetric=False), X, random_state=0)
    assert "transform_dual" in declared.advice


def test_one_class_is_named_as_it_was_given():
    with pytest.raises(ValueError, match=r"y is 1\.0 in all rows"):
        krein.compare(Gaussian(), X, "Nystrom", widths=4, y=np.ones(90))


@pytest.mark.parametrize("as_matrix", [False, True], ids=["rows", "matrix"])
@pytest.mark.parametrize("kernel", [Polynomial(2), ArcCosine()], ids=repr)
def test_rounding_errors_of_single_precision_are_no_eigenvalues(rng, kernel, as_matrix):
    rows = rng.standard_normal((60, 1)).astype(np.float32)

    def diagnosed(kernel, rows):
        data = ("precomputed", kernel(rows)) if as_matrix else (kernel, rows)
        return krein.diagnose(*data, n_components=8, random_state=0)

    single, exact = diagnosed(kernel, rows), diagnosed(kernel, rows.astype(float))
    assert single.eigenvalues[-1] < 0  # a rounding error
    assert single.is_positive_definite
    assert exact.is_positive_definite
    assert single.rank == exact.rank < 5
    # Eigenvalues above the rounding errors are seen in both precisions.
    indefinite = kernel - 1e-3 * Gaussian(0.1)
    assert not diagnosed(indefinite, rows).is_positive_definite
