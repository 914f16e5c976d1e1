"""The loops behind the elastic distances, compiled with Numba where it is installed.

Every elastic distance of the series x and y of n and m points is a dynamic programme: the cost
D[i, j] of the first i points of x and the first j points of y follows from D[i − 1, j], D[i, j − 1]
and D[i − 1, j − 1]. Cells with the same k = i + j do not depend on each other. The loops therefore
walk over the anti-diagonals k, so that the compiler vectorises the loop over the cells of one
diagonal. Three diagonals are kept: D[i, k − i] stands at index i of the row k mod 3.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._compile import compiled
from ._packed import Packed, Rule

Array = np.ndarray

# The ways to compute a diagonal from the two diagonals before it.
WARP, WEIGHTED, SOFT, SHAPE, LCSS, EDR, ERP, TWE, MSM = range(9)


# --- one diagonal -------------------------------------------------------------------------------
# A step computes the cells a ≤ i < b of the diagonal k. In each step `out` is D[i, j], `up` is
# D[i − 1, j], `left` is D[i, j − 1] and `both` is D[i − 1, j − 1]. u and v are the points i and j
# in the last channel; y runs backwards, so that its point k − i stands at i + m − k. Row 3 of
# `work` has the squared distances in all other channels: zero for series of one channel, which need
# no further loop. Each step makes its own views: Numba counts the references to views that live
# across calls and branches, which takes longer than a short diagonal.

Diagonal = tuple[int, int, int]
Ends = tuple[float, float, float, float]


def _squares(out: Array, x: Array, y: Array, rows: tuple, cells: Diagonal) -> None:
    """Set `out` to the squared distances of the points in some rows of x and y."""
    k, a, b = cells
    shift = y.shape[1] - 1 - k
    out[a:b] = 0.0
    for row in range(rows[0], rows[1]):
        total, u, v = out[a:b], x[row, a:b], y[row, a + shift : b + shift]
        for i in range(total.size):
            total[i] += (u[i] - v[i]) * (u[i] - v[i])


def _warp(work: Array, x: Array, y: Array, cells: Diagonal, price: float) -> None:
    k, a, b = cells
    shift = y.shape[1] - 1 - k
    out, up = work[k % 3][a:b], work[(k + 2) % 3][a - 1 : b - 1]
    left, both = work[(k + 2) % 3][a:b], work[(k + 1) % 3][a - 1 : b - 1]
    rest, u, v = work[3, a:b], x[-1, a:b], y[-1, a + shift : b + shift]
    for i in range(out.size):
        cost = rest[i] + (u[i] - v[i]) * (u[i] - v[i])
        out[i] = cost + min(both[i], min(up[i], left[i]) + price)


def _weighted(work: Array, x: Array, y: Array, cells: Diagonal, tilt: Array) -> None:
    k, a, b = cells
    shift, start = y.shape[1] - 1 - k, x.shape[1] - 1 - (k + 1) // 2
    out, up = work[k % 3][a:b], work[(k + 2) % 3][a - 1 : b - 1]
    left, both = work[(k + 2) % 3][a:b], work[(k + 1) % 3][a - 1 : b - 1]
    rest, u, v = work[3, a:b], x[-1, a:b], y[-1, a + shift : b + shift]
    weight = tilt[k % 2, a + start : b + start]
    for i in range(out.size):
        cost = rest[i] + (u[i] - v[i]) * (u[i] - v[i])
        out[i] = weight[i] * cost + min(both[i], min(up[i], left[i]))


def _soft(work: Array, x: Array, y: Array, cells: Diagonal, gamma: float) -> None:
    k, a, b = cells
    shift = y.shape[1] - 1 - k
    out, up = work[k % 3][a:b], work[(k + 2) % 3][a - 1 : b - 1]
    left, both = work[(k + 2) % 3][a:b], work[(k + 1) % 3][a - 1 : b - 1]
    rest, u, v = work[3, a:b], x[-1, a:b], y[-1, a + shift : b + shift]
    for i in range(out.size):
        least = min(both[i], min(up[i], left[i]))
        total = np.exp((least - up[i]) / gamma) + np.exp((least - left[i]) / gamma)
        total += np.exp((least - both[i]) / gamma)
        cost = rest[i] + (u[i] - v[i]) * (u[i] - v[i])
        # Squares that overflow make all three values infinite, and inf − inf undefined.
        out[i] = cost + least - gamma * np.log(total) if least < np.inf else np.inf


def _shape(work: Array, cells: Diagonal) -> None:
    """Sum the costs of the points along the path that is cheapest for their descriptors.

    Rows k mod 3 of work[:3] and work[4:7] have the costs of the descriptors and of the points, and
    get their sums along the path. If several paths are cheapest, the smallest sum counts.
    """
    k, a, b = cells
    out, up = work[k % 3][a:b], work[(k + 2) % 3][a - 1 : b - 1]
    left, both = work[(k + 2) % 3][a:b], work[(k + 1) % 3][a - 1 : b - 1]
    total, total_up = work[4 + k % 3][a:b], work[4 + (k + 2) % 3][a - 1 : b - 1]
    total_left, total_both = work[4 + (k + 2) % 3][a:b], work[4 + (k + 1) % 3][a - 1 : b - 1]
    for i in range(out.size):
        least = min(both[i], min(up[i], left[i]))
        best = total_both[i] if both[i] == least else np.inf
        best = min(best, total_up[i] if up[i] == least else np.inf)
        best = min(best, total_left[i] if left[i] == least else np.inf)
        out[i] += least
        total[i] += best


def _roots(work: Array, x: Array, y: Array, channel: int, cells: Diagonal) -> None:
    """Set row k mod 3 of work[4:7] to the distances of the points."""
    k, a, b = cells
    shift = y.shape[1] - 1 - k
    gap, rest = work[4 + k % 3][a:b], work[3, a:b]
    u, v = x[channel, a:b], y[channel, a + shift : b + shift]
    for i in range(gap.size):
        gap[i] = np.sqrt(rest[i] + (u[i] - v[i]) * (u[i] - v[i]))


def _lcss(work: Array, cells: Diagonal, epsilon: float) -> None:
    """Count each common point as −1, because all steps minimise."""
    k, a, b = cells
    out, up = work[k % 3][a:b], work[(k + 2) % 3][a - 1 : b - 1]
    left, both = work[(k + 2) % 3][a:b], work[(k + 1) % 3][a - 1 : b - 1]
    gap = work[4 + k % 3][a:b]
    for i in range(out.size):
        apart = min(up[i], left[i])
        out[i] = both[i] - 1.0 if gap[i] <= epsilon else apart


def _edr(work: Array, cells: Diagonal, epsilon: float) -> None:
    k, a, b = cells
    out, up = work[k % 3][a:b], work[(k + 2) % 3][a - 1 : b - 1]
    left, both = work[(k + 2) % 3][a:b], work[(k + 1) % 3][a - 1 : b - 1]
    gap = work[4 + k % 3][a:b]
    for i in range(out.size):
        changed = 0.0 if gap[i] < epsilon else 1.0
        out[i] = min(both[i] + changed, min(up[i], left[i]) + 1.0)


def _erp(work: Array, x: Array, y: Array, cells: Diagonal) -> None:
    """Take the prices of gaps from the last row of x and y."""
    k, a, b = cells
    shift = y.shape[1] - 1 - k
    out, up = work[k % 3][a:b], work[(k + 2) % 3][a - 1 : b - 1]
    left, both = work[(k + 2) % 3][a:b], work[(k + 1) % 3][a - 1 : b - 1]
    gap, u, v = work[4 + k % 3][a:b], x[-1, a:b], y[-1, a + shift : b + shift]
    for i in range(out.size):
        out[i] = min(both[i] + gap[i], min(up[i] + u[i], left[i] + v[i]))


def _twe(work: Array, x: Array, y: Array, cells: Diagonal, tilt: Array) -> None:
    """Take the prices of deletions from the last row of x and y.

    A match costs the distance between the points i and j, the distance between the points before
    them, and the price of their shift.
    """
    k, a, b = cells
    shift, start = y.shape[1] - 1 - k, x.shape[1] - 1 - (k + 1) // 2
    out, up = work[k % 3][a:b], work[(k + 2) % 3][a - 1 : b - 1]
    left, both = work[(k + 2) % 3][a:b], work[(k + 1) % 3][a - 1 : b - 1]
    gap, before = work[4 + k % 3][a:b], work[4 + (k + 1) % 3][a - 1 : b - 1]
    u, v, price = x[-1, a:b], y[-1, a + shift : b + shift], tilt[k % 2, a + start : b + start]
    for i in range(out.size):
        match = both[i] + gap[i] + before[i] + price[i]
        out[i] = min(match, min(up[i] + u[i], left[i] + v[i]))


def _msm(work: Array, x: Array, y: Array, cells: Diagonal, c: float) -> None:
    """Charge a split or merge c, plus the distance of the new point from the others' interval."""
    k, a, b = cells
    shift = y.shape[1] - 1 - k
    out, up = work[k % 3][a:b], work[(k + 2) % 3][a - 1 : b - 1]
    left, both = work[(k + 2) % 3][a:b], work[(k + 1) % 3][a - 1 : b - 1]
    u, v = x[-1, a:b], y[-1, a + shift : b + shift]
    old_u, old_v = x[-1, a - 1 : b - 1], y[-1, a + shift + 1 : b + shift + 1]
    for i in range(out.size):
        split = max(0.0, max(u[i] - max(old_u[i], v[i]), min(old_u[i], v[i]) - u[i]))
        merge = max(0.0, max(v[i] - max(u[i], old_v[i]), min(u[i], old_v[i]) - v[i]))
        move = both[i] + abs(u[i] - v[i])
        out[i] = min(move, min(up[i] + (c + split), left[i] + (c + merge)))


