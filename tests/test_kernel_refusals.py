"""Kernels of vectors: parameters and data that are refused, each with a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_twins import G, L, S, name

from krein.kernels import (
    TL1,
    ArcCosine,
    Cauchy,
    Constant,
    CoshGaussian,
    DeltaGaussian,
    Epanechnikov,
    Gaussian,
    GaussianCombination,
    GeodesicGaussian,
    Hellinger,
    Laplacian,
    Matern,
    Multiquadric,
    Polynomial,
    RectifiedSigmoid,
    ShiftGaussian,
    Sigmoid,
    SinhGaussian,
    SphericalPolynomial,
    ThinPlateSpline,
)


def refuse(call, *fragments, error=ValueError):
    """`call` raises one sentence that contains every fragment."""
    with pytest.raises(error) as caught:
        call()
    for fragment in fragments:
        assert fragment in str(caught.value)


X2 = np.array([[0.6, 0.8], [1.0, 0.0]])


@pytest.mark.parametrize("make", [Sigmoid, Polynomial, RectifiedSigmoid])
def test_a_rate_that_is_no_number_may_be_the_median(make):
    refuse(lambda: make(gamma="med")(X2), "gamma to be a finite number or 'median', got 'med'")


@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan, np.inf, "wide"], ids=repr)
@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (Gaussian, "sigma"),
        (Laplacian, "sigma"),
        (Matern, "sigma"),
        (Matern, "nu"),
        (Cauchy, "sigma"),
        (GeodesicGaussian, "sigma"),
        (DeltaGaussian, "sigma"),
        (DeltaGaussian, "sigma_neg"),
        (Epanechnikov, "sigma"),
        (Epanechnikov, "degree"),
        (TL1, "rho"),
        (Multiquadric, "sigma"),
        (Multiquadric, "c"),
        (ThinPlateSpline, "sigma"),
        (SphericalPolynomial, "a"),
        (ShiftGaussian, "sigma"),
        (SinhGaussian, "sigma"),
        (CoshGaussian, "sigma"),
    ],
)
def test_a_scale_that_is_not_positive_is_refused(make, argument, value):
    also = " or 'median'" if argument == "sigma" else ""
    refuse(
        lambda: make(**{argument: value})(X2),
        f"{make.__name__} needs {argument} to be a finite number above 0{also}, got {value!r}.",
    )


@pytest.mark.parametrize("degree", [2.5, -1, np.nan, np.inf, "two"], ids=repr)
@pytest.mark.parametrize("make", [Polynomial, SphericalPolynomial])
def test_a_degree_that_is_not_a_whole_number_is_refused(make, degree):
    refuse(
        lambda: make(degree=degree)(X2),
        f"{make.__name__} needs degree to be a whole number ≥ 0, got {degree!r}.",
    )


@pytest.mark.parametrize("order", [2, -1, 0.5, "one"], ids=repr)
def test_an_arc_cosine_order_other_than_0_and_1_is_refused(order):
    refuse(lambda: ArcCosine(order)(X2), f"ArcCosine needs order to be one of 0, 1, got {order!r}.")


@pytest.mark.parametrize("argument", ["gamma", "coef0"])
@pytest.mark.parametrize("make", [Sigmoid, RectifiedSigmoid, Polynomial])
@pytest.mark.parametrize("value", [np.nan, "steep"], ids=repr)
def test_a_slope_or_offset_that_is_not_finite_is_refused(make, argument, value):
    refuse(lambda: make(**{argument: value})(X2), make.__name__, argument, repr(value))


@pytest.mark.parametrize(
    "make", [lambda a: Constant(a), lambda a: a * Gaussian()], ids=["Constant", "Scaled"]
)
def test_a_constant_or_factor_that_is_not_finite_is_refused(make):
    refuse(lambda: make(np.nan)(X2), "nan")


@pytest.mark.parametrize(
    ("make", "argument"),
    [(ShiftGaussian, "shift"), (SinhGaussian, "beta"), (CoshGaussian, "beta")],
)
def test_a_vector_parameter_of_the_wrong_length_is_refused(make, argument):
    sentence = (
        f"{make.__name__} needs {argument} to be a finite number, or one number for each of the "
        "2 columns"
    )
    refuse(lambda: make(1.0, [1.0, 2.0, 3.0])(X2), sentence, "[1.0, 2.0, 3.0]")
    refuse(lambda: make(1.0, [[1.0, 2.0]])(X2), sentence, "[[1.0, 2.0]]")
    refuse(lambda: make(1.0, np.nan)(X2), sentence, "nan")
    refuse(lambda: make(1.0, [0.1, np.inf])(X2), sentence, "inf")


def test_weights_and_sigmas_of_different_lengths_are_refused():
    refuse(
        lambda: GaussianCombination([1.0, -1.0], [1.0])(X2),
        "GaussianCombination needs one finite weight per sigma",
        "got weights=[1.0, -1.0] and sigmas=[1.0]",
    )
    refuse(lambda: GaussianCombination([], [])(X2), "at least one", "got weights=[] and sigmas=[]")
    refuse(lambda: GaussianCombination([1.0], [-1.0])(X2), "sigmas", "above 0, got -1.0")
    refuse(lambda: GaussianCombination([1.0, np.nan], [1.0, 2.0])(X2), "weights", "nan")


@pytest.mark.parametrize("kernel", [Gaussian(), S, G + L], ids=name)
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_nan_and_infinity_in_the_data_are_refused_by_name(kernel, value, word):
    bad = np.array([[1.0, 2.0, value]])
    refuse(lambda: kernel(bad), "Input X", word)
    refuse(lambda: kernel.diag(bad), "Input X", word)
    refuse(lambda: kernel(bad, np.ones((1, 3))), "Input X", word)
    refuse(lambda: kernel(np.ones((1, 3)), bad), "Input Y", word)


@pytest.mark.parametrize("kernel", [Gaussian(), TL1(), Sigmoid(), ShiftGaussian()], ids=name)
def test_rows_of_different_widths_are_refused(kernel):
    refuse(
        lambda: kernel(np.ones((2, 3)), np.ones((2, 4))),
        f"{type(kernel).__name__} compares rows of equal width",
        "X has 3 columns and Y has 4",
    )


def test_rows_off_the_sphere_are_refused_by_the_geodesic_gaussian():
    kernel, off = GeodesicGaussian(), np.array([[1.0, 0.0], [3.0, 4.0]])
    parts = ("GeodesicGaussian", "row 1 has norm 5", "Normalizer")
    for call in (lambda: kernel(off), lambda: kernel(X2, off), lambda: kernel.diag(off)):
        refuse(call, *parts)
    refuse(lambda: kernel(np.zeros((1, 2))), "row 0 has norm 0")
    assert kernel(X2.astype(np.float32)).shape == (2, 2)  # rounded to float32 is still a sphere


def test_negative_products_are_refused_by_the_hellinger_kernel():
    refuse(
        lambda: Hellinger()([[1.0, -2.0]], [[0.0, 0.5]]),
        "Hellinger",
        "the smallest product is -1",
        "columns ≥ 0",
    )


def test_an_unknown_parameter_is_refused():
    refuse(lambda: Gaussian().set_params(gamma=1.0), "Invalid parameter 'gamma'", "Gaussian")
