"""Feature maps give the same features again."""

from __future__ import annotations

import functools
import tracemalloc

import numpy as np
import pytest
from feature_data import _rows
from numpy.testing import assert_allclose, assert_array_equal

from krein import MixtureFourier, Nystrom, RandomFourier, RandomGegenbauer
from krein.features import gegenbauer
from krein.features.base import FeatureMap
from krein.forms import Signature
from krein.kernels import (
    TL1,
    DeltaGaussian,
    Gaussian,
    NeuralTangent,
    ShiftGaussian,
)
from krein.samplers import Orthogonal

MAPS = [
    functools.partial(RandomFourier, DeltaGaussian(), 64),
    functools.partial(RandomFourier, ShiftGaussian(), 64, weights="calibrated"),
    functools.partial(RandomFourier, Gaussian(), 64, sampler="leverage"),
    functools.partial(RandomGegenbauer, NeuralTangent(), 64),
    functools.partial(MixtureFourier, TL1(2.0), 8, n_subsample=50, max_iter=2),
]


@pytest.mark.parametrize("make", MAPS, ids=lambda m: f"{m.func.__name__}{m.args}{m.keywords}")
@pytest.mark.parametrize(
    "seed",
    [lambda: 5, lambda: np.random.RandomState(5), lambda: np.random.default_rng(5)],
    ids=["int", "RandomState", "Generator"],
)
def test_the_same_seed_draws_the_same_map(make, seed):
    X = _rows(1200, 3)  # more than the rows that are sampled
    first, second = (make(random_state=seed()).fit(X).transform_dual(X[:50]) for _ in range(2))
    assert_array_equal(first, second)
    assert not np.array_equal(first, make(random_state=6).fit(X).transform_dual(X[:50]))


def test_a_generator_moves_on():
    X, state = _rows(20, 3), np.random.default_rng(0)
    first, second = (RandomFourier(Gaussian(), 16, random_state=state).fit(X) for _ in range(2))
    assert not np.array_equal(first.frequencies_, second.frequencies_)


@pytest.mark.parametrize("make", MAPS, ids=lambda m: f"{m.func.__name__}{m.args}{m.keywords}")
@pytest.mark.parametrize("size", [1, 100])
def test_the_size_of_blocks_changes_nothing(make, size):
    X = _rows(320, 3)
    features = make(random_state=0).fit(X)
    for verb in (features.transform, features.transform_dual):
        pieces = np.concatenate([verb(X[i : i + size]) for i in range(0, 320, size)])
        assert_allclose(pieces, verb(X), rtol=0, atol=1e-12)


def test_inner_blocks_on_the_sphere_change_nothing(monkeypatch):
    X = _rows(300, 3)
    features = RandomGegenbauer(NeuralTangent(), 64, random_state=0).fit(X)
    whole = features.transform(X)
    small = functools.partial(gegenbauer.row_blocks, budget=1)
    monkeypatch.setattr(gegenbauer, "row_blocks", small)
    assert len(list(small(300, 8))) == 300
    assert_allclose(features.transform(X), whole, rtol=0, atol=1e-12)


def test_samplers_as_names_and_as_objects_agree():
    X = _rows(20, 3)
    assert_array_equal(
        RandomFourier(sampler="orthogonal", random_state=0).fit_transform(X),
        RandomFourier(sampler=Orthogonal(), random_state=0).fit_transform(X),
    )


@pytest.mark.parametrize(
    "features",
    [
        RandomFourier(DeltaGaussian(), 256, random_state=0),
        Nystrom(DeltaGaussian(), 256, landmarks="uniform", random_state=0),
    ],
    ids=lambda f: type(f).__name__,
)
def test_signs_of_the_dual_features_need_no_second_output(features, rng):
    X = rng.normal(size=(8000, 4))
    features.fit(X[:400])
    assert features.form_.signs.min() < 0
    before = X.copy()
    peaks = []
    for verb in (features.transform, features.transform_dual):
        tracemalloc.start()
        Z = verb(X)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Each thread has blocks of its own: their number is the same for both verbs.
    assert peaks[1] < peaks[0] + Z.nbytes / 2
    assert_array_equal(X, before)


def test_a_map_that_returns_its_input_does_not_change_it(rng):
    class Identity(FeatureMap):
        random_state, _parameter_constraints = None, {}

        def _resolved_kernel(self):
            return Gaussian()

        def _learn(self, X, y, rng):
            self.form_ = Signature([1.0, -1.0])

        def _map(self, X):
            return X

    X = rng.normal(size=(5, 2))
    before = X.copy()
    dual = Identity().fit(X).transform_dual(X)
    assert_array_equal(X, before)
    assert_array_equal(dual, X * [1.0, -1.0])
