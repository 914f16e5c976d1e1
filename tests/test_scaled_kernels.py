"""``1.0 * kernel`` does and refuses whatever `kernel` does and refuses."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_twins import TWINS, rows
from numpy.testing import assert_allclose

from krein.kernels import (
    ArcCosine,
    Custom,
    Epanechnikov,
    FromMeasure,
    Gaussian,
    Hausdorff,
    Pairwise,
    Precomputed,
    ShiftGaussian,
    Similarity,
    SinhGaussian,
    Tanimoto,
    Tversky,
)
from krein.measures import InfiniteMassError, programme, radial, sphere

TRAITS = ["traits", "is_symmetric", "takes_vectors", "is_resolved", "is_pairwise"]
VERBS = {
    "values": lambda k, X: k(X),
    "block": lambda k, X: k(X, X[:3]),
    "diagonal": lambda k, X: k.diag(X),
    "transpose": lambda k, X: k.T(X, X[:3]),
    "symmetric part": lambda k, X: k.symmetric_part(X),
    "skew part": lambda k, X: k.skew_part(X),
    "radial profile": lambda k, X: k.radial_profile(np.linspace(0, 1.9, 7)),
    "zonal profile": lambda k, X: k.zonal_profile(np.linspace(0, 1, 7)),
    "measure": lambda k, X: k.measure(3, 1.5).kernel(X[:4]),
    "measure without diameter": lambda k, X: k.measure(3).kernel(X[:4]),
    "measure in many dimensions": lambda k, X: k.measure(10).total_mass,
    "measure of the transpose": lambda k, X: k.T.measure(3, 1.5).kernel(X[:4]),
    "zero extension": lambda k, X: k.measure(3, extension="zero", jacobian=False).total_mass,
    "zonal measure": lambda k, X: k.zonal_measure(3, 0.3).coefficients,
    "resolved": lambda k, X: k.resolved(X)(X),
    "matrix": lambda k, X: k.takes_matrix(X),
    "checked": lambda k, X: np.asarray(k._check_data(X)),
}


def outcome(verb, kernel, X):
    """What a verb returns, or the type of its refusal."""
    try:
        return verb(kernel, X)
    except Exception as error:
        return type(error)


OF_OBJECTS = [
    (Pairwise(lambda a, b: float(len(a) * len(b))), ["a", "bb", "ccc", "dd"]),
    (Pairwise(lambda a, b: float(len(a) + 2 * len(b)), symmetric=False), ["a", "bb", "ccc", "dd"]),
    (Custom(lambda A, B: np.ones((len(A), len(B)))), ["a", "bb", "ccc", "dd"]),
    (Precomputed(), np.eye(5)),
    (Tanimoto(), [{1, 2}, {2}, {3}, {1, 3}]),
    (Tversky(0.5, 0.2), [{1, 2}, {2}, {3}, {1, 3}]),
    (Hausdorff(), [np.zeros((2, 2)), np.ones((3, 2)), np.eye(2), -np.eye(2)]),
    (Similarity(Hausdorff()), [np.zeros((2, 2)), np.ones((3, 2)), np.eye(2), -np.eye(2)]),
    (FromMeasure(Gaussian().measure(3)), rows("any", 9, 0)),
    (ShiftGaussian() + Epanechnikov(), rows("any", 9, 0)),
    (ArcCosine(0) + Gaussian(), rows("unit", 9, 0)),
    (ArcCosine(0) * Gaussian(), rows("unit", 9, 0)),
    (ShiftGaussian().T, rows("any", 9, 0)),
    (ShiftGaussian().symmetric_part, rows("any", 9, 0)),
    (SinhGaussian().skew_part, rows("any", 9, 0)),
]
ALL_KERNELS = [(kernel, rows(kind, 9, 0)) for kernel, _, kind in TWINS] + OF_OBJECTS


@pytest.fixture
def small_programmes(monkeypatch, solve_each_programme_once):
    """The same programmes on coarse grids: both sides of the comparison solve them."""
    monkeypatch.setattr(radial, "N_RADII", 60)
    monkeypatch.setattr(radial, "N_GRID", 50)
    monkeypatch.setattr(sphere, "N_GRID", 50)
    monkeypatch.setattr(programme, "EPSILONS", programme.EPSILONS[::2])


@pytest.mark.usefixtures("small_programmes")
@pytest.mark.parametrize(
    ("kernel", "X"),
    ALL_KERNELS,
    ids=[f"{i} {type(k).__name__}" for i, (k, _) in enumerate(ALL_KERNELS)],
)
def test_one_times_a_kernel_is_the_kernel(kernel, X):
    one = 1.0 * kernel
    for trait in TRAITS:
        assert getattr(one, trait) == getattr(kernel, trait), trait
    for name, verb in VERBS.items():
        expected, found = outcome(verb, kernel, X), outcome(verb, one, X)
        if isinstance(expected, type):
            assert found is expected, name
        elif np.asarray(expected).dtype.kind == "f":
            assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=name)


def test_a_singularity_at_the_antipode_survives_the_algebra():
    singular = ArcCosine(0)
    for kernel in (
        singular,
        1.0 * singular,
        -2.0 * singular,
        singular + Gaussian(),
        Gaussian() * singular,
    ):
        with pytest.raises(InfiniteMassError, match="antipode"):
            kernel.measure(10)


def test_the_transpose_of_a_sum_without_a_closed_form_has_a_measure():
    kernel = ShiftGaussian(1.0, 0.3) + Epanechnikov(4.0)
    X = rows("any", 9, 0) / 4
    mine, turned = kernel.measure(3, 2.0), kernel.T.measure(3, 2.0)
    assert_allclose(turned.kernel(X), mine.kernel(-X), atol=1e-12)


def test_a_transpose_evaluates_its_kernel_once():
    calls = []
    f = lambda x, y: calls.append((x, y)) or float(x - 2 * y)  # noqa: E731  # a function in one line
    X, Y = np.arange(4.0), np.arange(3.0)
    values = Pairwise(f, symmetric=False).T(X, Y)
    assert len(calls) == 12
    assert_allclose(values, [[y - 2 * x for y in Y] for x in X])
