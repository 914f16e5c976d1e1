"""Diagnosis of a kernel on data: is it positive definite, and which features suit it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._hashing import as_generator
from ._validation import ArgumentError, check_count, unit_of
from .comparison.advice import Advice
from .comparison.compare import N_SEEDS
from .comparison.measurement import Measurement, measurements
from .comparison.methods import METHODS
from .comparison.sample import Sample, checked
from .comparison.trials import Trial, run_trials
from .features.base import RandomMap
from .kernels import Kernel, NoMeasureError
from .kernels.errors import kernel_name, placed
from .kernels.memory import Memory, Remembered
from .kernels.sampling import objects_at
from .kernels.values import check_values, uninformative
from .measures import InfiniteMassError
from .plots import plot_spectrum
from .rows import count

# Asymmetry and eigenvalues below these shares are rounding errors.
ASYMMETRY_TOLERANCE = 1e-8
RANK_TOLERANCE = 1e-8
# The methods of `krein.compare` that a diagnosis measures.
CANDIDATES = ("RandomFourier", "RandomGegenbauer", "Nystrom")


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
        Number of singular values of the kernel matrix that exceed 1e-8 of the largest, and the
        rounding errors of a matrix in single precision.
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
        Relative error on held-out rows of each feature map that applies, as in `compare`.
    widths : dict
        The width of each of these maps: `n_components`. If the rows are few, the map with landmarks
        has as many landmarks as rows that it is fitted on, or half as many if these are better.
    low_rank_error : float
        Least relative error on these rows of any map with `n_components` features.
    suggested_method : str
        The feature map with the least error, or "Nystrom" if no map was measured.
    advice : str
        The recommendation of `compare` for these feature maps, and what the kernel needs.

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
    widths: dict[str, int]
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
            (f"error of {name}, width {self.widths[name]}", f"{error:.3g}")
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
    kernel: Kernel | str,
    X: Any,
    *,
    n_components: int = 256,
    max_rows: int = 1000,
    random_state: Any = None,
) -> Diagnosis:
    """Examine a kernel on data, or on a sample of the data.

    Parameters
    ----------
    kernel : Kernel or "precomputed"
        Any kernel, symmetric or not. "precomputed" means that X is a square matrix of values.
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
    _check_sizes(n_components, max_rows)
    rng = as_generator(random_state)
    kernel, data = checked("diagnose", kernel, X)
    kernel = kernel.resolved(data)
    sample = Sample.of(kernel, data, max_rows, N_SEEDS, rng)
    places = np.arange(count(data)) if count(data) <= max_rows else sample.places
    K, precision = _values(kernel, data, places)
    worthless = uninformative(K)
    in_unit = K * unit_of(float(np.abs(K).max()))  # whose squares neither vanish nor overflow
    size = float(np.linalg.norm(in_unit))
    asymmetry = _asymmetry(in_unit, precision)
    eigenvalues = np.linalg.eigvalsh((K + K.T) / 2)[::-1]
    singular = np.linalg.svd(in_unit, compute_uv=False)
    # Rounding of the values to this precision moves eigenvalues and singular values by this much,
    # relative to the largest one.
    noise = max(RANK_TOLERANCE, precision * size / singular[0]) if size else 0.0
    trials = _trials(_remembering(sample, K, places), n_components) if size else []
    mass, proof = _mass(kernel, sample, trials)
    positive, evidence = _verdict(eigenvalues, noise, asymmetry, kernel.is_symmetric, proof)
    rows = _best(measurements(trials, METHODS))
    advice = Advice.of(rows)
    said = [
        *([] if worthless is None else [f"The kernel matrix is {worthless}."]),
        advice.sentence,
        *_unmeasured(rows, len(sample), is_zero=not size),
        f"The kernel is {_kind(positive, asymmetry, kernel.is_symmetric)}.",
    ]
    return Diagnosis(
        kernel=kernel_name(kernel),
        n_rows=len(K),
        n_components=n_components,
        eigenvalues=eigenvalues,
        negative_mass=_negative_mass(eigenvalues),
        asymmetry=asymmetry,
        rank=int((singular > noise * singular[0]).sum()),
        is_positive_definite=positive,
        evidence=evidence,
        worthless=worthless,
        total_mass=mass,
        errors={row.method: row.error for row in rows if row.is_measured},
        widths={row.method: row.width for row in rows if row.is_measured},
        low_rank_error=float(np.linalg.norm(singular[n_components:])) / size if size else 0.0,
        suggested_method=advice.method or "Nystrom",
        advice=" ".join(said),
    )


def _check_sizes(n_components: Any, max_rows: Any) -> None:
    if check_count("diagnose", "n_components", n_components, 2) % 2:
        raise ArgumentError("diagnose", "n_components", "even", n_components)
    check_count("diagnose", "max_rows", max_rows, 2)


def _values(
    kernel: Kernel, data: Any, places: NDArray[np.intp]
) -> tuple[NDArray[np.float64], float]:
    """Return the kernel matrix of the rows at some places, and the precision of its values."""
    rows = data if len(places) == count(data) else objects_at(kernel, data, places)
    with placed(places, places):
        K = kernel(rows)
        return check_values(kernel, K.astype(float)), float(np.finfo(K.dtype).eps)


