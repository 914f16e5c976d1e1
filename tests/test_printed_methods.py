"""The papers' printed methods, each reached by one argument."""

from __future__ import annotations

import numpy as np
import pytest
from feature_data import COMPLEX, _rows, _unit
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded

import krein
from krein import RandomFourier
from krein.kernels import (
    CoshGaussian,
    DeltaGaussian,
    Gaussian,
    Multiquadric,
    ShiftGaussian,
    SinhGaussian,
    SphericalPolynomial,
)
from krein.measures import (
    InfiniteMassError,
    TabulatedRadial,
)
from krein.published import ConcatenatedFourier
from krein.testing import check_feature_map

# --- extension by zero ---------------------------------------------------------------------------

PRINTED = {"extension": "zero", "jacobian": False, "allocation": "equal"}
UNIT = _unit(_rows(60, 8))


@pytest.fixture
def no_spectral_values(monkeypatch):
    """Fail if the kernel of a tabulated measure is evaluated, which takes seconds."""

    def refuse(self, differences):
        raise AssertionError("the kernel of the printed measure was evaluated")

    monkeypatch.setattr(TabulatedRadial, "characteristic", refuse)


@pytest.mark.parametrize("sampler", ["rejection", "iid", "orthogonal"])
def test_the_error_of_the_printed_map_is_measured_against_the_true_kernel(
    sampler, no_spectral_values
):
    kernel = SphericalPolynomial()
    features = RandomFourier(kernel, 64, sampler=sampler, random_state=0, **PRINTED).fit(UNIT)
    assert features.kernel_ == kernel
    K = kernel(UNIT)
    truth = np.linalg.norm(features.approximate_kernel(UNIT) - K) / np.linalg.norm(K)
    assert krein.approximation_error(features, UNIT) == pytest.approx(truth, rel=1e-9)
    assert truth > 0.1  # without the Jacobian the features converge to another kernel


def test_the_argument_draws_what_the_measure_draws():
    kernel = SphericalPolynomial()
    measure = kernel.measure(8, extension="zero", jacobian=False)
    mine = RandomFourier(kernel, 32, random_state=0, **PRINTED).fit(UNIT)
    # The tables of the measure come from products whose rounding depends on the layout.
    assert mine.measure_.total_mass == pytest.approx(measure.total_mass, rel=1e-12)
    atoms = measure.atoms(16, rng=np.random.default_rng(0), allocation="equal")
    assert_rounded(mine.frequencies_, atoms.frequencies, 1e-9)
    assert_rounded(mine.weights_, atoms.weights)


def test_the_printed_map_converges_to_another_kernel_and_the_jacobian_repairs_it():
    X, kernel = _unit(_rows(60, 3)), SphericalPolynomial()
    errors = {}
    for jacobian in (True, False):
        features = RandomFourier(kernel, 4000, extension="zero", jacobian=jacobian, random_state=0)
        errors[jacobian] = krein.approximation_error(features.fit(X), X)
    assert errors[True] < 0.05 < errors[False]


def test_the_weights_of_the_printed_map_add_up_to_the_kernel_at_zero():
    features = RandomFourier(SphericalPolynomial(), 32, random_state=0, **PRINTED).fit(UNIT)
    assert features.weights_.sum() == pytest.approx(1.0, rel=1e-9)
    assert features.masses_[0] - features.masses_[1] == pytest.approx(1.0, rel=1e-9)


def test_the_kernel_is_extended_beyond_the_sphere_or_beyond_the_data():
    fit = RandomFourier(SphericalPolynomial(), 8, random_state=0, **PRINTED).fit
    assert fit(UNIT).measure_.diameter == 2
    box = _rows(60, 3)
    farthest = np.linalg.norm(box[:, None] - box[None], axis=2).max()
    assert farthest <= fit(box).measure_.diameter <= 1.06 * farthest
    given = RandomFourier(Multiquadric(), 8, diameter=1.5, random_state=0, **PRINTED).fit(box)
    assert given.measure_.diameter == 1.5


def test_an_infinite_mass_is_refused_and_the_cure_named():
    features = RandomFourier(SphericalPolynomial(), 8, extension="zero")
    with pytest.raises(InfiniteMassError, match=r"infinite mass .*='domain', or jacobian"):
        features.fit(UNIT)


def test_a_closed_form_needs_no_extension():
    default = RandomFourier(DeltaGaussian(), 32, allocation="equal", random_state=0).fit(UNIT)
    printed = RandomFourier(DeltaGaussian(), 32, random_state=0, **PRINTED).fit(UNIT)
    assert_array_equal(printed.frequencies_, default.frequencies_)


