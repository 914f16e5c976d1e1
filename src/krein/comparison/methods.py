"""The methods that are compared: one line of `METHODS` for each."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..features import FeatureMap, Nystrom, RandomFourier, RandomGegenbauer
from ..kernels import Kernel
from ..rivals import (
    ConcomitantRankOrder,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorizedProjection,
    TensorSketch,
)
from ..spectral import MixtureFourier
from .sample import Sample

# Number of rows on which a method of the papers is tried.
N_TRIED = 50

Build = Callable[[Kernel, int, int], FeatureMap]


@dataclass(frozen=True)
class Method:
    """A way to make features of a kernel.

    Parameters
    ----------
    name : str
        The name in the table.
    build : callable
        ``build(kernel, width, seed)`` returns the map, not fitted.
    data_dependent : bool
        True if the map is fitted to kernel values. False if only the range of the data matters.
    unbiased : bool
        True if the mean of the approximate kernel over all seeds is the kernel. If a measure was
        found by a linear programme, the mean is the kernel of the measure, which is close to the
        kernel on the range of the data.
    serves : callable, default=None
        ``serves(sample)`` returns False if the method cannot take the kernel of a `Sample` on its
        rows, which are vectors. None means that the method takes every kernel of vectors.
    takes_objects : bool, default=False
        True if the method takes objects and matrices of kernel values, too.
    is_slow : bool, default=False
        True if fits take seconds. `compare` then measures the method after all others, so that
        `max_seconds` leaves out no fast method in favour of a slow one.

    Examples
    --------
    >>> import numpy as np, krein
    >>> from krein.comparison import Method
    >>> thin = Method(
    ...     "landmarks = rank",
    ...     lambda k, width, seed: krein.Nystrom(k, width, n_landmarks=width, random_state=seed),
    ...     data_dependent=True,
    ...     unbiased=False,
    ... )
    >>> X = np.random.default_rng(0).random((90, 2))
    >>> kernel = krein.kernels.Gaussian()
    >>> found = krein.compare(kernel, X, ["Nystrom", thin], widths=8, random_state=0)
    >>> [row.method for row in found.rows]
    ['Nystrom', 'landmarks = rank']
    """

    name: str
    build: Build
    data_dependent: bool
    unbiased: bool
    serves: Callable[[Sample], bool] | None = None
    takes_objects: bool = False
    is_slow: bool = False

    def can_serve(self, sample: Sample) -> bool:
        """Return True if the method can take the kernel and the rows."""
        if not sample.has_vectors:
            return self.takes_objects
        return self.serves is None or self.serves(sample)


def _stationary(sample: Sample) -> bool:
    on_domain = sample.on_sphere or not sample.kernel.traits.unit_rows
    return on_domain and sample.kernel.is_stationary(sample.rows)


def _symmetric_stationary(sample: Sample) -> bool:
    return sample.kernel.is_symmetric and sample.kernel.is_stationary(sample.rows)


def _zonal(sample: Sample) -> bool:
    return sample.on_sphere and sample.kernel.zonal_profile is not None


def _fourier(kernel: Kernel, width: int, seed: int, **options: Any) -> FeatureMap:
    return RandomFourier(kernel, width, random_state=seed, **options)


def _calibrated(kernel: Kernel, width: int, seed: int) -> FeatureMap:
    return _fourier(kernel, width, seed, weights="calibrated")


def _gegenbauer(kernel: Kernel, width: int, seed: int) -> FeatureMap:
    return RandomGegenbauer(kernel, width, normalize=False, random_state=seed)


def _mixture(kernel: Kernel, width: int, seed: int) -> FeatureMap:
    return MixtureFourier(kernel, width, random_state=seed)


def _nystrom(kernel: Kernel, width: int, seed: int) -> FeatureMap:
    return Nystrom(kernel, width, random_state=seed)


def _rival(kind: type[FeatureMap], unbiased: bool) -> Method:
    """Return a method of the papers, which serves the kernels that it can be fitted to."""

    def build(kernel: Kernel, width: int, seed: int) -> FeatureMap:
        return kind(kernel, width, random_state=seed)

    def serves(sample: Sample) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                build(sample.kernel, 2, 0).fit(sample.rows[:N_TRIED])
            except (TypeError, ValueError):
                return False
        return True

    return Method(kind.__name__, build, False, unbiased, serves)


# Name, map, data-dependent, unbiased, and which kernels and rows the method can take.
METHODS = (
    Method("RandomFourier", _fourier, False, True, _stationary),
    Method("RandomFourier calibrated", _calibrated, True, False, _stationary),
    Method("RandomGegenbauer", _gegenbauer, False, True, _zonal),
    Method("MixtureFourier", _mixture, True, False, _symmetric_stationary, is_slow=True),
    Method("Nystrom", _nystrom, True, False, takes_objects=True),
    _rival(SphericalRandomFeatures, unbiased=False),
    _rival(RandomMaclaurin, unbiased=True),
    _rival(TensorSketch, unbiased=True),
    _rival(TensorizedProjection, unbiased=True),
    _rival(ConcomitantRankOrder, unbiased=False),
)


def chosen(methods: Any, sample: Sample) -> list[Method]:
    """Return the methods that the argument `methods` of `compare` means.

    Parameters
    ----------
    methods : "auto", str, Method or sequence of str and Method
    sample : Sample
        The kernel and the rows, which decide what "auto" means.
    """
    if isinstance(methods, str) and methods == "auto":
        return [method for method in METHODS if method.can_serve(sample)]
    listed = [methods] if isinstance(methods, str | Method) else methods
    if not isinstance(listed, Sequence) or not len(listed):
        raise ValueError(
            "compare needs methods to be 'auto', or names of methods or krein.comparison.Method "
            f"objects, got {methods!r}."
        )
    found = [_named(one) for one in listed]
    names = [method.name for method in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"methods contains {twice[0]!r} twice: pass each method once.")
    return found


def _named(given: Any) -> Method:
    if isinstance(given, Method):
        return given
    by_name = {method.name: method for method in METHODS}
    if isinstance(given, str) and given in by_name:
        return by_name[given]
    near = difflib.get_close_matches(str(given), by_name, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    known = ", ".join(map(repr, by_name))
    raise ValueError(f"compare knows no method {given!r}.{hint} The methods are {known}.")
