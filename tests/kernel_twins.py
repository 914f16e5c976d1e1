"""Kernels of vectors with their scalar twins, and rows of the kind that each takes."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.special import gamma as gamma_function
from scipy.special import ndtr, ndtri

from krein.kernels import (
    TL1,
    ArcCosine,
    Cauchy,
    Constant,
    CoshGaussian,
    DeltaGaussian,
    Epanechnikov,
    Gaussian,
    GaussianCombination,
    GeodesicGaussian,
    Hellinger,
    Laplacian,
    Matern,
    Multiquadric,
    NeuralTangent,
    OrthantProbability,
    Polynomial,
    RectifiedSigmoid,
    ShiftGaussian,
    Sigmoid,
    SinhGaussian,
    SphericalPolynomial,
    ThinPlateSpline,
)

VECTOR = np.array([0.3, -0.2, 0.5])
G, L, S = Gaussian(1.2), Laplacian(0.8), ShiftGaussian(1.1, VECTOR)


def distance(x, y):
    return np.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def taxi(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def cosine(x, y):
    return min(1.0, max(-1.0, dot(x, y) / np.sqrt(dot(x, x) * dot(y, y))))


def gaussian(x, y, sigma):
    return np.exp(-(distance(x, y) ** 2) / (2 * sigma**2))


def matern(x, y, sigma, nu):
    """From ``K_ν(t) = ∫₀^∞ exp(−t cosh s) cosh(νs) ds``, without a Bessel function."""
    t = np.sqrt(2 * nu) * distance(x, y) / sigma
    if t == 0:
        return 1.0
    bessel = quad(lambda s: np.exp(-t * np.cosh(s)) * np.cosh(nu * s), 0, 12, epsabs=1e-13)[0]
    return 2 ** (1 - nu) / gamma_function(nu) * t**nu * bessel


def plate(x, y, sigma):
    t = distance(x, y) / sigma
    return t**2 * np.log(t) if t > 0 else 0.0


def step_network(u):
    return 1 - np.arccos(u) / np.pi


def relu_network(u):
    angle = np.arccos(u)
    return (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi


def both_below(u, level):
    """The chance of A ≤ t and B ≤ t, from P(B ≤ t | A) and the density of A, without Owen's T."""
    t, spread = ndtri(level), np.sqrt(1 - u**2)
    if spread < 1e-12:
        return level if u > 0 else max(0.0, 2 * level - 1)

    def density(a):
        return np.exp(-(a**2) / 2) * ndtr((t - u * a) / spread) / np.sqrt(2 * np.pi)

    return quad(density, -12, t, epsabs=1e-13, limit=500)[0]


def size(x, y):
    return np.sqrt(dot(x, x) * dot(y, y))


def tangent(x, y):
    u = cosine(x, y)
    return size(x, y) * (u * step_network(u) + relu_network(u))


def directed(x, y, beta):
    return dot(np.broadcast_to(beta, len(x)), x - y)


