"""Automatic regression of several outputs: no unit of an output decides for the others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein import KreinRegressor
from krein.estimators._targets import Numbers
from krein.kernels import Gaussian, Polynomial

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(2000, 3))
# A rough function, and noise with a line.
Y = np.column_stack([np.sin(6 * X[:, 0]), X[:, 1] + 2 * RNG.normal(size=len(X))])
TRAIN, NEW = slice(300), slice(300, None)
# Powers of two, whose products are exact.
UNITS = np.array([2.0**-10, 2.0**10])


def fitted(y, kernel=None):
    return KreinRegressor(kernel, random_state=0).fit(X[TRAIN], y[TRAIN])


@pytest.mark.parametrize("kernel", [None, Gaussian("median"), Polynomial(3)])
def test_units_of_outputs_do_not_matter(kernel):
    one, other = fitted(Y, kernel), fitted(Y * UNITS, kernel)
    assert_allclose(other.predict(X[NEW]) / UNITS, one.predict(X[NEW]), rtol=1e-6, atol=1e-9)
    intervals = [model.predict_interval(X[NEW]) for model in (one, other)]
    assert_allclose(intervals[1] / UNITS, intervals[0], rtol=1e-6, atol=1e-9)


def test_an_output_of_large_numbers_does_not_hide_another():
    found = fitted(Y * UNITS).predict(X[NEW]) / UNITS
    alone = fitted(Y[:, 0]).predict(X[NEW])
    errors = [np.sqrt(np.mean((f - Y[NEW, 0]) ** 2)) for f in (found[:, 0], alone)]
    assert errors[1] < 0.05 * Y[:, 0].std()
    assert errors[0] < 0.2 * Y[:, 0].std()


def test_constant_and_extreme_outputs_are_learned_beside_others():
    y = np.column_stack([Y[:, 0] * 1e200, np.full(len(Y), 7.0), Y[:, 0] * 1e-200, Y[:, 0]])
    found = fitted(y).predict(X[NEW])
    assert_allclose(found[:, 1], 7.0)
    for column, unit in ((0, 1e200), (2, 1e-200)):
        assert_allclose(found[:, column] / unit, found[:, 3], rtol=1e-4, atol=1e-4)


def test_a_single_output_keeps_its_unit():
    targets = Numbers("Example", 1, True)
    assert targets.alike(Y[:, 0]) is targets
    assert_allclose(Numbers("Example", 2, False).alike(Y).encode(Y).std(axis=0), 1.0)
