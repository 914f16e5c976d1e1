"""Bounds of learned spectra: Not-So-Random Features, Theorems 4.1 to 4.4, corrected.

Each function returns a `Guarantee`, a number that says whether it is vacuous. The bounds of the
game are far from tight: `NotSoRandomFeatures.duality_gap_` measures what they bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from .._validation import ArgumentError, check_positive


@dataclass(frozen=True)
class Guarantee:
    """A bound; it prints as a sentence.

    Attributes
    ----------
    value : float
        The bound.
    sentence : str
        What is bounded.
    reason : str
        Why the bound is vacuous; empty if it is not.

    Examples
    --------
    >>> from krein.bounds import potential_rows
    >>> bound = potential_rows(dim=2, band=10.0, radius=1.0, epsilon=0.2)
    >>> bound.value, bound.vacuous
    (13669.0, False)
    """

    value: float
    sentence: str
    reason: str = ""

    @property
    def vacuous(self) -> bool:
        """True if the bound says nothing; `reason` says why."""
        return bool(self.reason)

    def __str__(self) -> str:
        return (
            f"{self.sentence} The bound is vacuous: {self.reason}."
            if self.reason
            else self.sentence
        )


def game_excess(
    n_rows: int, n_rounds: int, C: float = 1.0, *, diagonal: float = 1.0, peak_error: float = 0.0
) -> Guarantee:
    """Bound how much the game's kernel falls short of the best kernel (Theorem 4.1).

    With the payoff ``F(α, λ) = 1ᵀα − ½ Σ_j λ_j v_α(ω_j)`` of duals α and of kernels λ of mass 1,
    the average kernel λ̄ of T rounds satisfies::

        max_α F(α, λ̄) ≤ min_λ max_α F(α, λ) + mean_t ε_t / 2 + 3 C n (1 + κ C n) / (2 √T)

    with peaks that are at most ε_t below the highest one, and κ = max k(x, x) over all actions.
    max_α F(α, λ) is the objective ``½‖w‖² + C Σ_i max(0, 1 − y_i f(x_i))`` of the support vector
    machine with the kernel λ, which is smaller for a larger margin. The bound holds for steps
    ``η_t = C / ((1 + κ C n) √t)``, the diameter of the feasible duals over the largest slope.

    *Corrected*: the slope of the payoff is at most √n (1 + κ C n), while the paper prints
    √n (1 + 2C) and kernels of mass 2. The paper's alternate form, ``≤ ρ + …`` if every peak is at
    least ρ, has the wrong sign: peaks of at least ρ give ``max_α F(α, λ̄) ≤ C n − ρ/2 + …``.

    Parameters
    ----------
    n_rows : int
        Number n of rows.
    n_rounds : int
        Number T of rounds.
    C : float, default=1.0
        Upper bound of the duals.
    diagonal : float, default=1.0
        Largest k(x, x) of a single action, κ: 1 for waves, at most N(d, ℓ) for a harmonic of degree
        ℓ in dimension d.
    peak_error : float, default=0.0
        Mean of the ε_t.

    Returns
    -------
    Guarantee
        The excess. It is vacuous from C n on, because no payoff is larger.

    References
    ----------
    B. Bullins, C. Zhang, Y. Zhang. Not-So-Random Features. ICLR 2018. Theorem 4.1.

    M. Zinkevich. Online Convex Programming and Generalized Infinitesimal Gradient Ascent. ICML
    2003.

    Examples
    --------
    >>> from krein.bounds import game_excess
    >>> print(game_excess(n_rows=100, n_rounds=1000, C=0.01))
    The machine's objective with the kernel of 1,000 rounds exceeds that of the best kernel by at
    most 0.09487.
    >>> game_excess(n_rows=2000, n_rounds=300).vacuous
    True
    """
    _check_counts(n_rows=n_rows, n_rounds=n_rounds)
    value = _regret(n_rows, C, diagonal) / math.sqrt(n_rounds) + _error(peak_error) / 2
    sentence = (
        f"The machine's objective with the kernel of {n_rounds:,} rounds exceeds that of the best "
        f"kernel by at most {value:.4g}."
    )
    return Guarantee(value, sentence, _beyond(value, n_rows, C))


def game_rounds(
    n_rows: int, excess: float, C: float = 1.0, *, diagonal: float = 1.0, peak_error: float = 0.0
) -> Guarantee:
    """Return the rounds after which the machine is within `excess` of the best (Corollary 4.2).

    The objective M of a support vector machine on the learned features satisfies ``M ≤ M* + δ``
    with the objective M* of the machine with the best kernel, if
    ``T ≥ (3 C n (1 + κ C n) / (2 (δ − mean_t ε_t / 2)))²``. See `game_excess` for the symbols.

    *Corrected*: δ is added to M*, while the paper prints a ratio.

    Parameters
    ----------
    n_rows : int
        Number n of rows.
    excess : float
        The excess δ of the objective.
    C : float, default=1.0
        Upper bound of the duals, and the C of the machine.
    diagonal : float, default=1.0
        Largest k(x, x) of a single action, κ.
    peak_error : float, default=0.0
        Mean of the ε_t. The excess must be larger than half of it.

    Returns
    -------
    Guarantee
        The number of rounds. It is vacuous if δ is C n or more, because no objective is larger.

    References
    ----------
    B. Bullins, C. Zhang, Y. Zhang. Not-So-Random Features. ICLR 2018. Corollary 4.2.

    Examples
    --------
    >>> from krein.bounds import game_rounds
    >>> print(game_rounds(n_rows=100, excess=0.1, C=0.01))
    After 900 rounds the machine's objective exceeds that of the best kernel by at most 0.1.
    """
    _check_counts(n_rows=n_rows)
    check_positive("A bound", "excess", excess)
    left = excess - _error(peak_error) / 2
    if left <= 0:
        raise ArgumentError(
            "A bound", "excess", f"more than peak_error / 2 = {peak_error / 2:g}", excess
        )
    value = float(max(1, math.ceil((_regret(n_rows, C, diagonal) / left) ** 2 * (1 - 1e-12))))
    sentence = (
        f"After {value:,.0f} rounds the machine's objective exceeds that of the best kernel by at "
        f"most {excess:g}."
    )
    return Guarantee(value, sentence, _beyond(excess, n_rows, C))


def margin_risk(
    margins: ArrayLike,
    band: float,
    radius: float,
    *,
    mass: float = 1.0,
    theta: float | None = None,
    delta: float = 0.05,
) -> Guarantee:
    """Bound the chance of an error by margins on the training rows (Theorem 4.3).

    Let f be any function of norm 1 of any kernel ``∫ λ(ω) cos ω·(x − y)`` of mass at most R_λ with
    ‖ω‖ ≤ R_ω, learned on the rows or not. With probability 1 − δ over n independent rows of norm at
    most R_x, for a margin θ that is fixed in advance::

        P(y f(x) ≤ 0) ≤ mean_i [y_i f(x_i) < θ] + (2 + 6 R_ω R_x) / θ · √(R_λ/n)
                        + 3 √(log(2/δ) / (2n))

    With ``theta=None`` the best θ is taken, which is not fixed in advance: the second term is
    doubled, and ``√(log log₂(2 √R_λ / θ) / n)`` is added (Koltchinskii & Panchenko, 2002).

    *Corrected*: cos ω·x is not a Lipschitz function of ω·x that vanishes at 0, which adds 2 to
    6 R_ω R_x: functions of the constant kernel, R_ω = 0, are not free. The paper takes the least
    over θ at no cost.

    Parameters
    ----------
    margins : array-like of shape (n,)
        The margins y_i f(x_i), f of norm 1: for a linear machine without an intercept
        ``y * (Z @ w) / ‖w‖``. An intercept b is a wave of frequency 0:
        ``y * (Z @ w + b) / √(‖w‖² + b²)``, with ``mass=2``.
    band : float
        Largest norm R_ω of a frequency.
    radius : float
        Largest norm R_x of a row, about any fixed centre.
    mass : float, default=1.0
        Mass R_λ of the kernel.
    theta : float or None, default=None
        The margin θ; None takes the best.
    delta : float, default=0.05
        The chance δ that the bound fails.

    Returns
    -------
    Guarantee
        The bound of the chance of an error. It is vacuous from 1 on.

    References
    ----------
    B. Bullins, C. Zhang, Y. Zhang. Not-So-Random Features. ICLR 2018. Theorem 4.3.

    V. Koltchinskii, D. Panchenko. Empirical Margin Distributions and Bounding the Generalization
    Error of Combined Classifiers. Annals of Statistics 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.bounds import margin_risk
    >>> print(margin_risk(np.full(10**6, 0.5), band=3.0, radius=1.0))
    With probability at least 0.95 the chance of an error is at most 0.08491.
    >>> print(margin_risk(np.full(2000, 0.1), band=18.0, radius=1.4))
    With probability at least 0.95 the chance of an error is at most 7.942. The bound is vacuous: a
    chance never exceeds 1.
    """
    sorted_margins = np.sort(np.asarray(margins, dtype=float).ravel())
    n = len(sorted_margins)
    _check_counts(n_rows=n)
    if np.isnan(sorted_margins[-1]):  # NaN is sorted to the end
        raise ArgumentError("A bound", "margins", "numbers", "NaN")
    for name, number in (("band", band), ("radius", radius), ("mass", mass)):
        check_positive("A bound", name, number)
    _check_chance(delta)
    complexity = (2 + 6 * band * radius) * math.sqrt(mass / n)
    tail = 3 * math.sqrt(math.log(2 / delta) / (2 * n))
    if theta is not None:
        check_positive("A bound", "theta", theta)
        share = np.searchsorted(sorted_margins, theta) / n
        value = float(share + complexity / theta + tail)
    else:
        value = _least(sorted_margins, complexity, math.sqrt(mass)) + tail
    sentence = (
        f"With probability at least {1 - delta:g} the chance of an error is at most {value:.4g}."
    )
    return Guarantee(value, sentence, "a chance never exceeds 1" if value >= 1 else "")


def _least(margins: np.ndarray, complexity: float, largest: float) -> float:
    """Return the least sum of errors at θ and of the terms that fall with θ, over 0 < θ ≤ largest.

    Between two neighbouring margins the errors are constant and the other terms fall, so the least
    is at a margin, or at the largest θ.
    """
    thetas = np.unique(np.minimum(np.append(margins[margins > 0], largest), largest))
    shares = np.searchsorted(margins, thetas) / len(margins)
    rest = 2 * complexity / thetas + np.sqrt(np.log(np.log2(2 * largest / thetas)) / len(margins))
    return float(np.min(shares + rest))


def potential_rows(
    dim: int, band: float, radius: float, epsilon: float = 0.1, delta: float = 0.05
) -> Guarantee:
    """Return the rows at which all potentials are near their limits (Theorem 4.4).

    With probability 1 − δ over n independent rows of norm at most R_x with labels ±1, the potential
    ``v(ω)/n² = |mean_i y_i exp(i ω·x_i)|²`` differs from its limit by at most ε for all ‖ω‖ ≤ R_ω
    at once, if ``n (ε/2 − 1/n)² ≥ 8 log(2 (1 + 16 R_ω R_x / ε)^d / δ)``.

    *Corrected*: the mean of v(ω)/n² is v + (1 − v)/n, not v, which takes 1/n from ε. Both sides
    change by at most 2 R_x per unit of ω, so a net of spacing ε/(8 R_x) leaves ε/2 for its points;
    the paper takes a net of spacing ε/R_ω. The tail has two sides, which is a factor 2. One row
    changes the potential by at most 4/n, its label included, so R_x and R_ω do not enter the
    exponent.

    Parameters
    ----------
    dim : int
        The dimension d.
    band : float
        Largest norm R_ω of a frequency.
    radius : float
        Largest norm R_x of a row, about any fixed centre.
    epsilon : float, default=0.1
        The error ε.
    delta : float, default=0.05
        The chance δ that the error is exceeded somewhere.

    Returns
    -------
    Guarantee
        The number of rows. It is vacuous if ε is 1 or more, because potentials are at most 1.

    References
    ----------
    B. Bullins, C. Zhang, Y. Zhang. Not-So-Random Features. ICLR 2018. Theorem 4.4 and App. E.

    Examples
    --------
    >>> from krein.bounds import potential_rows
    >>> print(potential_rows(dim=2, band=20.0, radius=1.4, epsilon=0.1))
    With probability at least 0.95 the potentials of 65,654 rows differ from their limits by at most
    0.1 for all frequencies up to 20.
    """
    _check_counts(dim=dim)
    for name, value in (("band", band), ("radius", radius), ("epsilon", epsilon)):
        check_positive("A bound", name, value)
    _check_chance(delta)
    size = dim * math.log1p(16 * band * radius / epsilon) + math.log(2 / delta)
    # n (ε/2 − 1/n)² ≥ 8 · size is quadratic in n.
    total = epsilon + 8 * size
    rows = float(math.ceil(2 * (total + math.sqrt(total**2 - epsilon**2)) / epsilon**2))
    sentence = (
        f"With probability at least {1 - delta:g} the potentials of {rows:,.0f} rows differ from "
        f"their limits by at most {epsilon:g} for all frequencies up to {band:g}."
    )
    return Guarantee(rows, sentence, "potentials are at most 1" if epsilon >= 1 else "")


def _regret(n_rows: int, C: float, diagonal: float) -> float:
    """Return the regret of one round at T = 1: diameter times largest slope times 3/2."""
    check_positive("A bound", "C", C)
    check_positive("A bound", "diagonal", diagonal)
    return 1.5 * C * n_rows * (1 + diagonal * C * n_rows)


def _error(peak_error: float) -> float:
    if not 0 <= peak_error < math.inf:
        raise ArgumentError("A bound", "peak_error", "a finite number ≥ 0", peak_error)
    return float(peak_error)


def _beyond(value: float, n_rows: int, C: float) -> str:
    return f"no objective exceeds C n = {C * n_rows:g}" if value >= C * n_rows else ""


def _check_counts(**numbers: int) -> None:
    for name, number in numbers.items():
        if not isinstance(number, Real) or not 1 <= number < math.inf or number != int(number):
            raise ArgumentError("A bound", name, "a whole number ≥ 1", number)


def _check_chance(delta: float) -> None:
    if check_positive("A bound", "delta", delta) >= 1:
        raise ArgumentError("A bound", "delta", "a chance between 0 and 1", delta)
