"""The bounds on the number of frequencies: constants, vacuous cases, and that they bound."""

from __future__ import annotations

import numpy as np
import pytest
from feature_data import CLOSED

from krein.bounds import Bound, beta, complex_frequencies, signed_frequencies
from krein.kernels import (
    Cauchy,
    CoshGaussian,
    DeltaGaussian,
    Gaussian,
    GaussianCombination,
    Laplacian,
    Matern,
    ShiftGaussian,
    SinhGaussian,
    SphericalPolynomial,
)
from krein.measures import DensityRatio, Law, Measure, Normal, Part, TabulatedRadial

BOTH = [signed_frequencies, complex_frequencies]


# --- constants -----------------------------------------------------------------------------------


def test_beta_is_that_of_the_appendix():
    betas = np.array([beta(d) for d in range(1, 2000)])
    assert betas.argmax() + 1 == 64
    assert betas.max() == pytest.approx(66, abs=0.6)
    assert beta(10**7) == pytest.approx(64, rel=1e-4)
    # The sum that the proof balances: κ₁ r^(−d) + κ₂ r² is least at the r of the proof.
    d, kappa, r = 5, (3.0, 7.0), np.geomspace(0.01, 100, 200_001)
    least = np.min(kappa[0] * r**-d + kappa[1] * r**2)
    expected = beta(d) / 2 ** ((6 * d + 2) / (d + 2)) * kappa[0] ** (2 / (d + 2))
    assert least == pytest.approx(expected * kappa[1] ** (d / (d + 2)), rel=1e-6)


def test_the_asymmetric_bound_is_the_propositions():
    kernel, d, diameter, epsilon, delta = CoshGaussian(1.0, 0.4), 3, 1.5, 0.3, 0.1
    parts = kernel.measure(d).jordan().parts
    xi = np.array([parts[0].mass, -parts[1].mass, parts[2].mass.imag / 2]).real
    points = np.random.default_rng(0).standard_normal((100_000, d))
    squares = [np.square(part.law.transport(points)).sum(axis=1).mean() for part in parts]
    mass = xi @ [1, 1, 2]
    alpha = np.sqrt((xi**2 @ [1, 1, 2]) * (np.array(squares) @ [1, 1, 2]))
    bracket = np.log(beta(d) / delta) + 2 * d / (d + 2) * np.log(alpha * diameter / epsilon)
    bound = complex_frequencies(kernel.measure(d), diameter, epsilon, delta)
    expected = 4 * (d + 2) * (mass / epsilon) ** 2 * bracket
    assert bound.n_frequencies == pytest.approx(expected, rel=5e-3)
    assert bound.n_parts == 3
    assert bound.total == 3 * bound.n_frequencies
    assert bound.n_components == 6 * bound.n_frequencies
    assert bound.mass == pytest.approx(mass)


def test_the_signed_bound_is_the_proposition_with_its_masses():
    d, diameter, epsilon, delta = 3, 1.5, 0.3, 0.1
    kernel = GaussianCombination((2.0, -3.0), (1.0, 2.0))
    needed = []
    for mass, sigma in ((2.0, 1.0), (3.0, 2.0)):
        factor = 66 * (2 * mass * np.sqrt(d) / sigma * diameter / epsilon) ** 2
        needed.append(32 * (d + 2) * (mass / epsilon) ** 2 * np.log(2 * factor / delta))
    bound = signed_frequencies(kernel.measure(d), diameter, epsilon, delta)
    assert bound.n_frequencies == pytest.approx(max(needed), abs=1)
    assert bound.n_parts == 2


@pytest.mark.parametrize("bound", BOTH)
def test_a_kernel_in_other_units_needs_as_many(bound):
    measure = DeltaGaussian(1.0, 3.0).measure(2)
    one = bound(measure, 2.0, 0.2)
    assert bound(50.0 * measure, 2.0, 10.0).n_frequencies == one.n_frequencies
    assert bound(50.0 * measure, 2.0, 0.2).n_frequencies > 2000 * one.n_frequencies
    assert bound(measure, 2.0, 0.1).n_frequencies > 4 * one.n_frequencies
    assert bound(measure, 2.0, 0.2, 0.01).n_frequencies > one.n_frequencies