def test_jacobian_without_the_extension_by_zero_is_refused():
    with pytest.raises(ValueError, match=r"jacobian=False belongs to .* use extension='zero'"):
        RandomFourier(SphericalPolynomial(), jacobian=False).fit(UNIT)


# --- masses on a subset --------------------------------------------------------------------------

BOX = _rows(80, 4, 3)
ALGORITHM_2 = {"decomposition": "jordan", "masses": "subset", "sampler": "iid"}
ALGORITHM_2["allocation"] = "equal"


def algorithm_2(kernel, width=96, seed=0, **options):
    return RandomFourier(kernel, width, random_state=seed, **{**ALGORITHM_2, **options}).fit(BOX)


def paper_maps(frequencies, X):
    """φ and ψ of eq. 8."""
    projections = X @ frequencies.T
    scale = 1 / np.sqrt(max(len(frequencies), 1))
    cos, sin = scale * np.cos(projections), scale * np.sin(projections)
    return np.hstack([cos, sin]), np.hstack([-sin, cos])


def dense_masses(features, kernel, X):
    """Eq. 12, corrected, by a solver of quadratic programmes."""
    cvxpy = pytest.importorskip("cvxpy")
    weights, frequencies = features.weights_, features.frequencies_
    groups = [weights.real > 0, weights.real < 0, weights.imag != 0]
    (a, _), (b, _), (c, d) = (paper_maps(frequencies[group], X) for group in groups)
    xi = cvxpy.Variable(3, nonneg=True)
    fitted = xi[0] * (a @ a.T) - xi[1] * (b @ b.T) - 2 * xi[2] * (c @ d.T)
    constraints = [xi[0] - xi[1] == float(kernel.diag(X[:1])[0])]
    constraints += [xi[i] == 0 for i in range(3) if not groups[i].any() and i > 0]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(kernel(X) - fitted)), constraints)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return xi.value


@pytest.mark.parametrize(
    "kernel",
    [
        ShiftGaussian(1.0, 0.8),
        SinhGaussian(1.0, 0.6),
        CoshGaussian(1.0, 0.6),
        DeltaGaussian(1.0, 2.0),
        Gaussian(),
    ],
    ids=repr,
)
def test_subset_masses_solve_the_corrected_problem(kernel):
    # With as many rows as there are, the subset is known.
    features = algorithm_2(kernel, n_mass_rows=len(BOX))
    expected = dense_masses(features, kernel, BOX)
    assert_allclose(features.masses_, expected, atol=1e-5)


def test_a_negative_kernel_swaps_the_roles_of_the_real_parts():
    kernel = CoshGaussian(1.0, 0.6)
    plus, minus = (algorithm_2(k, n_mass_rows=20).masses_ for k in (kernel, -1.0 * kernel))
    assert minus[1] - minus[0] == pytest.approx(1.0, rel=1e-9)
    assert plus[0] - plus[1] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("n_rows", [1, 10, 1000])
@pytest.mark.parametrize("kernel", [*COMPLEX, DeltaGaussian(1.0, 2.0), Gaussian()], ids=repr)
def test_the_weights_add_up_to_the_kernel_at_zero(kernel, n_rows):
    at_zero = float(kernel.diag(BOX[:1])[0])
    for masses in ("exact", "subset"):
        features = algorithm_2(kernel, masses=masses, n_mass_rows=n_rows)
        # The exact masses lack a null part of up to a millionth of the mass.
        slack = 2e-6 * max(1.0, features.total_mass_)
        assert features.weights_.real.sum() == pytest.approx(at_zero, abs=slack)
        assert np.all(features.masses_ >= 0)


@pytest.mark.parametrize("kernel", [ShiftGaussian(1.0, 0.8), CoshGaussian(1.0, 0.6)], ids=repr)
def test_subset_masses_scatter_around_the_exact_ones(kernel):
    exact = algorithm_2(kernel, 12, masses="exact").masses_
    seeds = range(40)
    found = np.array([algorithm_2(kernel, 960, seed, n_mass_rows=20).masses_ for seed in seeds])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(seeds))
    # Two-sided, five standard errors; the estimate of a small mass is cut at zero, hence the slack.
    assert np.all(np.abs(found.mean(axis=0) - exact) < 5 * error + 0.02)
    assert found[:, 2].min() > 0.5 * exact[2]  # with the printed sign it would be zero


def test_the_rows_of_the_masses_are_drawn_by_content():
    order = np.random.default_rng(1).permutation(len(BOX))
    kernel = CoshGaussian(1.0, 0.6)
    one = RandomFourier(kernel, 48, random_state=0, **ALGORITHM_2).fit(BOX)
    other = RandomFourier(kernel, 48, random_state=0, **ALGORITHM_2).fit(BOX[order])
    assert_array_equal(one.frequencies_, other.frequencies_)
    assert_rounded(one.weights_, other.weights_, 1e-10)


