"""The bilinear form M: each against its dense matrix, and against the kernel it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from krein.forms import Phase, Signature, fourier_form
from krein.testing import check_form

REAL = np.array([0.5, -0.25, 1.5, -2.0])
COMPLEX = np.array([0.5 + 0.2j, -0.3 - 0.1j, -0.7j, 1.0 + 0j])


@pytest.mark.parametrize(
    "form",
    [
        Signature([1, 1, 1]),
        Signature([1, -1, 1, -1]),
        Signature(-np.ones(2)),
        Phase([0.3, -2.0, 1.0]),
        Phase([0.0, 0.0]),
        Phase([np.pi, 0.0]),
        Phase([np.pi / 2, -np.pi / 2]),
        fourier_form(REAL),
        fourier_form(np.abs(REAL)),
        fourier_form(COMPLEX),
        fourier_form(REAL.astype(complex)),
    ],
    ids=str,
)
def test_form_equals_its_dense_twin(form, rng):
    check_form(form, rng)


def features(X, W, c):
    """``Z = √|c| [cos ω·x, sin ω·x]``, written out."""
    return np.column_stack([np.sqrt(np.abs(c)) * f(X @ W.T) for f in (np.cos, np.sin)])


@pytest.mark.parametrize("weights", [REAL, np.abs(REAL), COMPLEX], ids=["±", "+", "complex"])
def test_form_of_the_weights_gives_the_kernel_of_the_atoms(weights, rng):
    X, Y, W = (rng.standard_normal((n, 3)) for n in (6, 5, len(weights)))
    form = fourier_form(weights)
    Z, V = features(X, W, weights), features(Y, W, weights)
    expected = np.array([[sum((weights * np.exp(1j * W @ (x - y))).real) for y in Y] for x in X])
    assert_allclose(Z @ form.dual(V).T, expected, atol=1e-13)
    assert_allclose(Z @ form.dense() @ V.T, expected, atol=1e-13)
    assert_allclose(V @ form.T.dense() @ Z.T, expected.T, atol=1e-13)


def test_block_of_a_phase_is_the_rotation_of_the_design():
    t = 0.4
    block = [[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]]
    assert_allclose(Phase([t]).dense(), block, atol=1e-15)
    # Column j is joined with column j + N, not with its neighbour.
    two = Phase([t, 0.0]).dense()
    assert_allclose(two[np.ix_([0, 2], [0, 2])], block, atol=1e-15)
    assert_array_equal(two[np.ix_([1, 3], [1, 3])], np.eye(2))


def test_real_weights_take_the_cheaper_form():
    assert isinstance(fourier_form(REAL), Signature)
    assert isinstance(fourier_form(COMPLEX), Phase)
    assert_array_equal(fourier_form(REAL).signs, [1, -1, 1, -1, 1, -1, 1, -1])
    assert_allclose(fourier_form(COMPLEX).angles, np.arctan2(COMPLEX.imag, COMPLEX.real))


def test_weight_zero_counts_as_positive():
    assert fourier_form(np.array([0.0, 1.0])).is_identity


def test_the_sign_is_zero_where_the_symmetric_part_vanishes():
    # A purely imaginary weight, as in the skew part of a kernel.
    form = fourier_form(np.array([1j, -1j, 1.0, -1.0]))
    assert_array_equal(form.signs, [0, 0, 1, -1] * 2)
    assert_array_equal(form.clip(), [False, False, True, False] * 2)


def test_clip_keeps_the_features_of_the_positive_part(rng):
    signs = np.array([1, -1, -1, 1])
    form, Z = Signature(signs), rng.standard_normal((5, 4))
    keep = form.clip()
    assert_array_equal(keep, signs > 0)
    gram = Z[:, keep] @ Z[:, keep].T - Z[:, ~keep] @ Z[:, ~keep].T
    assert_allclose(Z @ form.dual(Z).T, gram, atol=1e-14)
    assert_allclose(Z @ form.flip().dual(Z).T, Z @ Z.T, atol=1e-14)


@pytest.mark.parametrize("form", [Signature([1, -1]), Phase([0.5])], ids=str)
def test_dual_leaves_its_argument_alone(form, rng):
    Z = rng.standard_normal((3, 2))
    before = Z.copy()
    form.dual(Z)
    assert_array_equal(Z, before)


def test_forms_print_what_they_are():
    assert repr(Signature([1, -1, -1])) == "Signature(1+, 2-)"
    assert repr(Phase([0.1, 0.2])) == "Phase(2 rotations)"


@pytest.mark.parametrize(
    "signs", [[1, 0], [1, 2], [1.0, np.nan], [[1, -1]], 1, [0.5, -0.5]], ids=repr
)
def test_signature_refuses_anything_but_a_vector_of_signs(signs):
    with pytest.raises(ValueError, match=r"Signature needs signs to be a vector of \+1 and -1"):
        Signature(signs)


@pytest.mark.parametrize("angles", [[[0.1, 0.2]], 0.1], ids=repr)
def test_phase_refuses_anything_but_a_vector(angles):
    with pytest.raises(ValueError, match="Phase needs angles to be a vector of finite numbers"):
        Phase(angles)


@pytest.mark.parametrize("angle", [np.nan, np.inf])
def test_phase_refuses_angles_that_are_not_finite(angle):
    with pytest.raises(ValueError, match=r"Phase.*finite"):
        Phase([0.1, angle])


@pytest.mark.parametrize(
    "form", [Signature([1, -1, 1, -1]), Signature([1, 1, 1, 1]), Phase([0.3, -2.0])], ids=repr
)
def test_a_dual_in_place_is_the_dual(form, rng):
    Z = rng.normal(size=(7, 4))
    before = Z.copy()
    expected = form.dual(Z)
    assert_array_equal(Z, before)
    assert form.dual(Z, out=Z) is Z
    assert_allclose(Z, expected, rtol=1e-15)