def _advance(
    rule: Rule, cells: Diagonal, x: Array, y: Array, tilt: Array, epsilon: float, work: Array
) -> None:
    step, channels = rule.step, rule.channels
    if channels > 1 and step != MSM and step != SHAPE:
        _squares(work[3], x, y, (0, channels - 1), cells)
    if step == WARP:
        _warp(work, x, y, cells, rule.price)
    elif step == WEIGHTED:
        _weighted(work, x, y, cells, tilt)
    elif step == SOFT:
        _soft(work, x, y, cells, rule.price)
    elif step == MSM:
        _msm(work, x, y, cells, rule.price)
    elif step == SHAPE:
        _squares(work[cells[0] % 3], x, y, (0, channels), cells)
        _squares(work[4 + cells[0] % 3], x, y, (channels, rule.rows), cells)
        _shape(work, cells)
    else:
        _roots(work, x, y, channels - 1, cells)
        if step == LCSS:
            _lcss(work, cells, epsilon)
        elif step == EDR:
            _edr(work, cells, epsilon)
        elif step == ERP:
            _erp(work, x, y, cells)
        else:
            _twe(work, x, y, cells, tilt)


# --- one pair -----------------------------------------------------------------------------------
# x has n points and y has m points, and n ≥ m.


def _tables(rule: Rule, n: int, m: int, slant: Array, tilt: Array) -> None:
    """Set the tables that depend only on the lengths: the middle of the band, the prices of shifts.

    The band of the point i of x is centred at the point slant[i] − i of y, as in aeon. Row k mod 2
    of `tilt` has the price of the shift |i − j| at index i + n − (k + 1) // 2.
    """
    for i in range(1, n + 1):
        slant[i] = i + 1 + math.floor(i / (n + 1) * m)
    if rule.step != WEIGHTED and rule.step != TWE:
        return
    for parity in range(2):
        for index in range(2 * n):
            shift = abs(2 * (index - n) + parity)
            if rule.step == TWE:
                tilt[parity, index] = 2.0 * rule.price * shift
            else:
                tilt[parity, index] = 1.0 / (1.0 + np.exp(-rule.price * (shift - n / 2)))


