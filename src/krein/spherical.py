"""Real spherical harmonics in any dimension d ≥ 3.

The harmonics of degree ℓ are an orthonormal basis of the homogeneous harmonic polynomials of
degree ℓ on the unit sphere of R^d. There are ``N(d, ℓ)`` of them
(`krein.measures.n_harmonics`), and the addition theorem says
``Σ_j Y_ℓj(x) Y_ℓj(y) = N(d, ℓ) / area · P_ℓ(⟨x, y⟩)`` with the Legendre polynomial of the
dimension, ``P_ℓ(1) = 1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.utils import check_array

from ._blocks import row_blocks
from ._validation import ArgumentError, check_degree, check_unit_rows, name_of
from .measures import n_harmonics

# The result of `harmonics` takes at most this many bytes.
MAX_BYTES = 4 * 2**30

Columns = list[NDArray[np.floating]]


def area(dim: int) -> float:
    """Return the area of the unit sphere of R^d, ``2 π^(d/2) / Γ(d/2)``.

    Parameters
    ----------
    dim : int
        The dimension d.

    Examples
    --------
    >>> from krein.spherical import area
    >>> round(area(3), 4)  # 4π
    12.5664
    """
    return float(2 * np.exp(dim / 2 * np.log(np.pi) - gammaln(dim / 2)))


def degrees(dim: int, max_degree: int) -> NDArray[np.intp]:
    """Return the degree of each column of `harmonics`.

    Parameters
    ----------
    dim : int
        The dimension d.
    max_degree : int
        The largest degree L.

    Returns
    -------
    ndarray of int of shape (Σ_{ℓ ≤ L} N(d, ℓ),)

    Examples
    --------
    >>> from krein.spherical import degrees
    >>> degrees(3, 2)
    array([0, 1, 1, 1, 2, 2, 2, 2, 2])
    """
    counts = [int(n_harmonics(dim, degree)) for degree in range(max_degree + 1)]
    return np.repeat(np.arange(max_degree + 1), counts)


def harmonics(X: Any, max_degree: int) -> NDArray[np.floating]:
    """Return all real orthonormal spherical harmonics up to a degree.

    The functions are products: trigonometric functions of the first two coordinates, then for each
    further coordinate x_q one factor ``s^j p_(ℓ−j)(t)`` with ``t = x_q / r_q``,
    ``s = r_(q−1) / r_q`` and ``r_q = ‖(x_0, …, x_q)‖``. The factor turns a function of degree j
    into a function of degree ℓ. The polynomials p are the orthonormal Gegenbauer polynomials of
    index ``λ = j + (q − 1)/2``.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Unit rows, d ≥ 3.
    max_degree : int
        The largest degree L.

    Returns
    -------
    ndarray of shape (n, Σ_{ℓ ≤ L} N(d, ℓ))
        The values, in ascending order of degree (`degrees`). A larger `max_degree` adds columns and
        does not change the others. The type is float32 if X is float32, else float64; all
        computations are in float64.

    Raises
    ------
    ValueError
        If d < 3, if a row is not a unit row, or if the result needs more than 4 GB.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spherical import harmonics
    >>> Y = harmonics([[0.0, 0.6, 0.8]], max_degree=4)
    >>> Y.shape
    (1, 25)
    >>> bool(np.isclose(np.sum(Y**2), 25 / (4 * np.pi)))  # the addition theorem at x = y
    True
    """
    max_degree = check_degree("harmonics", max_degree, "max_degree")
    X = check_array(X, dtype=[np.float64, np.float32])
    check_dimension("harmonics", X.shape[1])
    norms = np.linalg.norm(X.astype(float), axis=1)
    check_unit_rows("harmonics", norms, "Scale the rows first, e.g. with Normalizer.")
    width = check_width("harmonics", len(X), X.shape[1], max_degree)
    out = np.empty((len(X), width), dtype=X.dtype)
    for rows in row_blocks(len(X), 16 * width):
        values = _values(X[rows].T.astype(float), max_degree)
        np.concatenate(values, out=out[rows].T, casting="same_kind")
    return out


def check_dimension(owner: object, dim: int) -> None:
    """Raise if there are no spherical harmonics of this dimension here."""
    if dim < 3:
        raise ValueError(
            f"{name_of(owner)} needs rows of at least 3 columns, because the sphere of R^{dim} has "
            f"no spherical harmonics beyond sines and cosines, got {dim}: use Fourier features of "
            "the angle."
        )


def check_width(owner: object, n_rows: int, dim: int, max_degree: int) -> int:
    """Return the number of harmonics up to a degree, or raise if their values need too much."""
    width = sum(n_harmonics(dim, degree) for degree in range(max_degree + 1))
    if 8 * n_rows * width > MAX_BYTES:
        raise ArgumentError(
            owner,
            "max_degree",
            f"so small that the {width:.4g} harmonics of {n_rows} rows with {dim} columns take at "
            f"most {MAX_BYTES / 2**30:.3g} GB",
            max_degree,
        )
    return int(width)


def _values(coordinates: NDArray, max_degree: int) -> Columns:
    """Return the harmonics of each degree, shape (N(d, ℓ), n), from coordinates of shape (d, n)."""
    radii = np.sqrt(np.cumsum(coordinates**2, axis=0))
    functions = _trigonometric(coordinates[0], coordinates[1], max_degree)
    for q in range(2, len(coordinates)):
        functions = _raised(functions, coordinates[q], radii[q - 1], radii[q], q)
    return functions


def _trigonometric(x: NDArray, y: NDArray, max_degree: int) -> Columns:
    """Return 1/√2π and cos mφ/√π, sin mφ/√π for m = 1 … max_degree."""
    angle = np.arctan2(y, x)
    waves = [
        np.stack([np.cos(m * angle), np.sin(m * angle)]) / np.sqrt(np.pi)
        for m in range(1, max_degree + 1)
    ]
    return [np.full((1, len(x)), 1 / np.sqrt(2 * np.pi)), *waves]


def _raised(
    functions: Columns, coordinate: NDArray, inner: NDArray, outer: NDArray, q: int
) -> Columns:
    """Return the functions with one more coordinate, by degree."""
    # Where outer = 0, every later factor of positive degree is zero, so t and s may be anything.
    safe = np.where(outer > 0, outer, 1.0)
    t, s = coordinate / safe, inner / safe
    parts: list[Columns] = [[] for _ in functions]
    for j, lower in enumerate(functions):
        factors = _gegenbauer(t, s**j, j + (q - 1) / 2)
        for degree, factor in zip(range(j, len(functions)), factors, strict=False):
            parts[degree].append(lower * factor)
    return [np.concatenate(part) for part in parts]


def _gegenbauer(t: NDArray, scale: NDArray, index: float) -> Iterator[NDArray[np.floating]]:
    """Yield ``scale · p_0(t), scale · p_1(t), …`` for the weight ``(1 − t²)^(λ − 1/2)``.

    The recurrence is ``b_(k+1) p_(k+1) = t p_k − b_k p_(k−1)`` with
    ``b_k² = k (k + 2λ − 1) / (4 (k + λ)(k + λ − 1))``. The scale is applied inside the recurrence,
    because far from the equator p_k is huge and s^j is tiny.
    """
    log_norm = gammaln(index + 0.5) - gammaln(index + 1) + np.log(np.pi) / 2
    before, value = np.zeros_like(t), scale * np.exp(-log_norm / 2)
    k, b = 0, 0.0
    while True:
        yield value
        k += 1
        ratio = k * (k + 2 * index - 1) / (4 * (k + index) * (k + index - 1))
        after = np.sqrt(ratio)
        before, value = value, (t * value - b * before) / after
        b = after
