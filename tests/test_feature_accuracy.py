"""Accuracy of feature maps: convergence, weights, the papers' methods and real data."""

from __future__ import annotations

import numpy as np
import pytest
from feature_data import CLOSED, COMPLEX, SIGNED, _rows, _unit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from krein import RandomFourier, RandomGegenbauer, approximation_error
from krein.features.calibrate import RIDGE
from krein.kernels import (
    ArcCosine,
    DeltaGaussian,
    Gaussian,
    Hellinger,
    Multiquadric,
    NeuralTangent,
    ShiftGaussian,
    Sigmoid,
    SinhGaussian,
    SphericalPolynomial,
)

pytestmark = pytest.mark.usefixtures("solve_each_programme_once")


# ------------------------------------------------------------------------------- convergence


@pytest.mark.parametrize("kernel", [Gaussian(), DeltaGaussian(2.0, 0.5), SinhGaussian()], ids=repr)
def test_error_falls_like_one_over_the_root_of_the_width(kernel):
    """E‖K̃ − K‖² = C/N exactly for independent frequencies in equal shares: slope −1/2 in rms.

    The standard error of each mean over seeds comes from the seeds, that of the slope by
    propagation; five of them is a false alarm of 6e-7.
    """
    X, widths, n_seeds = 3 * _rows(30, 4), np.array([32, 128, 512, 2048]), 40
    K = kernel(X)
    logs, variances = [], []
    for width in widths:
        errors = []
        for seed in range(n_seeds):
            features = RandomFourier(
                kernel, int(width), sampler="iid", allocation="equal", random_state=seed
            )
            errors.append(np.sum((features.fit(X).approximate_kernel(X) - K) ** 2))
        logs.append(np.log(np.mean(errors)) / 2)
        variances.append(np.var(errors, ddof=1) / n_seeds / (2 * np.mean(errors)) ** 2)
    x = np.log(widths) - np.log(widths).mean()
    slope = x @ logs / (x @ x)
    standard_error = np.sqrt(x**2 @ variances) / (x @ x)
    assert standard_error < 0.03  # else the test could not tell −1/2 from −1/4
    assert abs(slope + 0.5) < 5 * standard_error


@pytest.mark.parametrize("kernel", [Gaussian(), DeltaGaussian(2.0, 0.5), ShiftGaussian()], ids=repr)
@pytest.mark.parametrize(("sampler", "dim"), [("orthogonal", 8), ("qmc", 2)])
def test_spread_samplers_beat_independent_ones(kernel, sampler, dim):
    X = _rows(50, dim)
    errors = {
        name: [
            approximation_error(RandomFourier(kernel, 128, sampler=name, random_state=s).fit(X), X)
            for s in range(20)
        ]
        for name in ("iid", sampler)
    }
    gap = np.mean(errors["iid"]) - np.mean(errors[sampler])
    assert gap > 5 * np.sqrt(sum(np.var(e, ddof=1) / 20 for e in errors.values()))


# ---------------------------------------------------------------------------- calibrated weights


def _calibrated_pair(kernel, X, width, **options):
    plain = RandomFourier(kernel, width, random_state=0, **options).fit(X)
    fitted = RandomFourier(kernel, width, random_state=0, weights="calibrated", **options).fit(X)
    assert_array_equal(plain.frequencies_, fitted.frequencies_)
    return plain, fitted


@pytest.mark.parametrize("kernel", [*CLOSED, SphericalPolynomial(), Multiquadric()], ids=repr)
def test_calibrated_is_never_worse_on_the_fitting_rows(kernel):
    X = _rows(60, 4)
    plain, fitted = _calibrated_pair(kernel, X, 32)
    before, after = approximation_error(plain, X), approximation_error(fitted, X)
    assert after <= before * (1 + 1e-9)
    assert after < 0.9 * before  # and in fact better: the frequencies are few


