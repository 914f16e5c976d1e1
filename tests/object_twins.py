"""Objects to compare, and scalar twins evaluated pair by pair."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def table(f: Callable, X: list, Y: list) -> np.ndarray:
    """All pairs by a loop."""
    return np.array([[f(x, y) for y in Y] for x in X], dtype=float)


# --- data ---------------------------------------------------------------------------------------


def words(rng: np.random.Generator, n: int) -> list[str]:
    """Short strings of few letters, the empty one and one beyond ASCII among them."""
    drawn = ["".join(rng.choice(list("abcd"), size=k)) for k in rng.integers(1, 12, size=n)]
    return ["", "añb", *drawn]


def ragged(rng: np.random.Generator, lengths: list[int], channels: int) -> list[np.ndarray]:
    return [rng.normal(size=(length, channels)) for length in lengths]


# --- scalar twins -------------------------------------------------------------------------------


def levenshtein(a: str, b: str) -> int:
    D = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    D[:, 0], D[0] = range(len(a) + 1), range(len(b) + 1)
    for i, s in enumerate(a, 1):
        for j, t in enumerate(b, 1):
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + (s != t))
    return int(D[-1, -1])


def common(a: str, b: str) -> int:
    """The length of the longest common subsequence."""
    D = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i, s in enumerate(a, 1):
        for j, t in enumerate(b, 1):
            D[i, j] = D[i - 1, j - 1] + 1 if s == t else max(D[i - 1, j], D[i, j - 1])
    return int(D[-1, -1])


def jaro_winkler(a: str, b: str) -> float:
    if not a or not b:
        return float(a == b)
    reach = max(0, max(len(a), len(b)) // 2 - 1)
    used: list[int] = []
    matched = []
    for i, s in enumerate(a):
        near = range(max(0, i - reach), min(len(b), i + reach + 1))
        j = next((j for j in near if j not in used and b[j] == s), None)
        if j is not None:
            used.append(j)
            matched.append(s)
    m = len(matched)
    if m == 0:
        return 0.0
    swaps = sum(s != b[j] for s, j in zip(matched, sorted(used), strict=True)) // 2
    jaro = (m / len(a) + m / len(b) + (m - swaps) / m) / 3
    prefix = 0
    while prefix < min(4, len(a), len(b)) and a[prefix] == b[prefix]:
        prefix += 1
    return jaro + 0.1 * prefix * (1 - jaro) if jaro > 0.7 else jaro


STRING_TWINS = {
    "levenshtein": levenshtein,
    "normalized": lambda a, b: levenshtein(a, b) / max(1, len(a), len(b)),
    "jaro_winkler": lambda a, b: 1 - jaro_winkler(a, b),
    "lcs": lambda a, b: max(len(a), len(b)) - common(a, b),
}
