"""The features of data as a learner sees them: a fitted map with its form, never X itself."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from .._validation import outside_level
from ..features import FeatureMap, Nystrom
from ..forms import Form, Signature
from ..kernels import Gaussian, Kernel
from ..kernels.custom import is_precomputed
from ..kernels.errors import BadPairError, counted_from, placed
from ..rows import count, dense, in_double, left_of, right_of
from ..streaming.survey import Rows
from ._targets import Targets

Array = NDArray[np.floating]

# A block of features is large enough for BLAS and small compared with the memory of a machine.
FEATURE_BYTES = 3 * 2**23


@dataclass(frozen=True)
class Representation:
    """A fitted map Z with its form M.

    Attributes
    ----------
    features : transformer
        The fitted map.
    form : krein.forms.Form
        M; the identity for a map without a form.
    is_two_sided : bool
        True if ``k(x, y) ≠ k(y, x)``: then no learner that uses `transform` alone sees the whole
        kernel.
    is_doubled : bool
        True if the features of a row are [Z, Z_dual], which a learner of both sides needs if the
        map has no form. With a form, Z_dual = Z Mᵀ and Z is enough.
    is_supervised : bool
        True if the map was fitted with targets. The features of a row whose target the map has seen
        are not those of a new row, so each fold needs a map of its own.
    is_exact : bool
        True if the features are exact on the rows of the fit: a Nyström map with all rows as
        landmarks, of full rank, and a kernel that is positive definite on these rows.
    n_bytes : int
        The size of a feature.
    """

    features: Any
    form: Form
    is_two_sided: bool = False
    is_doubled: bool = False
    is_supervised: bool = False
    is_exact: bool = False
    n_bytes: int = 8

    @classmethod
    def of(cls, features: Any, sample: Any) -> Representation:
        """Return the representation of a map that was fitted on `sample`."""
        last = last_step(features)
        form, is_two_sided = getattr(last, "form_", None), isinstance(last, FeatureMap)
        if form is not None:
            is_two_sided = not form.is_symmetric
        elif is_two_sided:
            form = Signature(np.ones(last._n_features_out))
        else:
            form = Signature(np.ones(_features(features, sample[:1]).shape[1]))
        is_single = getattr(sample, "dtype", None) == np.float32
        n_bytes = _features(features, sample[:1]).dtype.itemsize if is_single else 8
        return cls(features, form, is_two_sided, n_bytes=n_bytes)

    def of_both_sides(self) -> Representation:
        """Return the representation for a learner that uses both sides of the kernel."""
        return replace(self, is_doubled=self.is_two_sided and self.form.is_symmetric)

    @property
    def width(self) -> int:
        """The number of features."""
        return 2 * self.form.width if self.is_doubled else self.form.width

    @property
    def block_rows(self) -> int:
        """The number of rows whose features are computed at a time."""
        return max(256, min(8192, FEATURE_BYTES // (self.n_bytes * max(1, self.width))))

    def transform(self, X: Any, start: int = 0) -> Array:
        """Return Z(X), or both sides of it.

        Parameters
        ----------
        X : rows, as the map takes them
        start : int, default=0
            The index of the first row in the data, for error messages.
        """
        with counted_from(start):
            Z = _features(self.features, X)
            return np.concatenate([Z, self.transform_dual(X)], axis=1) if self.is_doubled else Z

    def transform_dual(self, X: Any) -> Array:
        """Return the features of rows as the second argument of the kernel."""
        X = _before_last(self.features, right_of(X))
        return np.asarray(dense(last_step(self.features).transform_dual(X)))

    def missing(self, X: Any, Z: Array) -> Array:
        """Return ``k(x, x) − ‖Z(x)‖²`` of rows, shape (n,): what exact features lack elsewhere."""
        rows = _before_last(self.features, _seen(self.features, X))
        values = last_step(self.features).kernel_.diag(rows)
        return np.maximum(values - np.square(Z).sum(axis=1), 0.0)

    def warn_if_two_sided(self, owner: str, instead: str) -> None:
        """Warn that a learner that uses `transform` alone ignores the direction of the kernel.

        Parameters
        ----------
        owner : str
            The name of the learner.
        instead : str
            The name of the learner that uses both sides.
        """
        if self.is_two_sided:
            warnings.warn(
                f"{owner} uses transform(X) alone, but k(x, y) differs from k(y, x) for the kernel "
                f"of {type(self.features).__name__}: the learner does not see the direction. Its "
                "penalty is that of the kernel's symmetric part, or of |k| if the map has no form. "
                f"{instead} learns from both sides.",
                UserWarning,
                stacklevel=outside_level(),
            )


class Outputs:
    """The function ``Z(X) coef`` of rows X.

    A Nyström map multiplies the kernel values by one matrix of q columns, which is cheaper than
    computing the p features first.

    Parameters
    ----------
    representation : Representation
    coef : ndarray of shape (p, q)
    """

    def __init__(self, representation: Representation, coef: Array):
        self.representation, self.coef = representation, coef
        last = last_step(representation.features)
        is_linear = not representation.is_doubled and getattr(last, "is_linear", False)
        self._weights = last.weights_of(coef) if is_linear else None

    def __call__(self, X: Any, start: int = 0) -> Array:
        """Return the outputs of rows, shape (n, q).

        Parameters
        ----------
        X : rows, as the map takes them
        start : int, default=0
            The index of the first row in the data, for error messages.
        """
        # The sum over landmarks cancels digits, and single precision has too few digits for that.
        if self._weights is None or getattr(X, "dtype", None) == np.float32:
            Z = self.representation.transform(X, start)
            return Z @ self.coef.astype(Z.dtype)
        features = self.representation.features
        with counted_from(start):
            rows = _before_last(features, _seen(features, X))
            return last_step(features).weighted_values(rows, self._weights)


def last_step(features: Any) -> Any:
    """Return a map, or the last step of a Pipeline; for a frozen map, the map itself."""
    last = features[-1] if hasattr(features, "steps") else features
    return last.estimator if isinstance(last, FrozenEstimator) else last


def _before_last(features: Any, X: Any) -> Any:
    """Return the rows as the last step of a Pipeline sees them; other maps see X itself.

    A slice of the Pipeline would check that its own last step is fitted. The check fails for a step
    that learns nothing.
    """
    for _, step in getattr(features, "steps", ())[:-1]:
        X = X if step is None or step == "passthrough" else step.transform(X)
    return X


def _features(features: Any, X: Any) -> Array:
    """Return the features of rows as an array, also if the map returns a data frame."""
    return np.asarray(dense(features.transform(_seen(features, X))))


def _seen(features: Any, X: Any) -> Any:
    """Return the rows as a map takes them: the first side of `Sides`, unless it asks for both."""
    first = features.steps[0][1] if hasattr(features, "steps") else features
    return X if getattr(first, "takes_sides", False) else left_of(X)


@dataclass(frozen=True)
class Recipe:
    """How a learner makes its map.

    Attributes
    ----------
    owner : str
        The name of the learner, for error messages.
    kernel : Kernel, "precomputed" or None
    n_components : int
    features : transformer or None
        Used in place of ``Nystrom(kernel, n_components)`` if it is not None.
    random_state : int, RandomState, Generator or None
        Seeds the parts of the map that have no seed of their own.
    both_sides : bool
        True if the learner uses both sides of a kernel that is not symmetric.
    """

    owner: str
    kernel: Kernel | str | None
    n_components: int
    features: Any = None
    random_state: Any = None
    both_sides: bool = False

    @property
    def pairwise(self) -> bool:
        """True if the data are a square matrix of kernel values."""
        if self.features is None:
            return is_precomputed(self.kernel)
        is_map = hasattr(self.features, "fit") and not isinstance(self.features, type)
        return is_map and bool(get_tags(self.features).input_tags.pairwise)

    @property
    def is_directed(self) -> bool:
        """True if the data are a square matrix of kernel values that is not symmetric."""
        kernel = self.kernel
        if self.features is not None:
            kernel = getattr(last_step(self.features), "kernel", None)
        return self.pairwise and isinstance(kernel, Kernel) and not kernel.is_symmetric

    @property
    def kernel_of_rows(self) -> Any:
        """The kernel that sees the rows first, if there is one."""
        features = self.features
        if hasattr(features, "steps"):
            features = features.steps[0][1]
        return self.kernel if features is None else getattr(features, "kernel", None)

    def takes_matrix(self, X: Any) -> bool:
        """Return True if X is a matrix of numbers for the map, False if it holds objects."""
        kernel = self.kernel_of_rows
        return not isinstance(kernel, Kernel) or kernel.takes_matrix(X)

    def depends_on_units(self, X: Any) -> bool:
        """Return True if a kernel compares the columns of X as they are, in their units."""
        in_front = len(getattr(self.features, "steps", ())) > 1
        has_kernel = self.features is None or hasattr(self.features, "kernel")
        return has_kernel and not in_front and not self.pairwise and self.takes_matrix(X)

    def fit(self, sample: Rows, targets: Targets, rng: np.random.Generator) -> Representation:
        """Fit a copy of the map on rows, with their targets if the map needs targets.

        The map is fitted in double precision: in single precision the rounding errors of kernel
        values exceed the small eigenvalues of smooth kernels, which small penalties need.

        Parameters
        ----------
        sample : Rows
        targets : Numbers or Classes
        rng : Generator
            Seeds the parts of the map that have no seed, if the learner has one.
        """
        features = self._copy(sample.X)
        if self.random_state is not None or self.features is None:
            _seed(features, rng)
        seen = _seen(features, sample.X)
        sample = sample._replace(X=in_double(seen))
        with placed(sample.places, sample.places):
            features, supervised = _fitted(features, sample, targets)
        found = replace(
            Representation.of(features, seen),
            is_supervised=supervised,
            is_exact=_is_exact(features, count(sample.X)),
        )
        return found.of_both_sides() if self.both_sides else found

    def _copy(self, sample: Any) -> Any:
        if self.features is None:
            kernel = scaled_gaussian(sample) if self.kernel is None else self.kernel
            return Nystrom(kernel, self.n_components)
        if not hasattr(self.features, "transform") or isinstance(self.features, type):
            raise ValueError(
                f"{self.owner} needs features to be a transformer, e.g. "
                f"krein.RandomFourier(kernel), or a Pipeline that ends in one; got "
                f"{self.features!r}."
            )
        return clone(self.features)


def _fitted(features: Any, sample: Rows, targets: Targets) -> tuple[Any, bool]:
    """Return the map, fitted on rows, and True if it was fitted with their targets.

    A map gets targets if it says that it requires them, or if it can be fitted only with them. A
    frozen map learns nothing; its `fit` has an argument y all the same.
    """
    if isinstance(features, FrozenEstimator):
        return features, False
    parts = [features, *features.get_params(deep=True).values()]
    if any(map(_requires_targets, parts)):
        features.fit(sample.X, targets.for_map(sample.y))
        return features, True
    spare = clone(features)
    try:
        features.fit(sample.X)
    except BadPairError:
        raise
    except (TypeError, ValueError) as error:
        try:
            spare.fit(sample.X, targets.for_map(sample.y))
        except (TypeError, ValueError):
            raise error from None
        return spare, True
    return features, False


def _is_exact(features: Any, n_rows: int) -> bool:
    """Return True if a map is exact on the rows of its fit, and its kernel positive definite."""
    last = features[-1] if hasattr(features, "steps") else features
    if not isinstance(last, Nystrom) or last._precomputed or last.own_values_ is not None:
        return False
    is_whole = min(count(last.landmarks_), last.n_components_) >= n_rows
    form = getattr(last, "form_", None)
    return is_whole and form is not None and bool(np.all(form.signs > 0))


def _requires_targets(part: Any) -> bool:
    """Return True if a map, or a part of one, says that its `fit` requires y."""
    has_tags = hasattr(part, "fit") and hasattr(part, "__sklearn_tags__")
    return has_tags and not isinstance(part, type) and get_tags(part).target_tags.required


def scaled_gaussian(X: Any) -> Gaussian:
    """Return a Gaussian as wide as the data, σ² = d · var / 2: scikit-learn's gamma="scale"."""
    if sparse.issparse(X):
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        X = np.asarray(X)
        variance = float(X.var(dtype=float)) if X.size else 0.0
    return Gaussian(float(np.sqrt(X.shape[-1] * (variance if variance > 0 else 1.0) / 2)))


def _seed(features: Any, rng: np.random.Generator) -> None:
    """Give every part of a map that has no random state a seed."""
    parameters = features.get_params(deep=True)
    seeds = {
        name: int(rng.integers(2**31))
        for name in sorted(parameters)
        if (name == "random_state" or name.endswith("__random_state")) and parameters[name] is None
    }
    if seeds:
        features.set_params(**seeds)