@pytest.mark.parametrize("kernel", [ArcCosine(0), NeuralTangent(), Sigmoid(coef0=-1.0)], ids=repr)
def test_calibrated_is_never_worse_on_the_sphere(kernel):
    X = _rows(60, 4)
    before, after = (
        approximation_error(RandomGegenbauer(kernel, 32, weights=w, random_state=0).fit(X), X)
        for w in ("measure", "calibrated")
    )
    assert after <= before * (1 + 1e-9)


@pytest.mark.parametrize("kernel", [*SIGNED, *COMPLEX, Gaussian()], ids=repr)
def test_calibrated_is_least_squares_over_all_pairs(kernel):
    """All n² equations by brute force, with the ridge as extra rows around the start."""
    X = _rows(25, 3)
    plain, fitted = _calibrated_pair(kernel, X, 12)
    phases = ((X[:, None] - X[None]).reshape(-1, 3)) @ plain.frequencies_.T
    start = plain.weights_
    halves = [(np.cos(phases), np.real(start))]
    if np.iscomplexobj(start):
        halves.append((-np.sin(phases), np.imag(start)))
    ridges = [np.full(6, RIDGE * np.sum(A**2) / 6) for A, _ in halves]
    design = np.hstack([A for A, _ in halves])
    around = np.concatenate([a for _, a in halves])
    penalty = np.sqrt(np.concatenate(ridges))
    target = kernel(X).ravel()
    solution = np.linalg.lstsq(
        np.vstack([design, np.diag(penalty)]), np.append(target, penalty * around)
    )[0]
    weights = solution[:6] + 1j * solution[6:] if len(solution) == 12 else solution
    assert_allclose(fitted.weights_, weights, rtol=1e-6, atol=1e-8)
    best = np.linalg.norm(design @ np.linalg.lstsq(design, target)[0] - target)
    reached = np.linalg.norm(fitted.approximate_kernel(X).ravel() - target)
    assert best <= reached * (1 + 1e-9)
    assert reached < 1.5 * best + 1e-3 * np.linalg.norm(target)  # the ridge is small