# (kernel, scalar twin, kind of rows it takes)
TWINS = [
    (Gaussian(1.3), lambda x, y: gaussian(x, y, 1.3), "any"),
    (Laplacian(1.7), lambda x, y: np.exp(-taxi(x, y) / 1.7), "any"),
    (Matern(1.2, 0.5), lambda x, y: np.exp(-distance(x, y) / 1.2), "any"),
    (Matern(1.2, 0.7), lambda x, y: matern(x, y, 1.2, 0.7), "any"),
    (Matern(1.2, 1.5), lambda x, y: matern(x, y, 1.2, 1.5), "any"),
    (Matern(0.8, 2.5), lambda x, y: matern(x, y, 0.8, 2.5), "any"),
    (Matern(0.8, 20.0), lambda x, y: matern(x, y, 0.8, 20.0), "any"),
    (Cauchy(0.8), lambda x, y: 1 / (1 + distance(x, y) ** 2 / 0.8**2), "any"),
    (GeodesicGaussian(0.9), lambda x, y: np.exp(-(np.arccos(cosine(x, y)) ** 2) / 1.62), "unit"),
    (DeltaGaussian(), lambda x, y: gaussian(x, y, 1) - gaussian(x, y, 10), "any"),
    (DeltaGaussian(0.5, 2.0), lambda x, y: gaussian(x, y, 0.5) - gaussian(x, y, 2.0), "any"),
    (
        GaussianCombination([2.0, -0.5, 0.25], [0.5, 1.0, 3.0]),
        lambda x, y: 2 * gaussian(x, y, 0.5) - gaussian(x, y, 1) / 2 + gaussian(x, y, 3) / 4,
        "any",
    ),
    (Epanechnikov(2.0), lambda x, y: max(0, 1 - distance(x, y) ** 2 / 4), "any"),
    (Epanechnikov(2.5, 3), lambda x, y: max(0, 1 - distance(x, y) ** 2 / 6.25) ** 3, "any"),
    (Epanechnikov(2.5, 0.5), lambda x, y: max(0, 1 - distance(x, y) ** 2 / 6.25) ** 0.5, "any"),
    (TL1(2.1), lambda x, y: max(0, 2.1 - taxi(x, y)), "any"),
    (Multiquadric(0.7, 1.4), lambda x, y: np.sqrt((distance(x, y) / 0.7) ** 2 + 1.96), "any"),
    (ThinPlateSpline(0.6), lambda x, y: plate(x, y, 0.6), "any"),
    (Sigmoid(0.7, -0.4), lambda x, y: np.tanh(0.7 * dot(x, y) - 0.4), "any"),
    (RectifiedSigmoid(0.7, -0.4), lambda x, y: max(0, 0.7 * dot(x, y) - 0.4), "any"),
    (Polynomial(3, 0.5, 1.5), lambda x, y: (0.5 * dot(x, y) + 1.5) ** 3, "any"),
    (Polynomial(0), lambda x, y: 1.0, "any"),
    (SphericalPolynomial(), lambda x, y: (1 - distance(x, y) ** 2 / 4) ** 2, "any"),
    (SphericalPolynomial(1.5, 3), lambda x, y: (1 - distance(x, y) ** 2 / 2.25) ** 3, "any"),
    (SphericalPolynomial(2.0, 3), lambda x, y: ((1 + dot(x, y)) / 2) ** 3, "unit"),
    (ArcCosine(0), lambda x, y: step_network(cosine(x, y)), "any"),
    (ArcCosine(1), lambda x, y: size(x, y) * relu_network(cosine(x, y)), "any"),
    (NeuralTangent(), tangent, "any"),
    (OrthantProbability(0.2), lambda x, y: both_below(cosine(x, y), 0.2), "any"),
    (Hellinger(), lambda x, y: np.sqrt(dot(x, y)), "positive"),
    (ShiftGaussian(1.2, 0.3), lambda x, y: np.exp(-sum((x - y + 0.3) ** 2) / 2.88), "any"),
    (ShiftGaussian(1.2, VECTOR), lambda x, y: np.exp(-sum((x - y + VECTOR) ** 2) / 2.88), "any"),
    (
        SinhGaussian(1.2, 0.3),
        lambda x, y: gaussian(x, y, 1.2) * (1 + np.sinh(directed(x, y, 0.3))),
        "any",
    ),
    (
        SinhGaussian(1.2, VECTOR),
        lambda x, y: gaussian(x, y, 1.2) * (1 + np.sinh(directed(x, y, VECTOR))),
        "any",
    ),
    (
        CoshGaussian(1.2, 0.3),
        lambda x, y: gaussian(x, y, 1.2) * np.exp(directed(x, y, 0.3)),
        "any",
    ),
    (
        CoshGaussian(1.2, list(VECTOR)),
        lambda x, y: gaussian(x, y, 1.2) * np.exp(directed(x, y, VECTOR)),
        "any",
    ),
    (Constant(-2.5), lambda x, y: -2.5, "any"),
]


def rows(kind, n, seed, dim=3):
    """Rows of one kind, with some zeros so that CSR input has something to leave out."""
    X = np.random.default_rng(seed).standard_normal((n, dim))
    X[::3, 1] = 0.0
    if kind == "positive":
        return np.abs(X)
    return X / np.linalg.norm(X, axis=1, keepdims=True) if kind == "unit" else X


def name(case):
    return " ".join(str(case).split()) if not callable(case) or hasattr(case, "diag") else ""