def test_null_parts_do_not_count():
    assert complex_frequencies(SinhGaussian(1.0, 0.5).measure(3), 1.0).n_parts == 2
    assert complex_frequencies(Gaussian().measure(3), 1.0).n_parts == 1
    assert signed_frequencies(Gaussian().measure(3), 1.0).n_parts == 1


# --- mean squares --------------------------------------------------------------------------------

MEASURES = [kernel.measure(dim).jordan() for kernel in CLOSED for dim in (1, 5)]
LAWS = [part.law for measure in MEASURES for part in measure.parts]
LAWS += [TabulatedRadial(3, np.linspace(0, 4, 400), np.linspace(0, 4, 400) ** 2)]
LAWS += [part.law for part in (Gaussian() * Gaussian(2.0)).measure(3).parts]
RATIO = DensityRatio(lambda w: np.exp(1j * np.sin(w[:, 0])), 1.0)
LAWS += [part.law for part in Measure([Part(Normal(2, 1.5), 1.0, RATIO)]).jordan().parts]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{type(law).__name__}-{law.dim}")
def test_mean_squares_of_the_laws(law):
    from krein.samplers import IID

    exact = law.mean_square()
    squares = np.square(law.draw(IID(), 20_000, np.random.default_rng(0))).sum(axis=1)
    if np.isinf(exact):
        # The mean of a law without a mean square is ruled by its largest term.
        assert squares.max() > 0.01 * squares.sum()
        return
    error = squares.std(ddof=1) / np.sqrt(len(squares))
    assert abs(squares.mean() - exact) < 5 * error + 2e-3 * exact


def test_a_law_of_the_user_has_an_estimate():
    class Corners(Law):
        def transport(self, points):
            return 2.0 * np.sign(points)

        def characteristic(self, differences):
            return np.prod(np.cos(2.0 * differences), axis=-1)

    assert Corners(3).mean_square() == pytest.approx(12.0)
    assert signed_frequencies(Measure([Part(Corners(3))]), 1.0).n_parts == 1


# --- that they bound -----------------------------------------------------------------------------


def failures(measure, bound, diameter, n_frequencies, n_draws=100):
    """Share of draws whose error exceeds ε somewhere on a grid of differences of one dimension."""
    grid = np.linspace(-diameter, diameter, 201)[:, None]
    exact = measure.kernel(grid)
    parts = measure.jordan().parts
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(n_draws):
        estimate = np.zeros(len(grid))
        for part in parts:
            frequencies = part.law.transport(rng.standard_normal((n_frequencies, 1)))
            waves = np.exp(1j * grid @ frequencies.T).mean(axis=1)
            estimate += (part.mass * waves).real
        failed += np.abs(estimate - exact).max() > bound.epsilon
    return failed / n_draws


@pytest.mark.parametrize("delta", [0.5, 0.1])
@pytest.mark.parametrize(
    ("find", "kernel"),
    [
        (signed_frequencies, DeltaGaussian(0.3, 1.0)),
        (signed_frequencies, GaussianCombination((1.5, -2.5), (0.3, 1.0))),
        (complex_frequencies, ShiftGaussian(0.5, 0.5)),
        (complex_frequencies, SinhGaussian(0.5, 1.0)),
        (complex_frequencies, CoshGaussian(0.5, 1.5)),
    ],
    ids=lambda thing: getattr(thing, "__name__", repr(thing)),
)
def test_the_bounds_hold(find, kernel, delta):
    measure, diameter = kernel.measure(1), 2.0
    bound = find(measure, diameter, 0.5 * measure.jordan().total_mass, delta)
    assert not bound.vacuous
    assert failures(measure, bound, diameter, int(bound.n_frequencies)) <= delta
    # The check can fail: a few frequencies exceed the same error in most draws.
    few = find(measure, diameter, 0.1 * bound.epsilon, delta)
    assert failures(measure, few, diameter, 8) > delta


