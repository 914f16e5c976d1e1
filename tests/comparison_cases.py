"""What the tests of `krein.compare` share: data, maps, and comparisons of the quick methods."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from krein import Nystrom, RandomFourier, RandomGegenbauer, compare
from krein._hashing import as_generator
from krein.comparison.methods import chosen
from krein.comparison.sample import Sample

X = np.random.default_rng(0).random((90, 3))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
WORDS = [a + b + c for a in "kt" for b in "aeiou" for c in ("n", "tt", "rein", "")]
BUILD = {
    "RandomFourier": lambda k, w, s: RandomFourier(k, w, random_state=s),
    "RandomFourier calibrated": lambda k, w, s: RandomFourier(
        k, w, weights="calibrated", random_state=s
    ),
    "RandomGegenbauer": lambda k, w, s: RandomGegenbauer(k, w, normalize=False, random_state=s),
    "Nystrom": lambda k, w, s: Nystrom(k, w, random_state=s),
}
CORE = list(BUILD)
MEASURED = ("method", "width", "error", "errors", "bytes", "score", "note")


def compared(kernel, data=X, methods=None, widths=8, **options):
    """Compare the methods of `BUILD` that can serve the kernel, unless methods are given."""
    if methods is None:
        methods = [method for method in able_methods(kernel, data) if method.name in BUILD]
    return compare(kernel, data, methods, widths, random_state=0, **options)


def able_methods(kernel, data):
    """The methods that "auto" means."""
    data = kernel._check_data(data)
    return chosen("auto", Sample.of(kernel.resolved(data), data, 1000, 3, as_generator(0)))


def folds_of(kernel, data=X, n_seeds=3):
    return Sample.of(kernel, data, 1000, n_seeds, as_generator(0)).folds


def _numbers(comparison):
    """What must not depend on the clock."""
    return [[getattr(row, name) for name in MEASURED] for row in comparison.rows]


def assert_same(one, other):
    for left, right in zip(_numbers(one), _numbers(other), strict=True):
        assert left[:2] == right[:2]
        assert_allclose(left[3], right[3], rtol=1e-6, atol=1e-12)
        assert left[-1] == right[-1]


def labels_of(data):
    return np.where(data[:, 0] > data[:, 1], "above", "below")