def _walk(
    rule: Rule,
    x: Array,
    y: Array,
    ends: tuple,
    slant: Array,
    tilt: Array,
    work: Array,
    limit: float,
) -> float:
    """Return the cost D[n, m], or inf once it is known to exceed the limit.

    `ends` are D[0, j], D[i, 0], the value of cells outside of the band, and the tolerance.
    """
    n, m = x.shape[1] - 1, y.shape[1] - 1
    top, side, outside, epsilon = ends
    reach = int(rule.window * m)
    work[0, 0], work[1, 0], work[1, 1], work[4, 0] = 0.0, top, side, 0.0
    a, b, before = 1, 1, 0.0
    for k in range(2, n + m + 1):
        # From one diagonal to the next both ends of the band move by at most one cell.
        if slant[a] + reach < k:
            a += 1
        a = max(a, k - m)
        if b <= n and slant[b] - reach <= k:
            b += 1
        _advance(rule, (k, a, b), x, y, tilt, epsilon, work)
        work[k % 3, a - 1] = top if a == 1 else outside
        work[k % 3, b] = side if b == k else outside
        if limit < np.inf:  # a path takes a cell of every diagonal, or of the diagonal before it
            least = work[k % 3, a - 1 : b + 1].min()
            if min(least, before) > limit:
                return np.inf
            before = least
    return work[(n + m) % 3 + (4 if rule.step == SHAPE else 0), n]


