"""Slow definitions of the elastic distances, cell by cell; costs without roots."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def columns(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, dtype=float)
    return x[:, None] if x.ndim == 1 else x


def band(n: int, m: int, window: float | None) -> np.ndarray:
    """The cells that a window leaves: near the slanted diagonal of the shorter series."""
    if n < m:
        return band(m, n, window).T
    if window is None:
        return np.ones((n, m), dtype=bool)
    middle = np.floor(np.arange(1, n + 1) / (n + 1) * m)
    return np.abs(np.arange(m) - middle[:, None]) <= int(window * m)


def programme(
    cell: Callable, n: int, m: int, window: float | None, top: float, side: float, outside: float
) -> np.ndarray:
    """All D[i, j]; ``cell(D, i, j)`` sees the values before it."""
    inside = band(n, m, window)
    D = np.full((n + 1, m + 1), float(outside))
    D[0], D[:, 0], D[0, 0] = top, side, 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if inside[i - 1, j - 1]:
                D[i, j] = cell(D, i, j)
    return D


def least(D: np.ndarray, i: int, j: int) -> float:
    return min(D[i - 1, j - 1], D[i - 1, j], D[i, j - 1])


def dtw(x, y, window=None, weight=lambda shift: 1.0, penalty=0.0):
    x, y = columns(x), columns(y)

    def cell(D, i, j):
        cost = weight(abs(i - j)) * np.sum((x[i - 1] - y[j - 1]) ** 2)
        return cost + min(D[i - 1, j - 1], D[i - 1, j] + penalty, D[i, j - 1] + penalty)

    return programme(cell, len(x), len(y), window, *[np.inf] * 3)[-1, -1]


def ddtw(x, y, window=None):
    def slopes(z):
        inner = range(1, len(z) - 1)
        return [((z[i] - z[i - 1]) + (z[i + 1] - z[i - 1]) / 2) / 2 for i in inner]

    return dtw(np.array(slopes(columns(x))), np.array(slopes(columns(y))), window)


def wdtw(x, y, window=None, g=0.05):
    middle = max(len(x), len(y)) / 2
    return dtw(x, y, window, weight=lambda shift: 1 / (1 + np.exp(-g * (shift - middle))))


def adtw(x, y, window=None, warp_penalty=1.0):
    return dtw(x, y, window, penalty=warp_penalty)


def shape_dtw(x, y, window=None, reach=15):
    x, y = columns(x), columns(y)

    def near(z, i):
        return z[np.clip(np.arange(i - reach, i + reach + 1), 0, len(z) - 1)]

    def cell(D, i, j):
        return np.sum((near(x, i - 1) - near(y, j - 1)) ** 2) + least(D, i, j)

    D = programme(cell, len(x), len(y), window, *[np.inf] * 3)
    i, j, total = len(x), len(y), 0.0
    while (i, j) != (0, 0):
        total += np.sum((x[i - 1] - y[j - 1]) ** 2)
        i, j = min([(i - 1, j - 1), (i - 1, j), (i, j - 1)], key=lambda place: D[place])
    return total


def soft_dtw(x, y, window=None, gamma=1.0):
    x, y = columns(x), columns(y)
    if np.array_equal(x, y):
        return 0.0

    def cell(D, i, j):
        before = np.array([D[i - 1, j - 1], D[i - 1, j], D[i, j - 1]])
        soft = -gamma * np.logaddexp.reduce(-before / gamma)
        return np.sum((x[i - 1] - y[j - 1]) ** 2) + soft

    return abs(programme(cell, len(x), len(y), window, *[np.inf] * 3)[-1, -1])


def lcss(x, y, window=None, epsilon=1.0):
    x, y = columns(x), columns(y)

    def cell(D, i, j):
        if np.linalg.norm(x[i - 1] - y[j - 1]) <= epsilon:
            return D[i - 1, j - 1] + 1
        return max(D[i - 1, j], D[i, j - 1])

    return 1 - programme(cell, len(x), len(y), window, 0, 0, 0)[-1, -1] / min(len(x), len(y))


def erp(x, y, window=None, g=0.0):
    """Edit distance with real penalty, with aeon's border: a gap at the start costs the series."""
    x, y = columns(x), columns(y)
    gap_x, gap_y = np.linalg.norm(x - g, axis=1), np.linalg.norm(y - g, axis=1)

    def cell(D, i, j):
        match = D[i - 1, j - 1] + np.linalg.norm(x[i - 1] - y[j - 1])
        return min(match, D[i - 1, j] + gap_x[i - 1], D[i, j - 1] + gap_y[j - 1])

    return programme(cell, len(x), len(y), window, gap_y.sum(), gap_x.sum(), np.inf)[-1, -1]


