"""A fitted estimator shares nothing with its caller: what was passed in may change."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

import krein
from krein.kernels import (
    TL1,
    DeltaGaussian,
    DynamicTimeWarping,
    EditDistance,
    Gaussian,
    Hausdorff,
    Pairwise,
    ShiftGaussian,
    Similarity,
    Tanimoto,
)
from krein.measures import Measure, Normal, Part
from krein.proximity import DissimilarityToSimilarity, DoubleCentering, KreinPCA, SpectrumCorrector

# A kernel that is not symmetric is among those that are changed here.
pytestmark = pytest.mark.filterwarnings("ignore:.* uses transform:UserWarning")

RNG = np.random.default_rng(0)
N = 40
ROWS = RNG.standard_normal((N + 6, 3))
VALUES = np.sin(2 * ROWS[:N, 0]) + ROWS[:N, 1]
OPTIONS = {"random_state": 0}


def _letters(a, b):
    return float(len(set(a) & set(b)))


def _products(a, b):
    return float(np.dot(a[0], b[0]))


# Data of N training objects and six new ones, each with kernels that take them. All of them are
# made anew by each call, as tests change them.
DATA = {
    "dense": lambda: ROWS.copy(),
    "single": lambda: ROWS.astype(np.float32),
    "CSR": lambda: sparse.csr_array(ROWS * (np.abs(ROWS) > 0.4)),
    "strings": lambda: [
        "".join(np.random.default_rng(i).choice(list("abcd"), 6)) for i in range(46)
    ],
    "series": lambda: [row.copy() for row in np.cumsum(np.tile(ROWS, 3), axis=1)],
    "array of series": lambda: np.cumsum(np.tile(ROWS, 3), axis=1),
    "point sets": lambda: [ROWS[i : i + 1] + np.arange(3.0)[:, None] for i in range(N + 6)],
    "Python lists": lambda: [[row.tolist(), "tail"] for row in ROWS],
    "sets": lambda: [{int(v) for v in np.abs(10 * row)} | {i % 3} for i, row in enumerate(ROWS)],
    "matrix": lambda: DeltaGaussian(1.0, 4.0)(ROWS),
}
KERNELS = {
    "dense": [
        lambda: DeltaGaussian(1.0, 4.0),
        lambda: ShiftGaussian(1.0, np.full(3, 0.3)) + 0.5 * Gaussian(2.0),
        lambda: Pairwise(_products),
    ],
    "single": [lambda: Gaussian(1.3)],
    "CSR": [lambda: 2 * Gaussian() - Gaussian(3.0)],
    "strings": [lambda: Similarity(EditDistance(), gamma=0.3), lambda: Pairwise(_letters)],
    "series": [lambda: Similarity(DynamicTimeWarping(window=0.5), gamma=0.2)],
    "array of series": [lambda: Similarity(DynamicTimeWarping(), gamma=0.2)],
    "point sets": [lambda: Similarity(Hausdorff(), gamma=0.5)],
    "Python lists": [lambda: Pairwise(_products)],
    "sets": [lambda: Tanimoto() * Tanimoto()],
    "matrix": [lambda: "precomputed"],
}
LEARNERS = {
    "ridge": krein.KreinRidge(n_components=8, **OPTIONS),
    "ridge of a map": krein.KreinRidge(features=krein.Nystrom(n_components=8), **OPTIONS),
    "ridge classifier": krein.KreinRidgeClassifier(
        n_components=8, alphas=np.array([1e-4, 1e-2]), class_weight={True: 2.0, False: 1.0}
    ),
    "variance": krein.VarianceConstrainedRegressor(n_components=8, alpha=1e-3, **OPTIONS),
    "variance classifier": krein.VarianceConstrainedClassifier(n_components=8, alpha=1e-3),
    "svc": krein.KreinSVC(n_components=8, alpha=1e-3, **OPTIONS),
    "automatic regressor": krein.KreinRegressor(n_components=8, **OPTIONS),
    "automatic classifier": krein.KreinClassifier(n_components=8, **OPTIONS),
    "corrected": krein.CorrectedSVC(class_weight={True: 2.0, False: 1.0}),
}
MAPS = {
    "Nystrom": krein.Nystrom(n_components=8, **OPTIONS),
    "Nystrom, all": krein.Nystrom(n_components=8, landmarks="all"),
    "Nystrom, indices": krein.Nystrom(n_components=8, landmarks=np.arange(3, 20)),
    "SimilarityFeatures": krein.SimilarityFeatures(n_components=8, **OPTIONS),
    "KreinPCA": KreinPCA(1),
}
OF_ROWS = {
    "RandomFourier": krein.RandomFourier(ShiftGaussian(1.0, np.full(3, 0.3)), 16, **OPTIONS),
    "RandomFourier, measure": krein.RandomFourier(
        measure=Measure([Part(Normal(3, 1.0)), Part(Normal(3, 0.1), -0.5)]), **OPTIONS
    ),
    "MixtureFourier": krein.MixtureFourier(TL1(2.0), 8, n_subsample=10, max_iter=2, **OPTIONS),
    "RandomGegenbauer": krein.RandomGegenbauer(krein.kernels.ArcCosine(), 16, **OPTIONS),
    "Nystrom, rows": krein.Nystrom(Gaussian(), 8, landmarks=ROWS[:9] + 0.1),
    "DoubleCentering": DoubleCentering("euclidean"),
    "DissimilarityToSimilarity": DissimilarityToSimilarity("exp", metric="manhattan"),
}
OF_MATRICES = {
    "SpectrumCorrector": SpectrumCorrector(),
    "KreinPCA": KreinPCA(3),
    "DoubleCentering": DoubleCentering(),
}
CASES = [
    *((name, kind, i) for name in LEARNERS for kind in KERNELS for i in range(len(KERNELS[kind]))),
    *((name, kind, i) for name in MAPS for kind in KERNELS for i in range(len(KERNELS[kind]))),
]


def _take(data, rows):
    if isinstance(data, list):
        return data[rows] if rows.start is None else copy.deepcopy(data[rows])
    square = data.shape[0] == data.shape[1]
    return (data[rows][:, :N] if square else data[rows]).copy()


def _spoil(thing, seen=None):
    """Change an object and all that it holds, in place, as far as that is possible."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    for value in _held(thing):
        _spoil(value, seen)
    if isinstance(thing, np.ndarray) and thing.flags.writeable and thing.dtype != object:
        thing[...] = thing.dtype.type(1) if thing.dtype.kind in "fiub" else thing.flat[0]
    elif sparse.issparse(thing):
        thing.data[:] = 7.0
    elif isinstance(thing, set):
        thing.clear()
    elif isinstance(thing, dict):
        thing.update(dict.fromkeys(thing, 0.5))
    elif isinstance(thing, list):
        thing[:] = [thing[0]] * len(thing)
    elif hasattr(thing, "get_params"):
        floats = {k: v for k, v in thing.get_params(deep=False).items() if isinstance(v, float)}
        for name, value in floats.items():
            setattr(thing, name, 17.0 * value + 0.9)


