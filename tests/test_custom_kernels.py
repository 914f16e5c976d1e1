"""Kernels given by a function, a matrix, a measure or a number."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from krein._blocks import row_blocks
from krein.kernels import (
    Constant,
    CoshGaussian,
    Custom,
    DeltaGaussian,
    FromMeasure,
    Gaussian,
    Laplacian,
    Matern,
    NoMeasureError,
    Pairwise,
    Polynomial,
    Precomputed,
    ShiftGaussian,
    SinhGaussian,
)
from krein.kernels.errors import kernel_name
from krein.testing import check_kernel

WORDS = ["kernel", "krein", "kern", "form", "norm", "measure"]


def common_letters(a, b):
    """A similarity of words, symmetric and not definite by design."""
    return len(set(a) & set(b)) - 0.5 * abs(len(a) - len(b))


def starts_with(a, b):
    """How many leading letters of b are in a: not symmetric."""
    return next((i for i, letter in enumerate(b) if letter not in a), len(b))


def blocks_of(f):
    def block(X, Y):
        return np.array([[f(x, y) for y in Y] for x in X], dtype=float).reshape(len(X), len(Y))

    return block


def refuse(call, *fragments, error=ValueError):
    """`call` raises one sentence that contains every fragment."""
    with pytest.raises(error) as caught:
        call()
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.fixture
def small_blocks(monkeypatch):
    """Two rows per block."""
    monkeypatch.setattr(
        "krein.kernels.base.row_blocks", lambda n, size, budget: row_blocks(n, size, 2 * size)
    )


# --- functions --------------------------------------------------------------------------------


def test_custom_obeys_the_contract_of_kernels(rng):
    X, Y = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    check_kernel(Custom(rbf_kernel), lambda x, y: np.exp(-sum((x - y) ** 2) / 3), X, Y)


def test_pairwise_equals_a_loop_over_rows(rng):
    X, Y = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    kernel = Pairwise(lambda x, y: float(x[0] * y[1]), symmetric=False)
    assert_array_equal(kernel(X, Y), np.outer(X[:, 0], Y[:, 1]))
    assert_array_equal(kernel.T(X, Y), np.outer(Y[:, 0], X[:, 1]).T)
    assert_array_equal(kernel.diag(X), X[:, 0] * X[:, 1])
    assert kernel(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("wrap", [lambda f: f, blocks_of], ids=["Pairwise", "Custom"])
@pytest.mark.parametrize(
    ("f", "symmetric"), [(common_letters, True), (starts_with, False)], ids=["sym", "asym"]
)
@pytest.mark.parametrize("container", [list, tuple, np.array], ids=["list", "tuple", "array"])
def test_functions_take_objects_in_any_container(wrap, f, symmetric, container, small_blocks):
    kernel = (Pairwise if wrap(f) is f else Custom)(wrap(f), symmetric=symmetric)
    X, Y = container(WORDS), container(WORDS[:4])
    expected = np.array([[f(x, y) for y in WORDS[:4]] for x in WORDS], dtype=float)
    assert_array_equal(kernel(X, Y), expected)
    assert_array_equal(kernel(X)[:, :4], expected)
    assert_array_equal(kernel.diag(X), [f(x, x) for x in WORDS])
    assert kernel.is_symmetric == symmetric
    back = np.array([[f(y, x) for y in WORDS[:4]] for x in WORDS], dtype=float)
    assert_array_equal(kernel.T(X, Y), back)
    assert_array_equal(kernel.symmetric_part(X, Y), (expected + back) / 2)
    assert_array_equal(kernel.skew_part(X, Y), (expected - back) / 2)
    assert_array_equal((2 * kernel + 1)(X, Y), 2 * expected + 1)
    assert_array_equal((1 - kernel * kernel)(X), 1 - kernel(X) ** 2)
    assert clone(kernel) == kernel
    assert kernel != type(kernel)(wrap(f), symmetric=not symmetric)


def test_pairwise_takes_the_rows_of_a_data_frame():
    pandas = pytest.importorskip("pandas")
    values = np.arange(9.0).reshape(3, 3)  # as many rows as columns, whose names are numbers
    kernel = Pairwise(lambda x, y: float(np.dot(x, y)))
    assert_array_equal(kernel(pandas.DataFrame(values)), values @ values.T)


def test_the_sum_of_two_kernels_takes_two_different_containers():
    kernel = Pairwise(common_letters) + 1
    expected = Pairwise(common_letters)(WORDS, WORDS[:2]) + 1
    assert_array_equal(kernel(np.array(WORDS), WORDS[:2]), expected)
    assert_array_equal(kernel(WORDS, np.array(WORDS[:2])), expected)


@pytest.mark.parametrize("flip", [False, True], ids=["function first", "function second"])
def test_a_function_and_a_formula_add_up_on_lists_in_either_order(flip):
    function, formula = Custom(blocks_of(lambda x, y: x[0] * y[0])), Polynomial(1, 1.0, 0.0)
    kernel = formula + function if flip else function + formula
    assert_array_equal(kernel([[1.0, 2.0], [3.0, 4.0]]), [[6.0, 14.0], [14.0, 34.0]])


def test_a_function_has_no_measure():
    for kernel in (Custom(rbf_kernel), Pairwise(common_letters), Custom(rbf_kernel) + Gaussian()):
        refuse(
            lambda kernel=kernel: kernel.measure(3),
            "has no spectral measure",
            "Nyström",
            error=NoMeasureError,
        )


def bad_block(values):
    def returns(X, Y):
        return values

    return returns


@pytest.mark.parametrize(
    ("values", "fragments"),
    [
        (np.ones(3), ("shape (3, 3)", "got (3,)", "one value per pair")),
        (np.ones((3, 2)), ("shape (3, 3)", "got (3, 2)")),
        (1.0, ("shape (3, 3)", "got ()")),
        (np.ones((3, 3), complex), ("real numbers", "complex128")),
        (np.full((3, 3), "a"), ("real numbers", "<U1")),
        (np.full((3, 3), None), ("real numbers", "object")),
    ],
    ids=["vector", "narrow", "number", "complex", "text", "None"],
)
def test_custom_refuses_blocks_that_are_not_kernel_values(values, fragments):
    refuse(lambda: Custom(bad_block(values))([1, 2, 3]), "Custom(returns)", *fragments)


@pytest.mark.parametrize(
    ("value", "fragments"),
    [
        (np.ones(2), ("shape (3, 3)", "got (3, 3, 2)", "one value per pair")),
        (1j, ("real numbers", "complex128")),
        ("a", ("real numbers", "<U1")),
        (None, ("real numbers", "object")),
    ],
    ids=["vector", "complex", "text", "None"],
)
def test_pairwise_refuses_values_that_are_not_real_numbers(value, fragments):
    refuse(lambda: Pairwise(bad_block(value))([1, 2, 3]), "Pairwise(returns)", *fragments)


def test_pairwise_refuses_values_of_different_shapes_in_its_own_words():
    def ragged(x, y):
        return np.ones(x + y)

    refuse(lambda: Pairwise(ragged)([1, 2]), "Pairwise(ragged)")


@pytest.mark.parametrize("make", [Pairwise, lambda f: Custom(blocks_of(f))], ids=["Pair", "Custom"])
@pytest.mark.parametrize("value", [np.nan, np.inf], ids=str)
def test_functions_that_are_not_finite_name_the_pair(make, value):
    kernel = make(lambda x, y: value if (x, y) == ("krein", "form") else 1.0)
    refuse(lambda: kernel(WORDS), f"returned {value}", "object 1 of X and object 3 of Y", "finite")


def test_the_pair_is_named_by_its_place_in_the_data_not_in_the_block(small_blocks):
    kernel = Pairwise(lambda x, y: np.nan if (x, y) == ("norm", "form") else 1.0)
    refuse(lambda: kernel(WORDS), "object 4 of X and object 3 of Y")


def test_the_pair_on_the_diagonal_is_named_by_its_place_in_the_data():
    kernel = Pairwise(lambda x, y: np.nan if x == y == "form" else 1.0)
    refuse(lambda: kernel.diag(WORDS), "Pairwise", "object 3")


@pytest.mark.parametrize(
    "derive",
    [lambda k: 2 * k, lambda k: k + 1, lambda k: 1 + k, lambda k: k * k, lambda k: k.T],
    ids=["scaled", "k + 1", "1 + k", "product", "transposed"],
)
def test_compounds_check_the_values_of_their_functions(derive):
    bad = Pairwise(lambda x, y: np.nan if (x, y) == ("krein", "form") else 1.0, symmetric=False)
    refuse(lambda: derive(bad)(WORDS), "Pairwise", "returned nan", "finite")
    narrow = Custom(lambda X, Y: np.ones((len(X), 1)), symmetric=False)
    refuse(lambda: derive(narrow)(WORDS), "Custom", "must return shape (6, 6)", "got (6, 1)")


@pytest.mark.parametrize("make", [Custom, Pairwise])
def test_functions_refuse_what_is_not_a_function_or_not_a_sequence(make):
    name = make.__name__
    refuse(lambda: make(3)(WORDS), f"{name} needs f to be a function, got 3", error=TypeError)
    refuse(
        lambda: make(common_letters)(iter(WORDS)),
        f"{name} needs a sequence of objects, got list_iterator",
        error=TypeError,
    )


@pytest.mark.parametrize("kernel", [Pairwise(common_letters), Custom(blocks_of(common_letters))])
def test_no_objects_give_an_empty_matrix(kernel):
    assert kernel([], WORDS).shape == (0, 6)
    assert kernel(WORDS, []).shape == (6, 0)
    assert kernel([]).shape == (0, 0)


# --- matrices ---------------------------------------------------------------------------------


def test_precomputed_returns_the_matrix_it_is_called_on(rng):
    A = rng.standard_normal((5, 5))
    K = A + A.T
    assert_array_equal(Precomputed()(K), K)
    assert_array_equal(Precomputed(symmetric=False)(A), A)
    assert_array_equal(Precomputed().diag(K), np.diagonal(K))
    assert_array_equal(Precomputed()(A[:2], K), A[:2])  # rows of new objects
    assert Precomputed()(K.astype(np.float32)).dtype == np.float32
    assert not Precomputed(symmetric=False).is_symmetric
    assert clone(Precomputed(False)) == Precomputed(False) != Precomputed()


def test_precomputed_takes_part_in_arithmetic(rng, small_blocks):
    A = rng.standard_normal((5, 5))
    K = A + A.T
    assert_allclose((2 * Precomputed() - 1)(K), 2 * K - 1, rtol=1e-14)
    assert_allclose((2 * Precomputed())(A[:2], K), 2 * A[:2], rtol=1e-14)


def test_precomputed_transposes_and_splits_in_blocks(rng, small_blocks):
    A = rng.standard_normal((5, 5))
    kernel = Precomputed(symmetric=False)
    assert_array_equal(kernel.T(A), A.T)
    assert_allclose(kernel.symmetric_part(A), (A + A.T) / 2, rtol=1e-14)
    assert_allclose(kernel.skew_part(A), (A - A.T) / 2, rtol=1e-14)


@pytest.mark.parametrize("kernel", [Precomputed(), 2 * Precomputed()], ids=["plain", "scaled"])
def test_precomputed_refuses_a_matrix_that_is_not_square_or_not_symmetric(kernel, rng):
    A = rng.standard_normal((3, 3))
    refuse(lambda: kernel(A), "not symmetric", "(X + X.T) / 2", "Precomputed(symmetric=False)")
    refuse(lambda: kernel(A[:2]), "Precomputed needs a square matrix", "(2, 3)")
    refuse(lambda: kernel([[np.nan]]), "Input X contains NaN")


def test_precomputed_has_no_diagonal_of_a_matrix_that_is_not_square():
    refuse(lambda: Precomputed().diag(np.ones((2, 3))), "square", "(2, 3)")


def test_round_off_is_not_asymmetry(rng):
    A = rng.standard_normal((30, 30))
    K = A @ np.diag(np.arange(30)) @ A.T
    K[3, 5] = np.nextafter(K[5, 3], np.inf)
    assert_array_equal(Precomputed()(K), K)


# --- measures ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.3),
        Laplacian(0.9),
        Matern(1.1, 1.5),
        DeltaGaussian(1.0, 3.0),
        2 * Gaussian() - Laplacian() / 3 + 1,
        ShiftGaussian(1.2, [0.2, -0.4, 0.1]),
        SinhGaussian(1.2, 0.3),
        CoshGaussian(1.2, 0.3),
        ShiftGaussian(1.2, 0.5).T,
    ],
    ids=lambda kernel: " ".join(str(kernel).split()),
)
def test_the_kernel_of_a_kernels_measure_is_the_kernel(kernel, rng):
    X, Y = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    copy = FromMeasure(kernel.measure(3))
    assert_allclose(copy(X, Y), kernel(X, Y), rtol=1e-9, atol=1e-12)
    assert_allclose(copy(X), kernel(X), rtol=1e-9, atol=1e-12)
    assert_allclose(copy.diag(X), kernel.diag(X), rtol=1e-12)
    assert_allclose(copy.T(X, Y), kernel(Y, X).T, rtol=1e-9, atol=1e-12)
    assert copy.is_symmetric == kernel.is_symmetric
    assert copy.measure(3) is copy.spectrum
    single = copy(X.astype(np.float32), Y.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, kernel(X, Y), atol=1e-5)


def test_clones_of_a_kernel_with_a_measure_are_equal():
    kernel = FromMeasure(DeltaGaussian().measure(2))
    assert clone(kernel) == kernel
    assert kernel != FromMeasure(Gaussian().measure(2))


def test_from_measure_refuses_rows_of_another_dimension_and_what_is_no_measure():
    kernel = FromMeasure(Gaussian().measure(3))
    refuse(lambda: kernel(np.ones((2, 4))), "FromMeasure", "R^3", "4 columns")
    refuse(lambda: kernel.measure(4), "R^3", "R^4")
    refuse(lambda: FromMeasure(Gaussian())(np.ones((2, 3))), "FromMeasure", error=TypeError)


def test_from_measure_says_how_to_make_sparse_rows_dense():
    X = sparse.csr_array(np.eye(3))
    refuse(lambda: FromMeasure(Gaussian().measure(3))(X), "toarray", error=TypeError)


# --- numbers ----------------------------------------------------------------------------------


def test_a_constant_takes_anything():
    kernel = Constant(-2.0)
    for X in (WORDS, np.ones((6, 2)), sparse.csr_array(np.ones((6, 2)))):
        assert_array_equal(kernel(X), np.full((6, 6), -2.0))
        assert_array_equal(kernel.diag(X), np.full(6, -2.0))
    assert_array_equal(kernel(np.ones((1, 2)), [[1.0, 2.0]]), [[-2.0]])
    assert_array_equal(kernel.measure(2).kernel(np.ones((3, 2))), np.full(3, -2.0))


def test_a_function_in_a_sum_is_named_without_its_address():
    kernel = 2.0 * Custom(lambda X, Y: np.exp(-(X @ Y.T))) + Gaussian()
    expected = "Sum(left=Scaled(factor=2.0, kernel=Custom(f=<lambda>)), right=Gaussian())"
    assert kernel_name(kernel) == expected
    for broken in (kernel, kernel.left.kernel, kernel * Gaussian()):
        with pytest.raises(NoMeasureError, match="has no spectral measure") as error:
            broken.measure(3)
        assert " at 0x" not in str(error.value)
