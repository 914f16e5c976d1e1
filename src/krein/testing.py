"""Checkers: each compares an object of the library with its dense, slow twin.

If you add a kernel, law, measure, sampler, form, feature map, landmark rule, container, statistic,
penalty, solver or learner, run its checker on it. The tests of the library run the same checkers.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from .features.landmarks import LandmarkRule
from .features.source import Source
from .forms import Form
from .kernels import Kernel
from .learning import LeastSquares
from .measures import Law, Measure
from .rows import concatenated, count, dense
from .samplers import IID, PointSampler
from .streaming import Container, checked, fold


def check_kernel(
    kernel: Kernel, twin: Callable[[NDArray, NDArray], float], X: NDArray, Y: NDArray
) -> None:
    """Compare a kernel of vectors with a function of two rows.

    The checker compares values, diagonal, transpose, declared symmetry and stationarity, symmetric
    and skew part, clones, float32 and CSR input.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    twin : callable
        Returns k(x, y) for two rows.
    X, Y : ndarray of shape (n, d) and (m, d)
        Rows.
    """
    expected = np.array([[twin(x, y) for y in Y] for x in X])
    scale = np.abs(expected).max()
    assert_allclose(kernel(X, Y), expected, rtol=1e-7, atol=1e-9 * scale)
    assert_allclose(kernel.diag(X), [twin(x, x) for x in X], rtol=1e-7, atol=1e-9 * scale)
    square = kernel(X)
    assert_allclose(np.diagonal(square), kernel.diag(X), rtol=1e-12)
    assert_allclose(kernel.T(X, Y), kernel(Y, X).T, rtol=1e-12, atol=1e-14 * scale)
    symmetric = bool(np.allclose(square, square.T, rtol=1e-9, atol=1e-12 * scale))
    assert symmetric == kernel.traits.is_symmetric, "is_symmetric does not say what the values do"
    moved = kernel(X + 0.5, Y + 0.5) if kernel.traits.is_stationary else kernel(X, Y)
    assert_allclose(moved, expected, rtol=1e-7, atol=1e-9 * scale, err_msg="is_stationary is wrong")
    parts = kernel.symmetric_part(X, Y) + kernel.skew_part(X, Y)
    assert_allclose(parts, kernel(X, Y), rtol=1e-9, atol=1e-12 * scale)
    assert clone(kernel) == kernel
    single = kernel(X.astype(np.float32), Y.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, expected, rtol=1e-3, atol=2e-3 * scale)
    dense, rows = kernel(X, Y), kernel(sparse.csr_array(X), sparse.csr_array(Y))
    assert_allclose(rows, dense, rtol=1e-7, atol=1e-9 * scale)


def check_form(form: Form, rng: np.random.Generator) -> None:
    """Check that a form is orthogonal and acts as its dense matrix.

    Parameters
    ----------
    form : Form
        The form.
    rng : Generator
        Source of randomness.
    """
    dense = form.dense()
    assert_allclose(dense @ dense.T, np.eye(form.width), atol=1e-12)
    Z = rng.standard_normal((5, form.width))
    assert_allclose(form.dual(Z), Z @ dense.T, atol=1e-12)
    assert_allclose(form.T.dense(), dense.T, atol=1e-12)
    assert form.is_symmetric == bool(np.allclose(dense, dense.T, atol=1e-12))
    assert form.is_identity == bool(np.allclose(dense, np.eye(form.width), atol=1e-12))
    assert_array_equal(form.flip().dense(), np.eye(form.width))
    assert_array_equal(form.clip(), np.diagonal(dense) > 0)
    assert form.dual(Z.astype(np.float32)).dtype == np.float32


def check_law(law: Law, rng: np.random.Generator, n: int = 40_000) -> None:
    """Compare the points of a law with its characteristic function, within 5 standard errors.

    Parameters
    ----------
    law : Law
        The law.
    rng : Generator
        Source of randomness.
    n : int, default=40000
        Number of points.
    """
    points = law.draw(IID(), n, rng)
    assert points.shape == (n, law.dim)
    # At differences of this size the waves are neither constant nor pure noise.
    scale = np.median(np.linalg.norm(points, axis=1)) / np.sqrt(law.dim)
    differences = rng.standard_normal((8, law.dim)) / (max(scale, 1e-3) * np.sqrt(law.dim))
    waves = np.exp(1j * (points @ differences.T))
    expected = np.broadcast_to(law.characteristic(differences), 8).astype(complex)
    for part in (np.real, np.imag):
        error = part(waves).std(axis=0) / np.sqrt(n) + 1e-6
        assert np.all(np.abs(part(waves).mean(axis=0) - part(expected)) < 5 * error)
    assert_allclose(law.characteristic(np.zeros((1, law.dim))), 1.0, atol=1e-6)


def check_sampler(sampler: PointSampler, dim: int, rng: np.random.Generator) -> None:
    """Check the mean, variance and fourth moment of canonical points, which are N(0, I).

    Parameters
    ----------
    sampler : PointSampler
        The sampler.
    dim : int
        Dimension of the points.
    rng : Generator
        Source of randomness.
    """
    n, repeats = 64, 200
    draws = np.stack([sampler.points(n, dim, rng) for _ in range(repeats)])
    assert draws.shape == (repeats, n, dim)
    # Points of one draw depend on each other, so the standard error is taken over repeated draws.
    for power, expected in ((1, 0.0), (2, 1.0), (4, 3.0)):
        means = (draws**power).mean(axis=1)
        error = means.std(axis=0, ddof=1) / np.sqrt(repeats) + 1e-9
        assert np.all(np.abs(means.mean(axis=0) - expected) < 5 * error + 1e-3)


def check_measure(measure: Measure, kernel: Kernel, X: NDArray) -> None:
    """Compare a measure with its kernel on the differences of rows.

    Parameters
    ----------
    measure : Measure
        The measure.
    kernel : Kernel
        The kernel that the measure represents.
    X : ndarray of shape (n, d)
        Rows.
    """
    differences = (X[:, None] - X[None]).reshape(-1, X.shape[1])
    expected = kernel(X).ravel()
    slack = measure.bias * 1.1 + 1e-6 * np.abs(expected).max()
    assert np.abs(measure.kernel(differences) - expected).max() <= slack
    assert measure.is_real == kernel.is_symmetric
    assert measure.total_mass >= np.abs(expected).max() - slack
    assert_allclose(measure.conj().kernel(differences), measure.kernel(-differences), atol=1e-9)
    doubled = (measure + measure).total_mass
    assert_allclose([doubled, (2.0 * measure).total_mass], 2 * measure.total_mass, rtol=1e-12)
    jordan = measure.jordan()
    assert jordan.total_mass >= measure.total_mass * (1 - 1e-5)


def check_feature_map(features: Any, X: NDArray, Y: NDArray) -> None:
    """Check `transform`, `transform_dual` and `form_` of a fitted map against each other.

    The identity is ``approximate_kernel = transform · transform_dualᵀ``, and ``= Z M Zᵀ`` if the
    map has a form. The checker also compares blocks of rows, float32 input, CSR input if the map
    takes it, and the number of features, which `fit` may decide.

    Parameters
    ----------
    features : FeatureMap
        The fitted map.
    X, Y : ndarray of shape (n, d) and (m, d)
        Rows.
    """
    Z, W = features.transform(X), features.transform_dual(Y)
    width = len(features.get_feature_names_out())
    assert Z.shape == (len(X), width)
    assert W.shape == (len(Y), width)
    approximate = features.approximate_kernel(X, Y)
    assert_allclose(approximate, Z @ W.T, atol=1e-12)
    for verb, whole in ((features.transform, Z), (features.transform_dual, W)):
        rows = X if verb == features.transform else Y
        pieces = np.concatenate([verb(rows[:3]), verb(rows[3:])])
        assert_allclose(pieces, whole, rtol=1e-10, atol=1e-12)
        single = verb(rows.astype(np.float32))
        assert single.dtype == np.float32
        assert_allclose(single, whole, atol=2e-3 * np.abs(whole).max())
        if features.__sklearn_tags__().input_tags.sparse:
            assert_allclose(verb(sparse.csr_array(rows)), whole, rtol=1e-9, atol=1e-10)
    if not hasattr(features, "form_"):
        return
    assert features.form_.width == width
    assert_allclose(W, features.transform(Y) @ features.form_.dense().T, atol=1e-10)
    if features.form_.is_symmetric:
        gram = features.approximate_kernel(X)
        assert_allclose(gram, gram.T, atol=1e-10)


def check_landmark_rule(
    rule: LandmarkRule, kernel: Kernel, X: NDArray, n: int, y: NDArray | None = None
) -> None:
    """Check a landmark rule on vectors.

    The landmarks are n distinct rows. The order of the rows changes nothing, no row is chosen twice
    if the data are repeated, and another key gives other landmarks.

    Parameters
    ----------
    rule : LandmarkRule
        The rule.
    kernel : Kernel
        A kernel of vectors.
    X : ndarray of shape (m, d)
        Rows.
    n : int
        Number of landmarks.
    y : ndarray of shape (m,), default=None
        Targets, for a rule that needs them.
    """

    def chosen(rows: NDArray, targets: NDArray | None, key: int) -> NDArray:
        source = Source(kernel, rows, y=targets)
        return rows[rule.choose(source, min(n, len(rows)), source.draws(key))]

    found = chosen(X, y, 0)
    assert len(np.unique(found, axis=0)) == len(found) <= n
    order = np.random.default_rng(0).permutation(len(X))
    turned = chosen(X[order], None if y is None else y[order], 0)
    assert_array_equal(_sorted(turned), _sorted(found))
    twice = chosen(np.concatenate([X, X]), None if y is None else np.concatenate([y, y]), 0)
    assert len(np.unique(twice, axis=0)) == len(twice)
    if len(found) < len(X) // 2:
        others = [_sorted(chosen(X, y, key)) for key in range(1, 4)]
        assert any(not np.array_equal(other, _sorted(found)) for other in others)


def _sorted(rows: NDArray) -> NDArray:
    return rows[np.lexsort(rows.T[::-1])]


def check_container(container: Container, X: Any, y: Any = None, weight: Any = None) -> None:
    """Compare a container with the arrays that its rows come from, in two walks.

    Parameters
    ----------
    container : Container
        The container.
    X, y, weight : array-like
        The rows, targets and weights that it must yield; None if it has no targets or weights.
    """
    for _ in range(2):
        blocks = list(checked(container))
        assert_array_equal(dense(concatenated([block.X for block in blocks])), dense(X))
        for name, expected in (("y", y), ("weight", weight)):
            sides = [getattr(block, name) for block in blocks]
            if expected is None:
                assert all(side is None for side in sides)
            else:
                assert_array_equal(np.concatenate(sides), expected)
    assert container.n_rows in (None, count(X))


def check_statistic(
    zero: Callable[[], Any], pieces: list[Any], result: Callable[[Any], Any], twin: Any
) -> None:
    """Compare a statistic with its dense twin, folded in one pass and merged from two parts.

    Parameters
    ----------
    zero : callable
        ``zero()`` is the statistic of no rows.
    pieces : list
        The pieces of the data.
    result : callable
        ``result(statistic)`` is an array.
    twin : ndarray
        What the result must be.
    """
    scale = max(1e-300, float(np.abs(np.asarray(twin, dtype=float)).max(initial=0)))
    whole = result(fold(pieces, zero()))
    assert_allclose(whole, twin, rtol=1e-9, atol=1e-12 * scale)
    for cut in (0, 1, len(pieces) // 2, len(pieces)):
        merged = fold(pieces[:cut], zero()).merge(fold(pieces[cut:], zero()))
        assert_allclose(result(merged), twin, rtol=1e-9, atol=1e-12 * scale)


def check_penalty(penalty: Any, form: Form) -> None:
    """Compare a penalty's matrix with its diagonal and its derivatives with differences.

    Parameters
    ----------
    penalty : Split or similar
        The penalty, a frozen dataclass.
    form : Form
        The form of the features.
    """
    P = penalty.matrix(form)
    assert P.shape == (form.width, form.width)
    assert_array_equal(P, P.T)
    if not hasattr(penalty, "diagonal"):
        return
    assert_array_equal(np.diagonal(P), penalty.diagonal(form))
    assert np.all(penalty.diagonal(form) >= 0)
    finite = np.isfinite(penalty.diagonal(form))
    numeric = _central_differences(lambda other: other.diagonal(form)[finite], penalty, 1e-6)
    for change, slope in zip(numeric, penalty.derivatives(form), strict=False):
        assert_allclose(change, slope[finite], rtol=1e-6, atol=1e-9)
        assert not np.any(slope[~finite])


def _central_differences(
    function: Callable[[Any], NDArray], penalty: Any, step: float
) -> list[NDArray]:
    """Return the derivatives of a function by the logarithm of each parameter of a penalty."""

    def at(name: str, shift: float) -> NDArray:
        return function(replace(penalty, **{name: getattr(penalty, name) * np.exp(shift)}))

    names = [field.name for field in fields(penalty)]
    return [(at(name, step) - at(name, -step)) / (2 * step) for name in names]


def check_solver(
    solver: Any, problem: LeastSquares, penalties: list[Any], twin: Callable[[Any], NDArray]
) -> None:
    """Compare a solver of least squares with its dense twin.

    The path over all penalties has the same solutions. If the solver has derivatives, they agree
    with central differences.

    Parameters
    ----------
    solver, problem, penalties
        The solver, a least-squares problem, and a list of penalties to solve it with.
    twin : callable
        ``twin(penalty)`` returns the coefficients, shape (p, q).
    """
    for penalty, found in zip(penalties, solver.path(problem, penalties), strict=True):
        expected = twin(penalty)
        scale = max(1e-12, float(np.abs(expected).max()))
        assert_allclose(solver.solve(problem, penalty), expected, rtol=0, atol=1e-6 * scale)
        assert_allclose(found, solver.solve(problem, penalty), rtol=0, atol=1e-8 * scale)
        if hasattr(solver, "derivatives") and np.isfinite(penalty.alpha_neg):
            _check_derivatives(solver, problem, penalty)


def _check_derivatives(solver: Any, problem: LeastSquares, penalty: Any) -> None:
    coef, changes = solver.derivatives(problem, penalty)
    assert_allclose(coef, solver.solve(problem, penalty), rtol=0, atol=1e-8 * np.abs(coef).max())
    numeric = _central_differences(lambda other: solver.solve(problem, other), penalty, 1e-5)
    for expected, change in zip(numeric, changes, strict=True):
        scale = max(float(np.abs(expected).max()), 1e-3 * float(np.abs(coef).max()))
        assert_allclose(change, expected, rtol=0, atol=1e-4 * scale)


def check_learner(learner: Any, X: NDArray, y: NDArray) -> None:
    """Check the promises that every learner makes, on vectors.

    The order of the rows, a row of weight zero and the container change nothing; a row of weight
    two is the row twice; a pickle predicts the same and is at most twice as large as the map and
    the coefficients.

    Parameters
    ----------
    learner : estimator
        The learner, not fitted. Its `random_state` is an integer.
    X, y : ndarray
        Rows of shape (n, d) and their targets.
    """
    model = clone(learner).fit(X, y)

    def outputs(fitted: Any) -> NDArray:
        return np.asarray(getattr(fitted, "decision_function", fitted.predict)(X), dtype=float)

    def assert_same(other: Any) -> None:
        expected = outputs(model)
        scale = float(np.abs(expected).max())
        assert_allclose(outputs(other), expected, rtol=0, atol=1e-5 * scale)

    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    assert_same(clone(learner).fit(X[order], y[order]))
    half = len(X) // 2
    assert_same(clone(learner).fit([(X[:half], y[:half]), (X[half:], y[half:])]))
    weight = np.append(np.ones(len(X)), 0.0)
    far = np.append(X, X[:1] + 1, axis=0), np.append(y, y[:1])
    assert_same(clone(learner).fit(*far, weight))
    twice = clone(learner).fit(X, y, 2.0 * np.ones(len(X)))
    assert_same(twice)
    dumped = pickle.dumps(model)
    assert_array_equal(outputs(pickle.loads(dumped)), outputs(model))
    needed = len(pickle.dumps((model.features_, model.coef_, model.intercept_)))
    assert len(dumped) <= 2 * needed + 10_000
