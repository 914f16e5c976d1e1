"""The loops behind the elastic distances, compiled with Numba where it is installed.

Every elastic distance of the series x and y of n and m points is a dynamic programme: the cost
D[i, j] of the first i points of x and the first j points of y follows from D[i − 1, j], D[i, j − 1]
and D[i − 1, j − 1]. Cells with the same k = i + j do not depend on each other. The loops therefore
walk over the anti-diagonals k, so that the compiler vectorises the loop over the cells of one
diagonal. Three diagonals are kept: D[i, k − i] stands at index i of one of three rows, which take
turns.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._compile import compiled
from ._packed import Diagonal, Packed, Rule

Array = np.ndarray

# The ways to compute a diagonal from the two diagonals before it.
WARP, WEIGHTED, SOFT, SHAPE, LCSS, EDR, ERP, TWE, MSM = range(9)

# All places are unsigned. Numba tests every signed index for being negative, and the compiler does
# not vectorise a loop with such a test.
ONE, TWO, FOUR = np.uint64(1), np.uint64(2), np.uint64(4)


# --- one diagonal -------------------------------------------------------------------------------
# A step computes the cells at.begin ≤ i < at.end of the diagonal at.k. D[i, j] stands in the row
# at.now of `work`, D[i − 1, j] and D[i, j − 1] in the row at.last, and D[i − 1, j − 1] in the row
# at.older. u and v are the points i and j in the last channel; y runs backwards, so that its point
# k − i stands at i + m − k. Row 3 of `work` has the squared distances in all other channels: zero
# for series of one channel, which need no further loop.

Ends = tuple[float, float, float, float]


def _squares(work: Array, into: Any, x: Array, y: Array, rows: tuple, at: Diagonal) -> None:
    """Set a row of `work` to the squared distances of the points in some rows of x and y."""
    for i in range(at.begin, at.end):
        work[into, i] = 0.0
    for row in range(rows[0], rows[1]):
        for i in range(at.begin, at.end):
            step = x[row, i] - y[row, i + at.m - at.k]
            work[into, i] += step * step


def _warp(work: Array, x: Array, y: Array, at: Diagonal, price: float) -> None:
    for i in range(at.begin, at.end):
        step = x[-1, i] - y[-1, i + at.m - at.k]
        one_sided = min(work[at.last, i - ONE], work[at.last, i]) + price
        work[at.now, i] = work[3, i] + step * step + min(work[at.older, i - ONE], one_sided)


def _weighted(work: Array, x: Array, y: Array, at: Diagonal, tilt: Array) -> None:
    for i in range(at.begin, at.end):
        step = x[-1, i] - y[-1, i + at.m - at.k]
        weight = tilt[at.k % TWO, i + at.n - (at.k + ONE) // TWO]
        least = min(work[at.older, i - ONE], min(work[at.last, i - ONE], work[at.last, i]))
        work[at.now, i] = weight * (work[3, i] + step * step) + least


def _soft(work: Array, x: Array, y: Array, at: Diagonal, gamma: float) -> None:
    for i in range(at.begin, at.end):
        step = x[-1, i] - y[-1, i + at.m - at.k]
        up, left, both = work[at.last, i - ONE], work[at.last, i], work[at.older, i - ONE]
        least = min(both, min(up, left))
        total = np.exp((least - up) / gamma) + np.exp((least - left) / gamma)
        total += np.exp((least - both) / gamma)
        cost = work[3, i] + step * step
        # Squares that overflow make all three values infinite, and inf − inf undefined.
        work[at.now, i] = cost + least - gamma * np.log(total) if least < np.inf else np.inf


def _shape(work: Array, at: Diagonal) -> None:
    """Sum the costs of the points along the path that is cheapest for their descriptors.

    The rows of work[:3] and work[4:7] have the costs of the descriptors and of the points, and get
    their sums along the path. If several paths are cheapest, the smallest sum counts.
    """
    for i in range(at.begin, at.end):
        up, left, both = work[at.last, i - ONE], work[at.last, i], work[at.older, i - ONE]
        least = min(both, min(up, left))
        best = work[at.older + FOUR, i - ONE] if both == least else np.inf
        best = min(best, work[at.last + FOUR, i - ONE] if up == least else np.inf)
        best = min(best, work[at.last + FOUR, i] if left == least else np.inf)
        work[at.now, i] += least
        work[at.now + FOUR, i] += best


def _roots(work: Array, x: Array, y: Array, channel: int, at: Diagonal) -> None:
    """Set a row of work[4:7] to the distances of the points."""
    for i in range(at.begin, at.end):
        step = x[channel, i] - y[channel, i + at.m - at.k]
        work[at.now + FOUR, i] = np.sqrt(work[3, i] + step * step)


def _lcss(work: Array, at: Diagonal, epsilon: float) -> None:
    """Count each common point as −1, because all steps minimise."""
    for i in range(at.begin, at.end):
        apart = min(work[at.last, i - ONE], work[at.last, i])
        common = work[at.older, i - ONE] - 1.0
        work[at.now, i] = common if work[at.now + FOUR, i] <= epsilon else apart


def _edr(work: Array, at: Diagonal, epsilon: float) -> None:
    for i in range(at.begin, at.end):
        changed = 0.0 if work[at.now + FOUR, i] < epsilon else 1.0
        apart = min(work[at.last, i - ONE], work[at.last, i]) + 1.0
        work[at.now, i] = min(work[at.older, i - ONE] + changed, apart)


def _erp(work: Array, x: Array, y: Array, at: Diagonal) -> None:
    """Take the prices of gaps from the last row of x and y."""
    for i in range(at.begin, at.end):
        u, v = x[-1, i], y[-1, i + at.m - at.k]
        apart = min(work[at.last, i - ONE] + u, work[at.last, i] + v)
        work[at.now, i] = min(work[at.older, i - ONE] + work[at.now + FOUR, i], apart)


def _twe(work: Array, x: Array, y: Array, at: Diagonal, tilt: Array) -> None:
    """Take the prices of deletions from the last row of x and y.

    A match costs the distance between the points i and j, the distance between the points before
    them, and the price of their shift.
    """
    for i in range(at.begin, at.end):
        u, v = x[-1, i], y[-1, i + at.m - at.k]
        price = tilt[at.k % TWO, i + at.n - (at.k + ONE) // TWO]
        match = work[at.older, i - ONE] + work[at.now + FOUR, i]
        match += work[at.older + FOUR, i - ONE] + price
        work[at.now, i] = min(match, min(work[at.last, i - ONE] + u, work[at.last, i] + v))


def _msm(work: Array, x: Array, y: Array, at: Diagonal, c: float) -> None:
    """Charge a split or merge c, plus the distance of the new point from the others' interval."""
    for i in range(at.begin, at.end):
        u, v = x[-1, i], y[-1, i + at.m - at.k]
        old_u, old_v = x[-1, i - ONE], y[-1, i + at.m + ONE - at.k]
        split = max(0.0, max(u - max(old_u, v), min(old_u, v) - u))
        merge = max(0.0, max(v - max(u, old_v), min(u, old_v) - v))
        one_sided = min(work[at.last, i - ONE] + (c + split), work[at.last, i] + (c + merge))
        work[at.now, i] = min(work[at.older, i - ONE] + abs(u - v), one_sided)