def test_without_the_masses_the_signed_bound_fails():
    diameter, epsilon, delta = 2.0, 0.5, 0.1
    kernel = GaussianCombination((150.0, -150.0), (0.3, 1.0))
    sigma = np.sqrt(1 / 0.3**2 + 1)
    printed = 32 * 3 / epsilon**2 * np.log(66 * (2 * sigma * diameter / epsilon) ** 2 / delta)
    bound = Bound(printed, 2, epsilon, delta, 300.0)
    measure = kernel.measure(1)
    assert failures(measure, bound, diameter, int(printed), 20) > 0.5
    assert signed_frequencies(measure, diameter, epsilon, delta).n_frequencies > 1e4 * printed


# --- vacuous bounds and sentences ----------------------------------------------------------------


@pytest.mark.parametrize("bound", BOTH)
@pytest.mark.parametrize("kernel", [Laplacian(), Matern(nu=0.5)], ids=repr)
def test_a_kink_needs_infinitely_many(bound, kernel):
    found = bound(kernel.measure(3), 1.0)
    assert found.vacuous
    assert found.n_frequencies == np.inf
    assert "inf frequencies" in str(found)
    assert "E‖ω‖² is infinite" in str(found)


@pytest.mark.parametrize("bound", BOTH)
def test_an_error_above_the_mass_is_no_bound(bound):
    found = bound(Gaussian().measure(3), 1.0, epsilon=2.0)
    assert found.vacuous
    assert "no error exceeds 2, twice the mass" in str(found)
    assert not bound(Gaussian().measure(3), 1.0, epsilon=1.9).vacuous


@pytest.mark.parametrize("bound", BOTH)
def test_more_features_than_rows_are_no_help(bound):
    measure = DeltaGaussian().measure(16)
    assert not bound(measure, 4.0).vacuous
    found = bound(measure, 4.0, n_rows=20_000)
    assert found.vacuous
    assert "more features than there are rows (20,000)" in str(found)
    assert not bound(measure, 4.0, n_rows=10**9).vacuous


def test_a_bound_says_whose_frequencies_it_counts():
    text = str(complex_frequencies(ShiftGaussian().measure(2), 1.0))
    assert "from each of its 2 parts" in text
    assert "features in total." in text
    assert "its only part" in str(signed_frequencies(Cauchy().measure(2), 1.0))


def test_a_measure_of_the_range_of_the_data_has_a_bound():
    measure = SphericalPolynomial().measure(4, 1.0)
    assert np.isfinite(signed_frequencies(measure, 1.0).n_frequencies)


@pytest.mark.parametrize("bound", BOTH)
@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"measure": Gaussian()}, r"measure to be a krein.measures.Measure, .* got Gaussian"),
        ({"diameter": 0.0}, "diameter to be a finite number above 0, got 0.0"),
        ({"epsilon": -1.0}, "epsilon to be a finite number above 0, got -1.0"),
        ({"delta": 0.0}, "delta to be a finite number above 0, got 0.0"),
        ({"delta": 1.5}, "delta to be a chance between 0 and 1, got 1.5"),
        ({"n_rows": "many"}, "n_rows to be a finite number above 0, got 'many'"),
        ({"n_rows": -4}, "n_rows to be a finite number above 0, got -4"),
    ],
    ids=str,
)
def test_bad_arguments_get_a_sentence(bound, changed, match):
    given = {"measure": Gaussian().measure(2), "diameter": 1.0, **changed}
    with pytest.raises(ValueError, match=match):
        bound(**given)


def test_a_complex_measure_needs_the_other_bound():
    with pytest.raises(ValueError, match=r"not symmetric: use complex_frequencies"):
        signed_frequencies(ShiftGaussian().measure(2), 1.0)
