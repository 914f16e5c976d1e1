"""Diagnosis of a kernel on data: is it positive definite, and which features suit it?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from ._blocks import row_blocks
from ._validation import UNIT_TOLERANCE, as_generator
from .features import FeatureMap, RandomFourier, RandomGegenbauer
from .features.base import RandomMap
from .kernels import Kernel, NoMeasureError
from .kernels.errors import one_line
from .kernels.sampling import objects_at
from .kernels.values import check_values, uninformative
from .measures import InfiniteMassError
from .plots import plot_spectrum
from .rows import count
from .spectral.labels import class_codes

# Asymmetry and negative eigenvalues below these shares are rounding errors.
ASYMMETRY_TOLERANCE = 1e-8
RANK_TOLERANCE = 1e-8
# Number of draws over which the error of a feature map is averaged.
N_DRAWS = 5


@dataclass(frozen=True)
class Diagnosis:
    """The result of `diagnose`; it prints as a table.

    Attributes
    ----------
    kernel : str
        Text of the kernel.
    n_rows : int
        Number of rows on which the kernel was examined.
    n_components : int
        Number of features at which feature maps were compared.
    eigenvalues : ndarray
        Eigenvalues of the symmetric part of the kernel matrix, in descending order.
    negative_mass : float
        ``Σ|λ₋| / Σ|λ|``: 0 for a positive definite kernel.
    asymmetry : float
        ``‖(K − Kᵀ)/2‖ / ‖K‖``: 0 for a symmetric kernel, 1 for a skew one.
    rank : int
        Number of eigenvalues whose magnitude exceeds 1e-8 of the largest.
    is_positive_definite : bool
        True if the kernel is positive definite.
    evidence : str
        The reason for `is_positive_definite`.
    worthless : str or None
        Why nothing can be learned from the kernel matrix, if it is nearly the identity or nearly
        constant; else None.
    total_mass : float or None
        Mass of the spectral measure; None if the kernel has no measure.
    errors : dict
        Relative error on these rows of each feature map that applies.
    low_rank_error : float
        Least relative error of any map with `n_components` features, a lower bound for Nyström.
    suggested_method : str
        The feature map with the least error, or "Nystrom" if no measure exists.
    advice : str
        Advice in one sentence.

    Examples
    --------
    >>> import numpy as np, krein
    >>> X = np.random.default_rng(0).random((40, 2))
    >>> diagnosis = krein.diagnose(krein.kernels.Gaussian(), X, n_components=16, random_state=0)
    >>> diagnosis.evidence
    'its spectral measure is positive (Bochner)'
    """

    kernel: str
    n_rows: int
    n_components: int
    eigenvalues: NDArray[np.floating] = field(repr=False)
    negative_mass: float
    asymmetry: float
    rank: int
    is_positive_definite: bool
    evidence: str
    worthless: str | None
    total_mass: float | None
    errors: dict[str, float]
    low_rank_error: float
    suggested_method: str
    advice: str

    def rows(self) -> list[tuple[str, str]]:
        """Return the table as (name, value) pairs."""
        mass = "none" if self.total_mass is None else f"{self.total_mass:.4g}"
        table = [
            ("kernel", self.kernel),
            ("rows examined", f"{self.n_rows}"),
            *([] if self.worthless is None else [("warning", self.worthless)]),
            (
                "positive definite",
                f"{'yes' if self.is_positive_definite else 'no'}: {self.evidence}",
            ),
            ("negative mass", f"{self.negative_mass:.3g}"),
            ("asymmetry", f"{self.asymmetry:.3g}"),
            ("numerical rank", f"{self.rank} of {self.n_rows}"),
            ("total mass of the spectrum", mass),
        ]
        table += [
            (f"error of {name}, width {self.n_components}", f"{error:.3g}")
            for name, error in self.errors.items()
        ]
        table.append((f"best error of rank {self.n_components}", f"{self.low_rank_error:.3g}"))
        return [*table, ("suggested method", self.suggested_method), ("advice", self.advice)]

    def __str__(self) -> str:
        table = self.rows()
        width = max(len(name) for name, _ in table)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in table)

    def plot(self, ax: Any = None) -> Any:
        """Plot the magnitudes of the positive and of the negative eigenvalues.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        matplotlib Axes
        """
        return plot_spectrum(self, ax)


def diagnose(
    kernel: Kernel,
    X: Any,
    *,
    n_components: int = 256,
    max_rows: int = 1000,
    random_state: Any = None,
) -> Diagnosis:
    """Examine a kernel on data, or on a sample of the data.

    Parameters
    ----------
    kernel : Kernel
        Any kernel, symmetric or not.
    X : array-like, sparse matrix or sequence of objects
        The data. If there are more than `max_rows` rows, a random sample is used.
    n_components : int, default=256
        Number of features at which feature maps are compared; it must be even.
    max_rows : int, default=1000
        Largest number of rows. The cost is that of an eigendecomposition of this size.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sample and of the feature maps.

    Returns
    -------
    Diagnosis
        The result, which prints as a table.

    Examples
    --------
    >>> import numpy as np, krein
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> diagnosis = krein.diagnose(DeltaGaussian(), X, n_components=64, random_state=0)
    >>> diagnosis.is_positive_definite
    False
    """
    _check_arguments(kernel, n_components, max_rows)
    rng = as_generator(random_state)
    data = kernel._check_data(X)
    kernel = kernel.resolved(data)
    rows = _sample(kernel, data, max_rows, rng)
    K = check_values(kernel, kernel(rows).astype(float))
    worthless = uninformative(K)
    size = float(np.linalg.norm(K))
    # Asymmetry is measured, because a function declared symmetric may not be symmetric.
    asymmetry = float(np.linalg.norm(K - K.T)) / (2 * size) if size else 0.0
    asymmetry = asymmetry if asymmetry > ASYMMETRY_TOLERANCE else 0.0
    eigenvalues = np.linalg.eigvalsh((K + K.T) / 2)[::-1]
    errors, mass, proof = (
        _measured_errors(kernel, rows, n_components, rng) if size else ({}, 0.0, True)
    )
    positive, evidence = _verdict(eigenvalues, asymmetry, kernel.is_symmetric, proof)
    magnitude = np.abs(eigenvalues)
    total = magnitude.sum()
    low_rank = _low_rank_error(K, n_components)
    suggested, advice = _advise(errors, positive, asymmetry, low_rank, n_components)
    if worthless is not None:
        advice = f"The kernel matrix is {worthless}. {advice}"
    return Diagnosis(
        kernel=one_line(kernel),
        n_rows=len(K),
        n_components=n_components,
        eigenvalues=eigenvalues,
        negative_mass=float(-eigenvalues[eigenvalues < 0].sum() / total) if total else 0.0,
        asymmetry=asymmetry,
        rank=int((magnitude > RANK_TOLERANCE * magnitude.max()).sum()) if total else 0,
        is_positive_definite=positive,
        evidence=evidence,
        worthless=worthless,
        total_mass=mass,
        errors=errors,
        low_rank_error=low_rank,
        suggested_method=suggested,
        advice=advice,
    )


def _check_arguments(kernel: Any, n_components: int, max_rows: int) -> None:
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"diagnose takes a kernel object, got {type(kernel).__name__}: wrap a function as "
            "krein.kernels.Custom(f) or Pairwise(f)."
        )
    if n_components < 2 or n_components % 2 or max_rows < 2:
        raise ValueError(
            f"diagnose needs an even n_components of at least 2 and max_rows of at least 2, got "
            f"{n_components!r} and {max_rows!r}."
        )


def _sample(kernel: Kernel, data: Any, max_rows: int, rng: np.random.Generator) -> Any:
    """Return at most `max_rows` objects; a precomputed matrix loses rows and columns."""
    n = count(data)
    if n < 2:
        raise ValueError(f"diagnose needs at least two rows, got {n}.")
    if n <= max_rows:
        return data
    return objects_at(kernel, data, np.sort(rng.choice(n, max_rows, replace=False)))


def _verdict(
    eigenvalues: NDArray, asymmetry: float, declared: bool, proof: bool
) -> tuple[bool, str]:
    """Return whether the kernel is positive definite, and the reason."""
    largest = float(np.abs(eigenvalues).max())
    # The eigenvalues of an n × n matrix carry an error of about n · eps · ‖K‖.
    tolerance = 10 * len(eigenvalues) * np.finfo(float).eps * largest
    lowest = float(eigenvalues[-1])
    if asymmetry:
        return False, "not symmetric, although declared so" if declared else "not symmetric"
    if proof:
        return True, "its spectral measure is positive (Bochner)"
    if lowest < -max(tolerance, RANK_TOLERANCE * largest):
        return False, f"eigenvalue {lowest:.3g} against a largest of {eigenvalues[0]:.3g}"
    return True, f"no eigenvalue below {lowest:.1g} on these rows; no proof beyond them"


def _measured_errors(
    kernel: Kernel, rows: Any, n_components: int, rng: np.random.Generator
) -> tuple[dict[str, float], float | None, bool]:
    """Return the errors of feature maps, the mass, and True if the measure is positive."""
    errors: dict[str, float] = {}
    mass, proof = None, False
    if not hasattr(rows, "shape") or rows.ndim != 2 or not hasattr(rows, "dtype"):
        return errors, mass, proof
    on_sphere = bool(np.all(np.abs(row_norms(rows) - 1) < UNIT_TOLERANCE))
    maps: list[RandomMap] = []
    if on_sphere or not kernel.traits.unit_rows:
        maps.append(RandomFourier(kernel, n_components, random_state=rng))
    if on_sphere:
        maps.append(RandomGegenbauer(kernel, n_components, normalize=False, random_state=rng))
    for features in maps:
        try:
            features.fit(rows)
        except (NoMeasureError, InfiniteMassError):
            continue
        draws = [approximation_error(features, rows)]
        for _ in range(N_DRAWS - 1):
            # The measure is found once; only the draws are repeated.
            features._draw(rows, rng)
            draws.append(approximation_error(features, rows))
        errors[type(features).__name__] = float(np.mean(draws))
        mass = features.total_mass_ if mass is None else mass
        if isinstance(features, RandomFourier):
            proof = kernel.traits.has_closed_form and features.measure_.is_positive
    return errors, mass, proof


def _low_rank_error(K: NDArray, rank: int) -> float:
    values = np.linalg.svd(K, compute_uv=False)
    total = float(np.sqrt(np.sum(values**2)))
    return float(np.sqrt(np.sum(values[rank:] ** 2))) / total if total else 0.0


def _advise(
    errors: dict[str, float], positive: bool, asymmetry: float, low_rank: float, width: int
) -> tuple[str, str]:
    """Return the method with the least error, and a sentence of advice."""
    kind = (
        "positive definite: any linear model on the features is right"
        if positive
        else "not symmetric: use transform for the first and transform_dual for the second argument"
        if asymmetry
        else "indefinite: a plain linear model on the features uses |k|, the signs are in form_"
    )
    if not errors:
        return "Nystrom", f"No spectral measure applies here; the kernel is {kind}."
    best = min(errors, key=lambda name: errors[name])
    note = f"{best} reaches an error of {errors[best]:.2g} at width {width}"
    if low_rank < errors[best] / 10:
        note += f", but the matrix is nearly of low rank: Nyström could reach {low_rank:.1g}"
    return best, f"{note}; the kernel is {kind}."


def approximation_error(features: FeatureMap, X: Any, Y: Any = None) -> float:
    """Return the relative Frobenius error ``‖K̃ − K‖ / ‖K‖`` of a fitted feature map.

    Parameters
    ----------
    features : FeatureMap
        A fitted feature map.
    X : array-like, sparse matrix or sequence of objects
        First argument of the kernel.
    Y : array-like, sparse matrix or sequence of objects, default=None
        Second argument; None means X.

    Returns
    -------
    float
        The error. The matrices are compared in row blocks.

    Examples
    --------
    >>> import numpy as np, krein
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> features = krein.RandomFourier(n_components=256, random_state=0).fit(X)
    >>> krein.approximation_error(features, X) < 0.1
    True
    """
    data = _sliceable(X)
    right = data if Y is None else _sliceable(Y)
    n, m = count(data), count(right)
    dual = features.transform_dual(features._second(right) if Y is None else right)
    error = size = 0.0
    for rows in row_blocks(n, 8 * max(m, 1)):
        block = data[rows]
        exact = features.exact_kernel(block, right)
        # As an array, because the user may have configured scikit-learn to return data frames.
        Z = np.asarray(features.transform(block))
        error += float(np.sum((Z @ dual.T - exact) ** 2, dtype=float))
        size += float(np.sum(exact**2, dtype=float))
    if size == 0:
        raise ValueError("The kernel is zero on these rows, so no relative error exists.")
    return float(np.sqrt(error / size))


def alignment(
    kernel_or_features: Kernel | FeatureMap, X: Any, y: Any, centered: bool = False
) -> float:
    """Return the alignment of a kernel with classes, ``⟨K, T⟩ / (‖K‖ ‖T‖)``.

    ``T = Y Yᵀ`` has the entry 1 for two rows of one class and ``−1/(c − 1)`` for rows of different
    classes; for two classes the alignment is ``yᵀKy / (n ‖K‖)``. It costs the kernel matrix.

    Parameters
    ----------
    kernel_or_features : Kernel or fitted FeatureMap
        The kernel, or the map whose approximate kernel counts.
    X : array-like, sparse matrix or sequence of objects
        The data.
    y : array-like of shape (n,)
        The classes.
    centered : bool, default=False
        True centres K and T first (Cortes, Mohri and Rostamizadeh, JMLR 2012).

    Examples
    --------
    >>> import krein
    >>> round(krein.alignment(krein.kernels.Gaussian(), [[0.0], [0.1], [3.0]], [0, 0, 1]), 2)
    0.74
    """
    found, codes = class_codes("alignment", count(_sliceable(X)), y)
    is_map = isinstance(kernel_or_features, FeatureMap)
    K = kernel_or_features.approximate_kernel(X) if is_map else kernel_or_features(X)
    T = (len(found) * (codes[:, None] == codes) - 1.0) / (len(found) - 1)
    if centered:
        K, T = (A - A.mean(axis=0) - A.mean(axis=1)[:, None] + A.mean() for A in (K, T))
    size = float(np.linalg.norm(K) * np.linalg.norm(T))
    return float(np.sum(K * T)) / size if size else 0.0


def _sliceable(X: Any) -> Any:
    """Return X in a form whose rows can be sliced."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return X if hasattr(X, "shape") else list(X)
