"""Small checks shared by kernels, measures and samplers; each failure is one sentence."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Rows count as unit rows within this distance of norm 1: float32 data normalised in float32
# are off by 1e-7, data rounded to three digits by 1e-3 and those are not on the sphere.
UNIT_TOLERANCE = 1e-4


def check_positive(owner: object, name: str, value: Any, also: str = "") -> float:
    """Return `value` as a float if it is a finite number above zero, else raise.

    `also` is what the sentence names beside a number, for instance "or 'median'".
    """
    ok = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not ok or not np.isfinite(value) or value <= 0:
        raise ValueError(
            f"{type(owner).__name__} needs {name} to be a finite number above 0"
            f"{f' {also}' if also else ''}, got {value!r}."
        )
    return float(value)


def check_finite(owner: object, name: str, value: Any) -> float:
    """Return `value` as a float if it is a finite number, else raise."""
    if not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise ValueError(
            f"{type(owner).__name__} needs {name} to be a finite number, got {value!r}."
        )
    return float(value)


def check_degree(owner: object, value: Any) -> int:
    """Return a degree as an int if it is a whole number of at least 0, else raise."""
    number = float(value) if isinstance(value, numbers.Real) else -1.0
    if not number.is_integer() or number < 0:
        raise ValueError(
            f"{type(owner).__name__} needs degree to be a whole number ≥ 0, got {value!r}."
        )
    return int(number)


def check_workers(owner: object, value: Any) -> int:
    """Return a number of threads if it is a whole number ≥ 1, or -1 for all cores, else raise."""
    if not isinstance(value, numbers.Integral) or (value < 1 and value != -1):
        raise ValueError(
            f"{type(owner).__name__} needs workers to be a whole number ≥ 1, or -1 for all cores, "
            f"got {value!r}."
        )
    return int(value)


def check_choice(owner: object, name: str, value: Any, choices: tuple) -> Any:
    """Return `value` if it is one of `choices`, else raise a sentence listing them."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(
            f"{type(owner).__name__} needs {name} to be one of {listed}, got {value!r}."
        )
    return value


def check_vector(owner: object, name: str, value: Any, dim: int) -> NDArray[np.floating]:
    """Return `value` as a finite vector of length `dim`; a scalar is repeated."""
    vector = np.asarray(value, dtype=float)
    if vector.ndim == 0:
        vector = np.full(dim, float(vector))
    if vector.shape != (dim,) or not np.all(np.isfinite(vector)):
        raise ValueError(
            f"{type(owner).__name__} needs {name} to be a finite number, or one for each of the "
            f"data's {dim} columns, got {value!r}."
        )
    return vector


def check_unit_rows(owner: object, norms: NDArray, cure: str) -> None:
    """Raise if a row's norm differs from 1 by more than `UNIT_TOLERANCE`."""
    off = np.abs(norms - 1) > UNIT_TOLERANCE
    if np.any(off):
        row = int(np.argmax(off))
        raise ValueError(
            f"{type(owner).__name__} is defined on unit rows, but row {row} has norm "
            f"{float(norms[row]):.4g}. {cure}"
        )


# What a parameter that is None or a name stands for, as something with parameters of its own.
INSTEAD = {"kernel": "kernel=krein.kernels.Gaussian()", "features": "features=krein.Nystrom()"}


class NestedParameters:
    """Estimators whose parameters have parameters, which exist only once they are objects."""

    def set_params(self, **params: Any) -> Any:
        """Set parameters, also those of parameters: ``set_params(kernel__sigma=2.0)``."""
        for name in params:
            outer, _, inner = name.partition("__")
            value = params.get(outer, getattr(self, outer, self))
            if inner and not hasattr(value, "set_params"):
                cure = INSTEAD.get(outer, f"an object as {outer}")
                raise ValueError(
                    f"{type(self).__name__} has {outer}={value!r}, which has no parameter "
                    f"{inner!r}: give it {cure}, or another object with that parameter, first."
                )
        return super().set_params(**params)  # type: ignore[misc]  # the estimator's own


class ByValue:
    """Equality by type and attributes, for objects that hold arrays."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return mine.keys() == theirs.keys() and all(
            np.array_equal(mine[name], theirs[name]) for name in mine
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays are mutable


@contextmanager
def all_or_nothing(estimator: object) -> Iterator[None]:
    """Within, a failure leaves the estimator as it was: nothing is half-fitted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def as_generator(random_state: Any) -> np.random.Generator:
    """Turn scikit-learn's `random_state` into the Generator that is passed down."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(random_state)