def _ends(rule: Rule, own_x: float, own_y: float) -> Ends:
    """Return D[0, j], D[i, 0], the value of cells outside of the band, and the tolerance."""
    if rule.step == ERP:
        return own_y, own_x, np.inf, 0.0
    if rule.step == EDR:
        return 0.0, 0.0, np.inf, max(own_x, own_y)
    if rule.step == LCSS:
        return 0.0, 0.0, 0.0, max(own_x, own_y)
    return np.inf, np.inf, np.inf, 0.0


def _limit(rule: Rule, bound: float, n: int) -> float:
    """Return the cost above which the distance exceeds `bound`, with some room for rounding.

    The result is infinite if the cost can fall along a path, and for "shape_dtw", whose path
    minimises another cost than the one that is summed.
    """
    if rule.step == LCSS or rule.step == SOFT or rule.step == SHAPE:
        return np.inf
    if rule.root:
        bound *= bound
    return (bound * n if rule.step == EDR else bound) * (1 + 1e-12)


def _same(x: Array, y: Array) -> bool:
    """Return True if y, which runs backwards, is the series x."""
    if x.shape[1] != y.shape[1]:
        return False
    for row in range(x.shape[0]):
        for i in range(x.shape[1]):
            if x[row, i] != y[row, x.shape[1] - 1 - i]:
                return False
    return True


def _distance(
    rule: Rule,
    x: Array,
    y: Array,
    ends: tuple,
    slant: Array,
    tilt: Array,
    work: Array,
    bound: float,
) -> float:
    """Return the distance of x and y, or inf if it exceeds the bound."""
    n, m = x.shape[1] - 1, y.shape[1] - 1
    if rule.step == SOFT and _same(x, y):
        return 0.0
    limit, cost = _limit(rule, bound, n), 0.0
    parts = rule.channels if rule.step == MSM else 1
    for part in range(parts):
        last = part + 1 if rule.step == MSM else rule.rows
        cost += _walk(rule, x[part:last], y[part:last], ends, slant, tilt, work, limit - cost)
    if rule.step == LCSS:
        cost = 1.0 + cost / m
    elif rule.step == EDR:
        cost /= n
    if rule.root:
        cost = np.sqrt(abs(cost))
    return cost if cost <= bound else np.inf


# --- all pairs ----------------------------------------------------------------------------------


def _matrix(rule: Rule, side: Packed, i: int, direction: int) -> Array:
    """Return a series as a matrix, forwards (direction 0) or backwards (1)."""
    start, columns = side.starts[i], side.lengths[i] + 1
    flat = side.rows[direction, start : start + rule.rows * columns]
    return flat.reshape((rule.rows, columns))


def _block(
    rule: Rule, X: Packed, Y: Packed, rows: Array, triangle: bool, bounds: Array, nearest: bool,
    out: Array,
) -> None:  # fmt: skip
    """Set some rows of the matrix of distances.

    Parameters
    ----------
    rule : Rule
    X, Y : Packed
        Series of the rows and of the columns.
    rows : ndarray of int
    triangle : bool
        If True, only the columns j > i of row i are set.
    bounds : ndarray of shape (len(X),)
        Distances above the bound of their row are infinite.
    nearest : bool
        If True, the bound of a row falls to the smallest distance so far.
    out : ndarray of shape (len(X), len(Y))
    """
    longest = max(X.lengths.max(), Y.lengths.max())
    slant, tilt = np.zeros(longest + 2, np.int64), np.zeros((2, 2 * longest))
    work = np.zeros((7, longest + 2))
    n = m = 0
    for i in rows:
        bound = bounds[i]
        for j in range(i + 1 if triangle else 0, len(Y.lengths)):
            if X.lengths[i] < Y.lengths[j]:
                x, y = _matrix(rule, Y, j, 0), _matrix(rule, X, i, 1)
                ends = _ends(rule, Y.own[j], X.own[i])
            else:
                x, y = _matrix(rule, X, i, 0), _matrix(rule, Y, j, 1)
                ends = _ends(rule, X.own[i], Y.own[j])
            if n != x.shape[1] - 1 or m != y.shape[1] - 1:
                n, m = x.shape[1] - 1, y.shape[1] - 1
                _tables(rule, n, m, slant, tilt)
            out[i, j] = _distance(rule, x, y, ends, slant, tilt, work, bound)
            if nearest:
                bound = min(bound, out[i, j])


STEPS = (_squares, _warp, _weighted, _soft, _shape, _roots, _lcss, _edr, _erp, _twe, _msm)
HELPERS = (_tables, _walk, _ends, _limit, _same, _distance, _matrix)


@functools.cache
def block() -> Callable[..., Any]:
    """Return the loop over pairs, compiled if Numba is installed."""
    return compiled(_block, HELPERS, (*STEPS, _advance)) or _block
