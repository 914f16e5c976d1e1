"""The papers' printed methods, each reached by one argument, and spectral densities of the user."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from feature_data import COMPLEX, _rows, _unit
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from sklearn.base import clone

import krein
from krein import RandomFourier
from krein.kernels import (
    CoshGaussian,
    DeltaGaussian,
    Gaussian,
    Kernel,
    Multiquadric,
    ShiftGaussian,
    SinhGaussian,
    SphericalPolynomial,
    Traits,
)
from krein.measures import (
    DensityRatio,
    InfiniteMassError,
    Measure,
    Normal,
    Part,
    TabulatedRadial,
)
from krein.published import ConcatenatedFourier
from krein.published.acceptance import accepted
from krein.testing import check_feature_map, check_law, check_measure

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
    assert mine.measure_ == measure
    atoms = measure.atoms(16, rng=np.random.default_rng(0), allocation="equal")
    assert_array_equal(mine.frequencies_, atoms.frequencies)
    assert_array_equal(mine.weights_, atoms.weights)


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
    with pytest.raises(ValueError, match=f"needs sigma to be a finite number above 0, got {sigma}"):
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


# --- a spectral density of the user --------------------------------------------------------------

SHIFT = ShiftGaussian(1.0, 0.7)


def shifted(frequencies):
    """The density ratio of SHIFT to the Gaussian."""
    return np.exp(1j * 0.7 * frequencies.sum(axis=1))


def ring(frequencies):
    """A signed ratio: positive near the origin, negative outside."""
    return 1.5 - np.minimum(np.square(frequencies).sum(axis=1), 3.0)


def own(function=shifted, bound=1.0, dim=4, **options):
    return Measure([Part(Normal(dim, 1.0), 1.0, DensityRatio(function, bound, **options))])


@pytest.mark.parametrize("mass", [1.0, -2.0])
def test_a_density_of_the_user_has_the_kernel_and_masses_of_its_closed_form(mass):
    differences = _rows(30, 4) - _rows(30, 4, 1)
    mine, exact = mass * own(), mass * SHIFT.measure(4)
    assert_allclose(mine.kernel(differences), exact.kernel(differences), atol=3e-3 * abs(mass))
    assert mine.total_mass == pytest.approx(exact.total_mass, rel=1e-9)
    parts, known = mine.jordan().parts, exact.jordan().parts
    assert len(parts) == len(known) == 3
    assert_allclose([p.mass for p in parts], [p.mass for p in known], atol=3e-3 * abs(mass))
    for part, twin in zip(parts, known, strict=True):
        waves = [p.law.characteristic(differences) for p in (part, twin)]
        assert_allclose(*waves, atol=0.01)


@pytest.mark.parametrize("measure", [own(), own(ring, 1.5, is_real=True)], ids=["complex", "real"])
def test_jordan_parts_of_a_density_are_laws(measure):
    for part in measure.jordan().parts:
        check_law(part.law, np.random.default_rng(0))
        assert abs(part.mass) == pytest.approx(
            part.law.acceptance * part.law.bound * (2 if np.imag(part.mass) else 1), rel=1e-9
        )


def test_the_algebra_of_a_density_of_the_user():
    differences = _rows(20, 4) - 0.5
    for measure in (own(), own(ring, 1.5, is_real=True)):
        turned = measure.conj().kernel(differences)
        assert_allclose(turned, measure.kernel(-differences), atol=4e-3)
        halves = measure.even(1).kernel(differences) + measure.even(-1).kernel(differences)
        assert_allclose(halves, measure.kernel(differences), atol=1e-9)
        assert measure.even(1).is_real
    assert own(ring, 1.5, is_real=True).even(-1).total_mass == 0


@pytest.mark.parametrize("decomposition", ["polar", "jordan"])
@pytest.mark.parametrize("measure", [own(), own(ring, 1.5, is_real=True)], ids=["complex", "real"])
def test_features_of_a_density_of_the_user(measure, decomposition):
    options = {"decomposition": decomposition, "random_state": 0}
    features = RandomFourier(measure=measure, n_components=2000, **options).fit(BOX)
    check_feature_map(features, BOX[:20], BOX[20:35])
    assert krein.approximation_error(features, BOX[:30]) < 0.1
    rates = features.acceptance_rates_
    n_parts = 1 if decomposition == "polar" else 2 if measure.is_real else 3
    assert len(rates) == n_parts
    assert np.all(rates == 1) if decomposition == "polar" else np.all((rates > 0) & (rates < 1))
    assert_array_equal(pickle.loads(pickle.dumps(features)).transform(BOX), features.transform(BOX))
    again = clone(features).fit(BOX)
    assert_array_equal(again.weights_, features.weights_)


@pytest.mark.parametrize("sampler", ["iid", "orthogonal", "qmc", "leverage"])
def test_rejection_is_unbiased_with_every_sampler(sampler):
    measure, seeds = own(ring, 1.5, dim=2, is_real=True), range(60)
    differences = np.array([[0.5, 0.0], [1.0, -1.0]])
    estimates = np.array(
        [
            measure.atoms(20, sampler, seed, decomposition="jordan", X=_rows(20, 2))(differences)
            for seed in seeds
        ]
    )
    error = estimates.std(axis=0, ddof=1) / np.sqrt(len(seeds))
    gap = np.abs(estimates.mean(axis=0) - measure.kernel(differences))
    assert np.all(gap < 5 * error + 3e-3)


class Ring(Kernel):
    """A kernel with a formula and the spectral density `ring`, cut nowhere."""

    traits = Traits(has_closed_form=True)

    def _block(self, X, Y):
        return self._closed_form(X.shape[1]).kernel(X[:, None] - Y[None])

    def _closed_form(self, dim):
        return own(ring, 1.5, dim, is_real=True)


def test_a_kernel_may_be_defined_by_its_density():
    X = _rows(20, 2)
    check_measure(Ring().measure(2), Ring(), X)
    features = RandomFourier(Ring(), 200, decomposition="jordan", masses="subset", random_state=0)
    assert krein.approximation_error(features.fit(X), X) < 0.2


def test_a_rate_that_is_too_low_is_refused():
    with pytest.raises(ValueError, match=r"accepts .* of its proposals.*decomposition='polar'"):
        RandomFourier(measure=own(bound=1e4), decomposition="jordan").fit(BOX)
    # The polar form rejects nothing.
    assert RandomFourier(measure=own(bound=1e4), random_state=0).fit(BOX).acceptance_rates_ == [1]


def test_the_number_of_proposals_is_capped():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"found 0 of 3 frequencies in [0-9]+ proposals: use"):
        accepted(lambda n: np.zeros((n, 1)), lambda w: np.zeros(len(w)), 3, 0.5, rng)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda w: 2 * shifted(w), r"bound=1, but \|h\(ω\)\| = 2 .* pass a larger bound"),
        (lambda w: np.ones((len(w), 2)), r"one finite number for each of .* shape \(.*, 2\)"),
        (lambda w: np.full(len(w), np.nan), "one finite number .* values that are not finite"),
        (lambda w: np.exp(1j * w[:, 0] ** 2), r"h\(−ω\) to be the conjugate of h\(ω\)"),
    ],
    ids=["bound", "shape", "nan", "conjugate"],
)
def test_a_bad_density_gets_a_sentence(function, match):
    with pytest.raises(ValueError, match=match):
        own(function).jordan()


def test_a_density_needs_a_function_and_a_bound():
    with pytest.raises(TypeError, match="DensityRatio needs function to be callable, got 3"):
        DensityRatio(3, 1.0)
    with pytest.raises(ValueError, match="DensityRatio needs bound to be a finite number above 0"):
        DensityRatio(shifted, 0.0)