def _asymmetry(K: NDArray, precision: float) -> float:
    """Return ``‖(K − Kᵀ)/2‖ / ‖K‖``, or 0 if it is a rounding error.

    Asymmetry is measured, because a function declared symmetric may not be symmetric.
    """
    size = float(np.linalg.norm(K))
    found = float(np.linalg.norm(K - K.T)) / (2 * size) if size else 0.0
    return found if found > max(ASYMMETRY_TOLERANCE, precision) else 0.0


def _negative_mass(eigenvalues: NDArray) -> float:
    total = float(np.abs(eigenvalues).sum())
    return float(np.abs(eigenvalues[eigenvalues < 0]).sum()) / total if total else 0.0


def _remembering(sample: Sample, K: NDArray, places: NDArray[np.intp]) -> Sample:
    """Return a sample of objects with the kernel values K of the rows at `places` in memory."""
    if sample.kernel.is_pairwise or sample.kernel.takes_matrix(sample.rows):
        return sample
    memory = Memory(sample.rows)
    memory.store(K if places is sample.places else K[np.ix_(sample.places, sample.places)])
    return replace(sample, kernel=Remembered(sample.kernel, memory))


def _verdict(
    eigenvalues: NDArray, noise: float, asymmetry: float, declared: bool, proof: bool
) -> tuple[bool, str]:
    """Return whether the kernel is positive definite, and the reason.

    Eigenvalues above ``-noise`` times the largest magnitude may be rounding errors.
    """
    largest = float(np.abs(eigenvalues).max())
    # The eigenvalues of an n × n matrix carry an error of about n · eps · ‖K‖.
    tolerance = 10 * len(eigenvalues) * np.finfo(float).eps * largest
    lowest = float(eigenvalues[-1])
    if asymmetry:
        return False, "not symmetric, although declared so" if declared else "not symmetric"
    if proof:
        return True, "its spectral measure is positive (Bochner)"
    if lowest < -max(tolerance, noise * largest):
        return False, f"eigenvalue {lowest:.3g} against a largest of {eigenvalues[0]:.3g}"
    return True, f"no eigenvalue below {lowest:.1g} on these rows; no proof beyond them"


def _trials(sample: Sample, width: int) -> list[Trial]:
    """Return the trials of `compare` for the candidates, or none if there are few rows."""
    if len(sample) < 2 * N_SEEDS:
        return []
    methods = [method for method in METHODS if method.name in CANDIDATES]
    methods = [method for method in methods if method.can_serve(sample)]
    # Nyström has at most one landmark per row. If nearly all rows are landmarks of an indefinite
    # kernel, small eigenvalues spoil new rows, and half of the landmarks are better.
    most = {min(width, sample.n_fitted), min(width, max(1, sample.n_fitted // 2))}
    widths = {"Nystrom": sorted(most)}
    return [
        trial
        for method in methods
        for trial in run_trials(sample, [method], widths.get(method.name, [width]))
    ]


def _best(rows: Sequence[Measurement]) -> list[Measurement]:
    """Return the most accurate measurement of each method."""
    found: dict[str, Measurement] = {}
    for row in rows:
        old = found.get(row.method)
        if old is None or not old.is_measured or row.error < old.error:
            found[row.method] = row
    return list(found.values())


def _unmeasured(rows: Sequence[Measurement], n_distinct: int, is_zero: bool) -> list[str]:
    """Return why there is no error of Nyström, which serves every kernel; empty if there is one."""
    if is_zero:
        return ["The kernel is zero on these rows, so no relative error exists."]
    if n_distinct < 2 * N_SEEDS:
        return [f"A measurement needs at least {2 * N_SEEDS} distinct rows, got {n_distinct}."]
    if not any(row.is_measured for row in rows):
        return []
    last = rows[-1]
    is_missing = last.method == "Nystrom" and not last.is_measured
    return [f"{last.method} was not measured: {last.note}"] if is_missing else []


def _mass(kernel: Kernel, sample: Sample, trials: Sequence[Trial]) -> tuple[float | None, bool]:
    """Return the mass of the spectrum, and True if the measure proves that k is definite."""
    on_domain = sample.on_sphere or not kernel.traits.unit_rows
    if kernel.traits.has_closed_form and sample.has_vectors and on_domain:
        try:
            measure = kernel.measure(sample.rows.shape[1])
        except (NoMeasureError, InfiniteMassError):  # as the maps that need a measure say
            return None, False
        return measure.total_mass, measure.is_positive
    maps = [trial.features for trial in trials if isinstance(trial.features, RandomMap)]
    return (maps[0].total_mass_ if maps else None), False


def _kind(positive: bool, asymmetry: float, declared: bool) -> str:
    """Return what kind of kernel it is, and what follows for its features."""
    if positive:
        return "positive definite: any linear model on the features is right"
    if asymmetry and declared:
        return "not symmetric, although declared so: declare symmetric=False, and diagnose it again"
    if asymmetry:
        return (
            "not symmetric: use transform for the first and transform_dual for the second argument"
        )
    return "indefinite: a plain linear model on the features uses |k|, the signs are in form_"
