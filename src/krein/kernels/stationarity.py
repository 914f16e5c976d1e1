"""Is a kernel a function of x − y? Declared by the kernel, or tested on rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._hashing import Draws, Salt, hash_rows
from .._validation import are_unit
from ..rows import dense, take
from .errors import kernel_name

# The test evaluates the kernel on at most this many rows, because a function of the user may be
# slow. It holds at most this many bytes of rows.
N_ROWS, ROW_BYTES = 20, 2**25
# Values that differ by at most this share of the largest value count as equal. A user's function
# may compute in float32.
ROUNDING = 1e-5


@dataclass(frozen=True)
class Stationarity:
    """Whether a kernel is a function of x − y, and how this was found out.

    Attributes
    ----------
    holds : bool
        True if the kernel is a function of x − y on the given rows.
    how : str
        The sentence that names the kernel, the answer and its reason.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Polynomial
    >>> X = np.array([[1.0, 0.0], [0.6, 0.8]])
    >>> Polynomial().stationarity(X).holds, Polynomial().stationarity(2 * X).holds
    (True, False)
    >>> print(Polynomial().stationarity(X))
    Polynomial() is a function of x − y on rows of norm 1, because it is a function of ⟨x, y⟩.
    """

    holds: bool
    how: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.how


def stationarity(kernel: Any, X: Any = None) -> Stationarity:
    """Find out whether a kernel is a function of x − y; see `Kernel.stationarity`."""
    name = kernel_name(kernel)
    if kernel._declares_stationary(unit_rows=False):
        return Stationarity(True, f"{name} is a function of x − y, as its traits declare.")
    zonal = kernel._declares_stationary(unit_rows=True)
    if X is None:
        if not zonal:
            raise ValueError(
                f"{name} does not declare whether it is a function of x − y: pass rows X to test "
                "it on."
            )
        return Stationarity(False, f"{name} is a function of x − y on rows of norm 1 only.")
    X = _vectors(kernel, X)
    if X is None:
        return Stationarity(False, f"{name} is not a function of x − y: its data are not vectors.")
    on_sphere = are_unit(X)
    if zonal and on_sphere:
        made = "a function" if kernel.zonal_profile else "made of functions of x − y and"
        reason = f"because it is {made} of ⟨x, y⟩"
        return Stationarity(True, f"{name} is a function of x − y on rows of norm 1, {reason}.")
    return _tested(kernel.resolved(X), _some_rows(X), _column_sizes(X), on_sphere)


def _vectors(kernel: Any, X: Any) -> Any:
    """Return X as a matrix of floats, dense or CSR, or None if X are not rows of numbers."""
    X = kernel._check_data(X)
    try:
        X = X if hasattr(X, "ndim") else np.asarray(X)
    except ValueError:  # objects of different lengths
        return None
    if kernel.is_pairwise or X.ndim != 2 or X.dtype.kind not in "biuf" or not X.shape[0]:
        return None
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def _some_rows(X: Any) -> NDArray[np.float64]:
    """Return some rows of X, drawn by their content."""
    n = min(N_ROWS, max(2, ROW_BYTES // (8 * max(1, X.shape[1]))))
    rows = take(X, Draws(hash_rows(X), 0).first(n, Salt.UNITS))
    return np.asarray(dense(rows)).astype(np.float64)


def _tested(kernel: Any, X: NDArray, sizes: NDArray, on_sphere: bool) -> Stationarity:
    """Compare the values on rows with the values on moved rows."""
    rng = np.random.default_rng(0)
    moved = {"k(x + h, y + h)": _shifted(X, sizes, rng)}
    if on_sphere:
        moved["k(Qx, Qy)"] = _reflected(X, rng)
    K = kernel(X, X)
    changes = {what: _change(kernel, K, rows) for what, rows in moved.items()}
    name, where = kernel_name(kernel), f"on {len(X)} rows of X"
    for what, change in changes.items():
        if change <= ROUNDING:
            how = f"{what} equals k(x, y) {where}"
            return Stationarity(True, f"{name} is a function of x − y: {how}.")
    differ = " and from ".join(
        f"{what} " + (f"by {change:.2g}" if np.isfinite(change) else "(undefined)")
        for what, change in changes.items()
    )
    moves = "shift h and reflection Q" if on_sphere else "shift h"
    return Stationarity(
        False,
        f"{name} is not a function of x − y: for a random {moves}, k(x, y) differs from {differ}, "
        f"relative to the largest value {where}.",
    )


def _column_sizes(X: Any) -> NDArray[np.float64]:
    """Return the largest magnitude of each column."""
    return np.asarray(dense(abs(X).max(axis=0)), dtype=np.float64).ravel()


def _shifted(X: NDArray, sizes: NDArray, rng: np.random.Generator) -> NDArray:
    # Each column is shifted by about its own size: a larger shift would lose the digits of columns
    # in small units. The shift is positive, because some kernels are defined for non-negative rows
    # only. A column of zeros has no size, and any shift keeps its differences.
    shifts = np.where(sizes > 0, sizes, sizes.max(initial=0) or 1.0)
    return X + shifts * rng.uniform(0.1, 1.0, X.shape[1])


def _reflected(X: NDArray, rng: np.random.Generator) -> NDArray:
    normal = rng.standard_normal((1, X.shape[1]))
    return X - X @ normal.T @ (2 / np.square(normal).sum() * normal)


def _change(kernel: Any, K: NDArray, rows: NDArray) -> float:
    """Return the largest difference of the values on moved rows from K, relative to K."""
    try:
        with np.errstate(all="ignore"):
            difference = float(np.abs(kernel(rows, rows) - K).max())
    except Exception:  # whatever a function of the user raises on rows outside of its domain
        return np.inf
    return difference / (float(np.abs(K).max()) or 1.0) if np.isfinite(difference) else np.inf
