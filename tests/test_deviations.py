"""Standard deviations of predictions: ridge as a Gaussian model."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from certainty_cases import FIXED, RNG, SMALL, VALUES, WEIGHT, X
from numpy.testing import assert_allclose
from rounding import assert_rounded
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import krein
from krein import Nystrom
from krein.kernels import Gaussian, Laplacian


def dense_deviation(model, rows, y, new, weight):
    """Bayesian linear regression on the features, with a flat prior of the intercept."""
    Z, Z2 = model.features_.transform(rows), model.features_.transform(new)
    total = weight.sum()
    prior = np.where(model.features_.form_.signs < 0, model.alpha_neg_, model.alpha_)
    used = np.isfinite(prior)
    A, A2 = np.c_[Z[:, used], np.ones(len(Z))], np.c_[Z2[:, used], np.ones(len(Z2))]
    precision = A.T @ (weight[:, None] * A) + total * np.diag(np.append(prior[used], 0.0))
    leverage = np.einsum("ij,ij->i", A2, np.linalg.solve(precision, A2.T).T)
    degrees = np.trace(np.linalg.solve(precision, A.T @ (weight[:, None] * A)))
    return model._calibration.deviation[0] * np.sqrt((1 - degrees / total) * (1 + leverage))


@pytest.mark.parametrize("options", [{}, {"alpha": 1e-3, "alpha_neg": np.inf, "calibrate": True}])
def test_deviations_are_those_of_a_bayesian_linear_model(options):
    weight = WEIGHT + 1
    model = krein.KreinRidge(**SMALL, keep_statistics=True, **options).fit(X, VALUES, weight)
    new = X[:50] + 0.1
    found, std = model.predict(new, return_std=True)
    assert_rounded(found, model.predict(new))
    assert_rounded(std, dense_deviation(model, X, VALUES, new, weight), 1e-8)
    blocks = [(X[i : i + 37], VALUES[i : i + 37], weight[i : i + 37]) for i in range(0, 200, 37)]
    assert_rounded(clone(model).fit(blocks).predict(new, return_std=True)[1], std, 1e-8)


def test_deviations_are_those_of_scikit_learn():
    peer = BayesianRidge(tol=1e-12, max_iter=5000)
    rows = RNG.standard_normal((300, 4))
    y = rows @ [1.0, -2, 0, 3] + RNG.standard_normal(300)
    identity = krein.RandomFourier(Gaussian(1.0), 4, random_state=0).fit(rows)
    Z = identity.transform(rows)
    Z -= Z.mean(axis=0)  # the deviations of scikit-learn 1.6 are those of centred features only
    peer.fit(Z, y)
    alpha = peer.lambda_ / peer.alpha_ / 300  # precision of the prior over that of the noise
    model = krein.KreinRidge(
        features=krein.RandomFourier(Gaussian(1.0), 4, random_state=0),
        alpha=alpha,
        calibrate=True,
        keep_statistics=True,
    ).fit(rows, y)
    found, std = model.predict(rows, return_std=True)
    assert_allclose(found, peer.predict(Z), rtol=1e-6)
    degrees = 1 + np.trace(np.linalg.solve(Z.T @ Z + 300 * alpha * np.eye(len(Z.T)), Z.T @ Z))
    noise = (1 - degrees / 300) * model._calibration.deviation[0] ** 2
    theirs = peer.predict(Z, return_std=True)[1]
    ours = (std**2 / noise - 1) - 1 / 300  # BayesianRidge takes the intercept as known
    assert_allclose(ours, theirs**2 * peer.alpha_ - 1, rtol=1e-6)


def test_deviations_are_as_large_as_errors():
    # Data from the model itself: draws of a Gaussian process with its kernel, plus noise.
    rng, n, noise = np.random.default_rng(0), 150, 0.1
    rows = rng.random((600, 2))
    root = np.linalg.cholesky(Gaussian(0.2)(rows) + 1e-8 * np.eye(600))
    y = root @ rng.standard_normal((600, 40)) + noise * rng.standard_normal((600, 40))
    model = krein.KreinRidge(Gaussian(0.2), n, alpha=noise**2 / n, cv="loo", random_state=0)
    model.set_params(calibrate=True, keep_statistics=True).fit(rows[:n], y[:n])
    found, std = model.predict(rows[n:], return_std=True)
    ratio = np.mean(np.square((found - y[n:]) / std), axis=0)
    error = ratio.std(ddof=1) / np.sqrt(40)
    # 0.65 if the error of held-out rows, which contains the doubt about f, is taken for noise. The
    # mean leverage in place of that of each row costs some percent.
    assert abs(ratio.mean() - 1) < 0.15 + 3 * error


def test_deviations_on_the_exact_kernel_are_those_of_a_gaussian_process():
    rows, new, kernel, alpha = X[:80], X[80:], Laplacian(0.5), 1e-5
    scale = StandardScaler().fit(rows)
    K, across = kernel(scale.transform(rows)), kernel(scale.transform(new), scale.transform(rows))
    inverse = np.linalg.inv(K + 80 * alpha * np.eye(80))
    # The posterior variance and the leverages, in units of the variance 80 alpha of the noise.
    doubt = (1 - np.einsum("ij,jk,ik->i", across, inverse, across)) / (80 * alpha)
    noise = 1 - np.trace(K @ inverse) / 80
    options = {"alpha": alpha, "fit_intercept": False, "calibrate": True, "keep_statistics": True}
    for exact in (Nystrom(kernel, 80), Nystrom(kernel, 80, landmarks="all")):
        model = krein.KreinRidge(features=make_pipeline(StandardScaler(), exact), **options)
        found, std = model.fit(rows, VALUES[:80]).predict(new, return_std=True)
        assert_rounded(found, across @ inverse @ VALUES[:80], 1e-8)
        expected = model._calibration.deviation[0] * np.sqrt(noise * (1 + doubt))
        assert_rounded(std, expected, 1e-6)


@pytest.mark.parametrize("noise", [0.0, 0.03, 0.3])
def test_deviations_on_a_rough_kernel_are_as_large_as_errors(noise):
    rng, n, kernel = np.random.default_rng(0), 200, Laplacian(1.0)
    rows = rng.random((400, 2))
    root = np.linalg.cholesky(kernel(rows) + 1e-9 * np.eye(400))
    y = root @ rng.standard_normal((400, 40)) + noise * rng.standard_normal((400, 40))
    model = krein.KreinRidge(kernel, n, alpha=max(noise, 1e-4) ** 2 / n, cv="loo", random_state=0)
    model.set_params(calibrate=True, keep_statistics=True).fit(rows[:n], y[:n])
    found, std = model.predict(rows[n:], return_std=True)
    ratio = np.mean(np.square((found - y[n:]) / std), axis=0)
    # 81 without the part of f that vanishes on the rows of the fit.
    assert abs(ratio.mean() - 1) < 0.2 + 3 * ratio.std(ddof=1) / np.sqrt(40)


def test_deviations_of_two_and_three_rows_are_of_the_size_of_the_targets():
    for n in (2, 3):
        model = krein.KreinRidge(Gaussian(0.7), n, keep_statistics=True, random_state=0)
        std = model.fit(X[:n], VALUES[:n]).predict(X, return_std=True)[1]
        assert std.max() < 10 * np.ptp(VALUES[:n])  # 5000 times as large if σ² is rounded up


def test_deviations_need_statistics_and_a_gaussian_model():
    model = krein.KreinRidge(**SMALL).fit(X, VALUES)
    with pytest.raises(ValueError, match="fit with keep_statistics=True"):
        model.predict(X, return_std=True)
    model = krein.KreinRidge(**SMALL, **FIXED, penalty="l1", keep_statistics=True).fit(X, VALUES)
    with pytest.raises(ValueError, match=r"penalty='l1'.* is not a Gaussian model"):
        model.predict(X, return_std=True)
    model = krein.KreinRidge(**SMALL, alpha=0.1, keep_statistics=True).fit(X, VALUES)
    with pytest.raises(ValueError, match="return_std=True needs held-out rows"):
        model.predict(X, return_std=True)


def test_what_is_kept_is_small():
    rows = np.random.default_rng(1).standard_normal((3000, 4))
    y = (rows[:, 0] + np.random.default_rng(2).standard_normal(3000) > 0).astype(int)
    for learner, target in ((krein.KreinRidgeClassifier, y), (krein.KreinRidge, y + rows[:, 1])):
        model = learner(Gaussian(2.0), 50, random_state=0).fit(rows, target)
        parts = len(pickle.dumps(model.features_)) + model.coef_.nbytes
        assert len(pickle.dumps(model)) <= 2 * parts
