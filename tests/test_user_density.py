"""Spectral densities of the user, and their Jordan parts by acceptance and rejection."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from feature_data import _rows
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import krein
from krein import RandomFourier
from krein.kernels import (
    Kernel,
    ShiftGaussian,
    Traits,
)
from krein.measures import (
    DensityRatio,
    Measure,
    Normal,
    Part,
)
from krein.published.acceptance import accepted
from krein.testing import check_feature_map, check_law, check_measure

SHIFT = ShiftGaussian(1.0, 0.7)
BOX = _rows(80, 4, 3)


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