def test_masses_need_jordan_parts():
    with pytest.raises(ValueError, match=r"masses='subset' .* use decomposition='jordan', or"):
        RandomFourier(ShiftGaussian(), masses="subset").fit(BOX)


def test_the_share_of_a_null_part_goes_to_the_others():
    weights = algorithm_2(SinhGaussian(1.0, 0.6), 6 * 10).weights_
    assert np.sum(weights.real != 0) == np.sum(weights.imag != 0) == 15
    assert len(algorithm_2(Gaussian(), 60).weights_) == 30


# --- identities and bad input --------------------------------------------------------------------


@pytest.mark.parametrize("kernel", COMPLEX, ids=repr)
def test_swapping_the_arguments_conjugates_the_weights(kernel):
    straight, turned = (RandomFourier(k, 32, random_state=0).fit(BOX) for k in (kernel, kernel.T))
    assert_array_equal(turned.frequencies_, straight.frequencies_)
    assert_rounded(turned.weights_, np.conj(straight.weights_), 1e-12)
    assert_rounded(turned.approximate_kernel(BOX), straight.approximate_kernel(BOX).T, 1e-12)


@pytest.mark.parametrize("options", [{}, ALGORITHM_2], ids=["polar", "printed"])
@pytest.mark.parametrize("make", [SinhGaussian, CoshGaussian])
def test_a_beta_of_the_wrong_length_is_named(make, options):
    with pytest.raises(ValueError, match=r"needs beta to be .* each of the 4 columns .* \[1.0, 2"):
        RandomFourier(make(beta=[1.0, 2.0]), **options).fit(BOX)


@pytest.mark.parametrize("options", [{}, ALGORITHM_2], ids=["polar", "printed"])
@pytest.mark.parametrize("make", [ShiftGaussian, SinhGaussian, CoshGaussian])
@pytest.mark.parametrize("sigma", [0.0, -1.0])
def test_a_bandwidth_that_is_not_positive_is_named(make, sigma, options):
    with pytest.raises(ValueError, match=f"needs sigma to be a finite number above 0 .* {sigma}"):
        RandomFourier(make(sigma=sigma), **options).fit(BOX)


# --- the concatenated map ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [*COMPLEX, DeltaGaussian(), Gaussian()], ids=repr)
def test_contract_of_the_concatenated_map(kernel):
    features = ConcatenatedFourier(kernel, 24, random_state=0).fit(BOX)
    check_feature_map(features, _rows(20, 4, 1), _rows(15, 4, 2))


@pytest.mark.parametrize("masses", ["exact", "subset"])
def test_the_concatenated_map_is_the_papers(masses):
    kernel = CoshGaussian(1.0, 0.9)
    features = ConcatenatedFourier(kernel, 30, masses=masses, random_state=0).fit(BOX)
    weights, frequencies = features.weights_, features.frequencies_
    groups = [weights.real > 0, weights.real < 0, weights.imag != 0]
    assert [group.sum() for group in groups] == [5, 5, 5]
    (a, _), (b, _), (c, d) = (paper_maps(frequencies[group], BOX) for group in groups)
    xi = features.masses_
    blocks = np.hstack([np.sqrt(xi[0]) * a, np.sqrt(xi[1]) * b])
    imaginary = np.sqrt(2 * xi[2]) * np.hstack([c, d])
    assert_allclose(imaginary @ imaginary.T, 4 * xi[2] * c @ c.T, atol=1e-12)
    signs = np.repeat([1.0, -1.0], 10)
    expected = (blocks * signs) @ blocks.T + imaginary @ imaginary.T
    assert_allclose(features.approximate_kernel(BOX), expected, atol=1e-12)
    Z = features.transform(BOX)
    assert Z.shape == (80, 40)
    # The columns of ψ repeat those of φ, so the rank is that of the distinct columns.
    assert np.linalg.matrix_rank(Z) == 30
    assert features.form_.signs.tolist().count(-1.0) == 10


def test_the_concatenated_map_is_not_its_kernel_and_has_no_direction():
    kernel = ShiftGaussian(1.0, 0.8)
    features = ConcatenatedFourier(kernel, 600, random_state=0).fit(BOX)
    assert features.kernel_ == kernel
    gram = features.approximate_kernel(BOX)
    assert_allclose(gram, gram.T, atol=1e-12)
    assert krein.approximation_error(features, BOX) > 0.3


def test_a_learner_takes_the_concatenated_map():
    y = BOX[:, 0] > 0.5
    features = ConcatenatedFourier(ShiftGaussian(), 48, random_state=0)
    assert krein.KreinRidgeClassifier(features=features).fit(BOX, y).score(BOX, y) > 0.9