def _held(thing):
    """The objects that an object holds."""
    if isinstance(thing, np.ndarray | set | type) or sparse.issparse(thing):
        return []
    if isinstance(thing, dict):
        return list(thing.values())
    if isinstance(thing, list):
        return thing
    if hasattr(thing, "get_params"):
        return list(thing.get_params(deep=False).values())
    return list(vars(thing).values()) if hasattr(thing, "__dict__") and not callable(thing) else []


def _outputs(fitted, new):
    verbs = ("decision_function", "predict", "transform", "transform_dual")
    return [np.array(getattr(fitted, v)(copy.deepcopy(new))) for v in verbs if hasattr(fitted, v)]


def _check(estimator, data, *targets):
    """Fit, note the outputs, spoil all that the caller has, and compare."""
    new = _take(data, slice(N, None))
    train = _take(data, slice(N))
    fitted = copy.copy(estimator)  # a shallow copy: parameters are the caller's
    fitted.fit(train, *targets)
    before = _outputs(fitted, new)
    for passed in (train, data, *targets):
        _spoil(passed)
    parameters = estimator.get_params(deep=False)
    for value in parameters.values():
        _spoil(value)
    assert before
    for mine, other in zip(_outputs(fitted, new), before, strict=True):
        assert_array_equal(mine, other)  # the very same operations


@pytest.mark.parametrize(("name", "kind", "i"), CASES)
def test_what_was_passed_in_may_change(name, kind, i):
    estimator = clone({**LEARNERS, **MAPS}[name])
    kernel = KERNELS[kind][i]()
    if name == "KreinPCA" and not getattr(kernel, "is_symmetric", True):
        kernel = kernel.symmetric_part
    if isinstance(estimator, krein.CorrectedSVC) and not getattr(kernel, "is_symmetric", True):
        kernel = kernel.symmetric_part
    if name == "ridge of a map":
        estimator.features.kernel = kernel
    else:
        estimator.kernel = kernel
    targets = []
    if name in LEARNERS:
        regresses = hasattr(estimator, "alpha") and not hasattr(estimator, "decision_function")
        regresses = regresses or "regressor" in name
        targets = [VALUES.copy() if regresses else VALUES > 0]
    if name in LEARNERS and name != "corrected":
        targets.append(0.5 + np.random.default_rng(1).random(N))
    _check(estimator, DATA[kind](), *targets)


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_was_passed_to_a_map_of_rows_may_change(name):
    _check(clone(OF_ROWS[name]), DATA["dense"]())


@pytest.mark.parametrize("name", OF_MATRICES)
def test_what_was_passed_to_a_map_of_matrices_may_change(name):
    D = np.linalg.norm(ROWS[:, None] - ROWS[None], axis=2) ** 1.5
    np.fill_diagonal(D, 0)
    _check(clone(OF_MATRICES[name]), D)


def test_spoiling_spoils():
    """The test above would notice: the data, nested kernels and their arrays do change."""
    kernel = ShiftGaussian(1.0, np.full(3, 0.3)) + 0.5 * Gaussian(2.0)
    before = kernel(ROWS[:5])
    _spoil(kernel)
    assert np.abs(kernel(ROWS[:5]) - before).max() > 0.1
    assert kernel.left.shift[0] == 1.0
    for make in DATA.values():
        data, spoiled = make(), make()
        _spoil(spoiled)
        same = (data != spoiled).sum() == 0 if sparse.issparse(data) else str(data) == str(spoiled)
        assert not same


def test_objects_that_cannot_be_copied_are_kept_as_they_are():
    from krein._validation import own

    class Handle:
        def __deepcopy__(self, memo):
            raise TypeError("cannot pickle")

    handle = Handle()
    kept = own([handle, "a", 3])
    assert kept[0] is handle
    assert kept[1:] == ["a", 3]