def _advance(
    step: int,
    rule: Rule,
    at: Diagonal,
    x: Array,
    y: Array,
    tilt: Array,
    epsilon: float,
    work: Array,
) -> None:
    channels = rule.channels
    if channels > 1 and step != MSM and step != SHAPE:
        _squares(work, 3, x, y, (0, channels - 1), at)
    if step == WARP:
        _warp(work, x, y, at, rule.price)
    elif step == WEIGHTED:
        _weighted(work, x, y, at, tilt)
    elif step == SOFT:
        _soft(work, x, y, at, rule.price)
    elif step == MSM:
        _msm(work, x, y, at, rule.price)
    elif step == SHAPE:
        _squares(work, at.now, x, y, (0, channels), at)
        _squares(work, at.now + FOUR, x, y, (channels, rule.rows), at)
        _shape(work, at)
    else:
        _roots(work, x, y, channels - 1, at)
        if step == LCSS:
            _lcss(work, at, epsilon)
        elif step == EDR:
            _edr(work, at, epsilon)
        elif step == ERP:
            _erp(work, x, y, at)
        else:
            _twe(work, x, y, at, tilt)


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
    step: int, rule: Rule, x: Array, y: Array, ends: tuple, tables: tuple, limit: float
) -> float:
    """Return the cost D[n, m], or inf once it is known to exceed the limit.

    `ends` are D[0, j], D[i, 0], the value of cells outside of the band, and the tolerance. `tables`
    are those of `_tables`, and the rows of the diagonals.
    """
    n, m = x.shape[1] - 1, y.shape[1] - 1
    (top, side, outside, epsilon), (slant, tilt, work) = ends, tables
    reach = int(rule.window * m)
    work[0, 0], work[1, 0], work[1, 1], work[4, 0] = 0.0, top, side, 0.0
    older, last, now = np.uint64(0), np.uint64(1), np.uint64(2)
    a, b, before = 1, 1, 0.0
    for k in range(2, n + m + 1):
        # From one diagonal to the next both ends of the band move by at most one cell.
        if slant[a] + reach < k:
            a += 1
        a = max(a, k - m)
        if b <= n and slant[b] - reach <= k:
            b += 1
        begin, end = np.uint64(a), np.uint64(b)
        at = Diagonal(begin, end, now, last, older, np.uint64(k), np.uint64(n), np.uint64(m))
        _advance(step, rule, at, x, y, tilt, epsilon, work)
        work[now, begin - ONE] = top if a == 1 else outside
        work[now, end] = side if b == k else outside
        if limit < np.inf:  # a path takes a cell of every diagonal, or of the diagonal before it
            least = work[now, a - 1 : b + 1].min()
            if min(least, before) > limit:
                return np.inf
            before = least
        older, last, now = last, now, older
    return work[last + FOUR if step == SHAPE else last, n]


