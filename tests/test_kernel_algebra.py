"""Kernels of vectors: sums, products, transposes and parts, and their parameters."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from kernel_twins import TWINS, VECTOR, G, L, S, name, rows
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from krein import RandomFourier
from krein.kernels import (
    TL1,
    Cauchy,
    CoshGaussian,
    DeltaGaussian,
    Gaussian,
    GeodesicGaussian,
    Laplacian,
    Matern,
    ShiftGaussian,
    SinhGaussian,
)
from krein.testing import check_kernel

# --- algebra ----------------------------------------------------------------------------------


def values(X, Y):
    return G(X, Y), L(X, Y), S(X, Y)


ALGEBRA = [
    ("G + L", lambda: G + L, lambda g, w, s: g + w),
    ("G - L", lambda: G - L, lambda g, w, s: g - w),
    ("G * L", lambda: G * L, lambda g, w, s: g * w),
    ("G + 2", lambda: G + 2, lambda g, w, s: g + 2),
    ("2 + G", lambda: 2 + G, lambda g, w, s: g + 2),
    ("G - 2", lambda: G - 2, lambda g, w, s: g - 2),
    ("2 - G", lambda: 2 - G, lambda g, w, s: 2 - g),
    ("G * 3", lambda: G * 3, lambda g, w, s: 3 * g),
    ("3 * G", lambda: 3 * G, lambda g, w, s: 3 * g),
    ("G / 4", lambda: G / 4, lambda g, w, s: g / 4),
    ("-G", lambda: -G, lambda g, w, s: -g),
    ("numpy number * G", lambda: np.float64(0.5) * G, lambda g, w, s: g / 2),
    ("G * numpy number", lambda: G * np.int64(2), lambda g, w, s: 2 * g),
    ("numpy number - G", lambda: np.float32(1) - G, lambda g, w, s: 1 - g),
    ("sum", lambda: sum([G, L, S]), lambda g, w, s: g + w + s),
    ("S + G", lambda: S + G, lambda g, w, s: s + g),
    ("S * G - 1", lambda: S * G - 1, lambda g, w, s: s * g - 1),
    ("mixture", lambda: 2 * (G - L) * S / 3 + 1, lambda g, w, s: 2 * (g - w) * s / 3 + 1),
]


@pytest.mark.parametrize(
    ("make", "expected"), [a[1:] for a in ALGEBRA], ids=[a[0] for a in ALGEBRA]
)
def test_arithmetic_acts_on_the_values(make, expected):
    kernel = make()
    X, Y = rows("any", 4, 1), rows("any", 3, 2)

    def twin(x, y):
        return expected(*(v[0, 0] for v in values(x[None], y[None])))

    check_kernel(kernel, twin, X, Y)
    assert_allclose(kernel(X, Y), expected(*values(X, Y)), rtol=1e-13)


@pytest.mark.parametrize("other", ["one", None, 1j, np.ones(3), Gaussian], ids=repr)
@pytest.mark.parametrize("sign", ["+", "-", "*"])
def test_arithmetic_with_anything_else_is_a_type_error(other, sign):
    operation = {
        "+": lambda: Gaussian() + other,
        "-": lambda: Gaussian() - other,
        "*": lambda: Gaussian() * other,
    }[sign]
    with pytest.raises(TypeError):
        operation()


def test_only_numbers_divide_kernels():
    with pytest.raises(TypeError):
        G / L
    with pytest.raises(TypeError):
        1 / G


@pytest.mark.parametrize("kernel", [S, SinhGaussian(1.0, VECTOR), S * G - 2 * S.T], ids=name)
def test_transpose_and_the_two_parts_are_those_of_the_matrix(kernel):
    X, Y = rows("any", 7, 1), rows("any", 5, 2)
    forth, back = kernel(X, Y), kernel(Y, X).T
    assert_allclose(kernel.T(X, Y), back, rtol=1e-13)
    assert_allclose(kernel.T(X), kernel(X).T, rtol=1e-13)
    assert kernel == kernel.T.T
    assert_allclose(kernel.symmetric_part(X, Y), (forth + back) / 2, rtol=1e-12)
    assert_allclose(kernel.skew_part(X, Y), (forth - back) / 2, rtol=1e-9, atol=1e-14)
    skew = kernel.skew_part(X)
    assert_allclose(skew, -skew.T, atol=1e-15)
    assert not kernel.skew_part.is_symmetric


@pytest.mark.parametrize("kernel", [S, CoshGaussian(1.0, VECTOR)], ids=name)
def test_the_symmetric_part_of_an_asymmetric_kernel_says_that_it_is_symmetric(kernel):
    X = rows("any", 7, 1)
    K = kernel.symmetric_part(X)
    assert_allclose(K, K.T, rtol=1e-13)
    assert kernel.symmetric_part.is_symmetric


def test_a_symmetric_kernel_is_its_own_transpose_and_has_no_skew_part():
    X, Y = rows("any", 7, 1), rows("any", 5, 2)
    kernel = DeltaGaussian() * 2 + TL1(1.0)
    assert kernel.T is kernel
    assert kernel.symmetric_part is kernel
    assert_array_equal(kernel.skew_part(X, Y), np.zeros((7, 5)))


def test_the_parts_of_the_sinh_gaussian_are_the_gaussian_and_its_odd_half():
    X, Y = rows("any", 7, 1), rows("any", 5, 2)
    kernel = SinhGaussian(1.2, VECTOR)
    gauss, odd = Gaussian(1.2)(X, Y), np.sinh(np.subtract.outer(X @ VECTOR, Y @ VECTOR))
    assert_allclose(kernel.symmetric_part(X, Y), gauss, rtol=1e-9)
    assert_allclose(kernel.skew_part(X, Y), gauss * odd, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("join", [lambda a, b: a + b, lambda a, b: a * b], ids=["sum", "product"])
@pytest.mark.parametrize("flip", [False, True], ids=["sphere first", "sphere second"])
def test_a_compound_checks_the_data_for_both_of_its_kernels(join, flip):
    pair = (GeodesicGaussian(), Gaussian())
    kernel = join(*(pair[::-1] if flip else pair))
    with pytest.raises(ValueError, match="GeodesicGaussian needs rows of norm 1"):
        kernel([[3.0, 4.0], [1.0, 0.0]])


# --- parameters -------------------------------------------------------------------------------


def test_nested_parameters_are_set_by_path():
    kernel = (Gaussian(1.0) + Laplacian(2.0)).set_params(left__sigma=3.0)
    assert kernel == Gaussian(3.0) + Laplacian(2.0)
    assert kernel.get_params()["right__sigma"] == 2.0
    X = rows("any", 5, 1)
    assert_allclose(kernel(X), Gaussian(3.0)(X) + Laplacian(2.0)(X))
    scaled = clone(2 * S.T).set_params(factor=0.5, kernel__kernel__sigma=3.0)
    assert_allclose(scaled(X), ShiftGaussian(3.0, VECTOR)(X).T / 2)


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (Gaussian(), "Gaussian()"),
        (Gaussian(2.0), "Gaussian(sigma=2.0)"),
        (Gaussian(1.0) + Laplacian(2.0), "Sum(left=Gaussian(), right=Laplacian(sigma=2.0))"),
        (-Gaussian(), "Scaled(factor=-1.0, kernel=Gaussian())"),
        (ShiftGaussian().T, "Transposed(kernel=ShiftGaussian())"),
    ],
    ids=str,
)
def test_repr_is_the_expression_that_makes_the_kernel(kernel, text):
    assert " ".join(repr(kernel).split()) == text


@pytest.mark.parametrize("kernel", [*(case[0] for case in TWINS), 2 * S.T + G * L], ids=name)
def test_clones_and_pickles_are_equal_but_not_the_same(kernel):
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy == kernel
        assert copy is not kernel


def test_kernels_differ_by_type_and_by_parameters():
    distinct = [
        Gaussian(),
        Gaussian(2.0),
        Laplacian(),
        Matern(1.0, 0.5),
        Cauchy(),
        ShiftGaussian(1.0, 0.1),
        ShiftGaussian(1.0, [0.1, 0.2]),
        CoshGaussian(1.0, 0.1),
        SinhGaussian(1.0, 0.1),
        G + L,
        L + G,
        G * L,
        G * 2,
        -G,
        "Gaussian()",
    ]
    for i, left in enumerate(distinct):
        for j, right in enumerate(distinct):
            assert (left == right) == (i == j)
            assert (left != right) == (i != j)


@pytest.mark.parametrize(
    ("kernel", "path"),
    [
        (Gaussian(), "randomfourier__kernel__sigma"),
        (0.5 * Gaussian() + Laplacian(), "randomfourier__kernel__left__kernel__sigma"),
    ],
    ids=["plain", "nested"],
)
@pytest.mark.filterwarnings("ignore:.*is nearly:UserWarning")  # at the ends of the grid
def test_grid_search_reaches_the_parameters_of_the_kernel(kernel, path, rng):
    X = rng.uniform(-1, 1, (160, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    before = clone(kernel)
    pipeline = make_pipeline(RandomFourier(kernel, 64, random_state=0), RidgeClassifier())
    search = GridSearchCV(pipeline, {path: [1e-3, 0.7, 1e3]}, cv=3).fit(X, y)
    fitted = search.best_estimator_.named_steps["randomfourier"].kernel
    prefix = "randomfourier__kernel__"
    assert fitted.get_params()[path.removeprefix(prefix)] == search.best_params_[path]
    assert kernel == before
    if kernel == Gaussian():  # the three bandwidths memorise, learn and cannot see the exclusive or
        assert search.best_params_[path] == 0.7
        assert search.best_score_ > 0.85