def edr(x, y, window=None, epsilon=None):
    """Edit distance on real sequences, with aeon's border: a gap at the start is free."""
    x, y = columns(x), columns(y)
    epsilon = max(x.std(), y.std()) / 4 if epsilon is None else epsilon

    def cell(D, i, j):
        gap = np.linalg.norm(x[i - 1] - y[j - 1])
        match = D[i - 1, j - 1] + (gap >= epsilon and gap > 0)
        return min(match, D[i - 1, j] + 1, D[i, j - 1] + 1)

    return programme(cell, len(x), len(y), window, 0, 0, np.inf)[-1, -1] / max(len(x), len(y))


def msm(x, y, window=None, c=1.0):
    x, y = columns(x), columns(y)
    return sum(msm_channel(x[:, k], y[:, k], window, c) for k in range(x.shape[1]))


def msm_channel(x, y, window, c):
    def price(new, left, right):
        if min(left, right) <= new <= max(left, right):
            return c
        return c + min(abs(new - left), abs(new - right))

    def cell(D, i, j):
        options = [D[i - 1, j - 1] + abs(x[i - 1] - y[j - 1])]
        if i > 1:
            options.append(D[i - 1, j] + price(x[i - 1], x[i - 2], y[j - 1]))
        if j > 1:
            options.append(D[i, j - 1] + price(y[j - 1], x[i - 1], y[j - 2]))
        return min(options)

    return programme(cell, len(x), len(y), window, *[np.inf] * 3)[-1, -1]


def twe(x, y, window=None, nu=0.001, lmbda=1.0):
    """Time warp edit, with the point 0 put before each series."""
    n, m = len(x), len(y)
    x, y = (np.vstack([np.zeros((1, columns(z).shape[1])), columns(z)]) for z in (x, y))

    def gap(a, b):
        return np.linalg.norm(a - b)

    def cell(D, i, j):
        match = D[i - 1, j - 1] + gap(x[i], y[j]) + gap(x[i - 1], y[j - 1]) + 2 * nu * abs(i - j)
        deleted = D[i - 1, j] + gap(x[i], x[i - 1]) + nu + lmbda
        return min(match, deleted, D[i, j - 1] + gap(y[j], y[j - 1]) + nu + lmbda)

    return programme(cell, n, m, window, *[np.inf] * 3)[-1, -1]


# Name, twin, whether the distance is its root, other parameters than the default ones.
TWINS = [
    ("dtw", dtw, True, {}),
    ("ddtw", ddtw, True, {}),
    ("wdtw", wdtw, True, {"g": 0.2}),
    ("adtw", adtw, True, {"warp_penalty": 0.3}),
    ("shape_dtw", shape_dtw, True, {"reach": 2}),
    ("soft_dtw", soft_dtw, True, {"gamma": 0.1}),
    ("lcss", lcss, False, {"epsilon": 0.6}),
    ("erp", erp, False, {"g": -0.4}),
    ("edr", edr, False, {"epsilon": 0.7}),
    ("msm", msm, False, {"c": 0.4}),
    ("twe", twe, False, {"nu": 0.1, "lmbda": 0.3}),
]