def _cost(rule: Rule, x: Array, y: Array, ends: tuple, tables: tuple, limit: float) -> float:
    """Return what `_walk` returns for the step of the rule.

    The step is a constant in each call, so the compiler copies the walk for each step without the
    loops of the other steps. A choice within the walk would take longer than a short diagonal.
    """
    if rule.step == WARP:
        return _walk(WARP, rule, x, y, ends, tables, limit)
    if rule.step == WEIGHTED:
        return _walk(WEIGHTED, rule, x, y, ends, tables, limit)
    if rule.step == SOFT:
        return _walk(SOFT, rule, x, y, ends, tables, limit)
    if rule.step == SHAPE:
        return _walk(SHAPE, rule, x, y, ends, tables, limit)
    if rule.step == LCSS:
        return _walk(LCSS, rule, x, y, ends, tables, limit)
    if rule.step == EDR:
        return _walk(EDR, rule, x, y, ends, tables, limit)
    if rule.step == ERP:
        return _walk(ERP, rule, x, y, ends, tables, limit)
    if rule.step == TWE:
        return _walk(TWE, rule, x, y, ends, tables, limit)
    return _walk(MSM, rule, x, y, ends, tables, limit)


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


def _distance(rule: Rule, x: Array, y: Array, ends: tuple, tables: tuple, bound: float) -> float:
    """Return the distance of x and y, or inf if it exceeds the bound."""
    n, m = x.shape[1] - 1, y.shape[1] - 1
    if rule.step == SOFT and _same(x, y):
        return 0.0
    limit, cost = _limit(rule, bound, n), 0.0
    parts = rule.channels if rule.step == MSM else 1
    for part in range(parts):
        last = part + 1 if rule.step == MSM else rule.rows
        cost += _cost(rule, x[part:last], y[part:last], ends, tables, limit - cost)
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
            out[i, j] = _distance(rule, x, y, ends, (slant, tilt, work), bound)
            if nearest:
                bound = min(bound, out[i, j])


STEPS = (_squares, _warp, _weighted, _soft, _shape, _roots, _lcss, _edr, _erp, _twe, _msm)
HELPERS = (_tables, _ends, _cost, _limit, _same, _distance, _matrix)


@functools.cache
def block() -> Callable[..., Any]:
    """Return the loop over pairs, compiled if Numba is installed."""
    return compiled(_block, HELPERS, (*STEPS, _advance, _walk)) or _block