def test_calibrated_columns_on_the_sphere_are_least_squares():
    X, kernel = _unit(_rows(30, 3)), Sigmoid(gamma=2.0, coef0=-1.0)
    plain, fitted = (
        RandomGegenbauer(kernel, 12, weights=w, random_state=0).fit(X)
        for w in ("measure", "calibrated")
    )
    assert_array_equal(plain.directions_, fitted.directions_)
    # Column by column: x takes three columns with one weight in common.
    columns = plain.transform(X) / np.sqrt(np.abs(plain.weights_))
    groups = [[0], [1, 2, 3], *([j] for j in range(4, 12))]
    assert_allclose(plain.weights_[1], plain.weights_[[2, 3]])
    products = [np.sum([np.outer(columns[:, j], columns[:, j]) for j in g], axis=0) for g in groups]
    design = np.stack([product.ravel() for product in products], axis=1)
    start = np.array([plain.weights_[g[0]] for g in groups])
    penalty = np.full(len(groups), np.sqrt(RIDGE * np.sum(design**2) / len(groups)))
    solution = np.linalg.lstsq(
        np.vstack([design, np.diag(penalty)]), np.append(kernel(X).ravel(), penalty * start)
    )[0]
    assert_allclose(fitted.weights_[[g[0] for g in groups]], solution, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------------------- the papers' method


def test_jordan_equal_iid_is_the_asymmetric_papers_method():
    """N draws each from μ_R⁺, μ_R⁻ and μ_I⁺, with the exact masses as weights."""
    dim, kernel = 4, ShiftGaussian(sigma=1.0, shift=0.5)
    features = RandomFourier(
        kernel, 60, decomposition="jordan", allocation="equal", sampler="iid", random_state=0
    ).fit(_rows(20, dim))
    # s = r·ω ~ N(0, ‖r‖²) and ‖r‖ = 1.
    masses = [
        factor
        * quad(
            lambda s, g=g: max(g(s), 0) * np.exp(-(s**2) / 2),
            -12,
            12,
            limit=500,
            points=list(np.arange(-7, 8) * np.pi / 2),
        )[0]
        / np.sqrt(2 * np.pi)
        for factor, g in ((1, np.cos), (-1, lambda s: -np.cos(s)), (2j, np.sin))
    ]
    expected = np.repeat(masses, 10) / 10
    assert_allclose(features.weights_, expected, rtol=1e-7)
    s = features.frequencies_ @ np.full(dim, 0.5)
    assert np.all(np.cos(s[:10]) >= 0)
    assert np.all(np.cos(s[10:20]) <= 0)
    assert np.all(np.sin(s[20:]) >= 0)


def test_jordan_equal_iid_is_the_signed_papers_method():
    features = RandomFourier(
        DeltaGaussian(),
        40,
        decomposition="jordan",
        allocation="equal",
        sampler="iid",
        random_state=0,
    ).fit(_rows(20, 3))
    assert_allclose(features.weights_, np.repeat([0.1, -0.1], 10))
    assert features.form_.signs.sum() == 0


def test_jordan_has_more_mass_and_a_larger_error_than_polar():
    X, kernel = _rows(60, 8), SinhGaussian(beta=0.3)
    errors = {
        split: [
            approximation_error(
                RandomFourier(kernel, 192, decomposition=split, sampler="iid", random_state=s).fit(
                    X
                ),
                X,
            )
            for s in range(20)
        ]
        for split in ("polar", "jordan")
    }
    gap = np.mean(errors["jordan"]) - np.mean(errors["polar"])
    assert gap > 5 * np.sqrt(sum(np.var(e, ddof=1) / 20 for e in errors.values()))


# ------------------------------------------------------------------------- quality on real data


@pytest.fixture(scope="module")
def letter(load):
    X = np.asarray(load("letter")[0], dtype=float)
    rows = X[np.random.default_rng(0).choice(len(X), 1000, replace=False)]
    low, high = X.min(axis=0), X.max(axis=0)
    return {"unit": _unit(rows), "scaled": (rows - low) / (high - low)}


# Width 256, relative Frobenius error on 1000 rows.
BARS = [
    (RandomFourier, SphericalPolynomial(a=2.0, degree=2), "measure", "unit", 0.03),
    (RandomFourier, SphericalPolynomial(a=2.0, degree=2), "calibrated", "unit", 0.006),
    (RandomFourier, DeltaGaussian(1.0, 10.0), "measure", "scaled", 0.05),
    (RandomFourier, DeltaGaussian(1.0, 10.0), "calibrated", "scaled", 0.025),
    (RandomGegenbauer, ArcCosine(0), "measure", "unit", 0.04),
    (RandomGegenbauer, NeuralTangent(), "measure", "unit", 0.06),
    (RandomFourier, Hellinger(), "measure", "unit", 0.025),
]


@pytest.mark.parametrize(("cls", "kernel", "weights", "rows", "bar"), BARS, ids=str)
def test_quality_on_letter(letter, cls, kernel, weights, rows, bar):
    X = letter[rows]
    for seed in range(2):
        features = cls(kernel, 256, weights=weights, random_state=seed).fit(X)
        K = kernel(X)
        error = np.linalg.norm(features.approximate_kernel(X) - K) / np.linalg.norm(K)
        assert error <= bar


def test_neyman_allocation_beats_equal_shares_on_letter(letter):
    X = letter["scaled"]
    errors = {
        rule: [
            approximation_error(
                RandomFourier(DeltaGaussian(), 256, allocation=rule, random_state=s).fit(X), X
            )
            for s in range(4)
        ]
        for rule in ("neyman", "equal")
    }
    assert max(errors["neyman"]) < min(errors["equal"])
