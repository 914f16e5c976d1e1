"""Small checks shared by the whole library; each error message is one sentence."""

from __future__ import annotations

import copy
import functools
import math
import numbers
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import row_norms

# A row counts as a unit row if its norm differs from 1 by at most this. Rows normalised in float32
# differ by 1e-7. Rows rounded to three digits differ by 1e-3 and are not on the sphere.
UNIT_TOLERANCE = 1e-4


def name_of(owner: object) -> str:
    """Return the name that a sentence gives to an object: its class, or the name itself."""
    return owner if isinstance(owner, str) else type(owner).__name__


class ArgumentError(ValueError):
    """An object refuses the value of one of its arguments.

    Parameters
    ----------
    owner : object or str
        The object, or the name that the sentence gives to it.
    argument : str
        The name of the argument.
    needed : str
        What the value has to be.
    value : object
        The value.
    """

    def __init__(self, owner: object, argument: str, needed: str, value: object):
        self.owner = name_of(owner)
        self.argument, self.needed, self.value = argument, needed, value
        super().__init__(self.owner, argument, needed, value)

    def __str__(self) -> str:
        return f"{self.owner} needs {self.argument} to be {self.needed}, got {self.value!r}."


def check_positive(owner: object, name: str, value: Any, also: str = "") -> float:
    """Return `value` as a float if it is a finite number above zero, else raise an error.

    `also` is what the error allows in addition to a number, for instance " or 'median'".
    """
    ok = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not ok or not np.isfinite(value) or value <= 0:
        raise ArgumentError(owner, name, f"a finite number above 0{also}", value)
    return float(value)


def check_finite(owner: object, name: str, value: Any, also: str = "") -> float:
    """Return `value` as a float if it is a finite number, else raise an error.

    `also` is what the error allows beside a number.
    """
    if not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise ArgumentError(owner, name, f"a finite number{also}", value)
    return float(value)


def check_count(owner: object, name: str, value: Any, least: int = 1) -> int:
    """Return `value` as an int if it is an integer of at least `least`, else raise an error."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ArgumentError(owner, name, f"a whole number ≥ {least}", value)
    return int(value)


def check_degree(owner: object, value: Any, name: str = "degree") -> int:
    """Return a degree as an int if it is a whole number of at least 0, else raise an error."""
    number = float(value) if isinstance(value, numbers.Real) else -1.0
    if not number.is_integer() or number < 0:
        raise ArgumentError(owner, name, "a whole number ≥ 0", value)
    return int(number)


def check_n_jobs(owner: object, value: Any) -> int:
    """Return the number of threads if it is a whole number ≥ 1 or -1, else raise an error."""
    if not isinstance(value, numbers.Integral) or (value < 1 and value != -1):
        raise ArgumentError(owner, "n_jobs", "a whole number ≥ 1, or -1 for all cores", value)
    return int(value)


def check_choice(owner: object, name: str, value: Any, choices: tuple) -> Any:
    """Return `value` if it is one of `choices`, else raise an error that lists the choices."""
    if value not in choices:
        raise ArgumentError(owner, name, f"one of {', '.join(map(repr, choices))}", value)
    return value


def check_vector(owner: object, name: str, value: Any, dim: int) -> NDArray[np.floating]:
    """Return `value` as a finite vector of length `dim`; a number is repeated."""
    try:
        vector = np.asarray(value, dtype=float)
    except (TypeError, ValueError):  # entries of different lengths, or no numbers
        vector = np.empty(0)
    if vector.ndim == 0:
        vector = np.full(dim, float(vector))
    if vector.shape != (dim,) or not np.all(np.isfinite(vector)):
        needed = f"a finite number, or one number for each of the {dim} columns of X"
        raise ArgumentError(owner, name, needed, value)
    return vector


def are_unit(X: Any) -> bool:
    """Return True if all rows of a matrix have norm 1, up to `UNIT_TOLERANCE`."""
    return bool(np.all(np.abs(row_norms(X) - 1) <= UNIT_TOLERANCE))


def check_unit_rows(owner: object, norms: NDArray, cure: str) -> None:
    """Raise if the norm of a row differs from 1 by more than `UNIT_TOLERANCE`."""
    off = np.abs(norms - 1) > UNIT_TOLERANCE
    if np.any(off):
        row = int(np.argmax(off))
        raise ValueError(
            f"{name_of(owner)} needs rows of norm 1, but row {row} has norm "
            f"{float(norms[row]):.4g}. {cure}"
        )


def unit_of(largest: float) -> float:
    """Return the power of two by which to multiply numbers so that their squares stay finite.

    The factor brings `largest`, the largest magnitude, near 1. It is 1 for magnitudes between 1e-50
    and 1e50, where squares and products of squares neither overflow nor underflow.
    """
    if largest == 0 or 1e-50 <= largest <= 1e50:
        return 1.0
    return math.ldexp(1.0, -min(1000, max(-1000, math.frexp(largest)[1])))


def store(estimator: Any, arguments: dict[str, Any]) -> None:
    """Store the arguments of a constructor, ``locals()`` there, under their names."""
    for name, value in arguments.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


# What to pass instead of None or a name, so that nested parameters exist.
INSTEAD = {"kernel": "kernel=krein.kernels.Gaussian()", "features": "features=krein.Nystrom()"}


def check_nested(owner: Any, params: dict[str, Any]) -> None:
    """Raise if a nested parameter is set, but the outer parameter is None or a name."""
    for name in params:
        outer, _, inner = name.partition("__")
        value = params.get(outer, getattr(owner, outer, owner))
        if inner and not hasattr(value, "set_params"):
            cure = INSTEAD.get(outer, f"an object as {outer}")
            raise ValueError(
                f"{type(owner).__name__} has {outer}={value!r}, which has no parameter {inner!r}: "
                f"pass {cure}, or another object with that parameter, first."
            )


# Names of kernels, most of them scikit-learn's, and the kernels of krein that they mean.
NAMED_KERNELS = {
    "rbf": "Gaussian(sigma=1.0)",
    "gaussian": "Gaussian(sigma=1.0)",
    "laplacian": "Laplacian(sigma=1.0)",
    "linear": "Polynomial(degree=1, coef0=0.0)",
    "poly": "Polynomial(degree=3)",
    "polynomial": "Polynomial(degree=3)",
    "sigmoid": "Sigmoid()",
    "tanh": "Sigmoid()",
    "matern": "Matern(sigma=1.0)",
    "median": "Gaussian(sigma='median')",
}
KERNEL_OBJECTS = (
    "a kernel object, e.g. krein.kernels.Gaussian(), or 'precomputed' for a matrix of values"
)


def check_kernel(owner: object, kernel: Any) -> None:
    """Raise if a name, a class or a bare function is passed as a kernel; the error has the cure.

    Other values are left to the constraints of the owner.
    """
    cure = kernel_instead_of(kernel)
    if cure:
        raise ArgumentError(owner, "kernel", cure, kernel)


def kernel_instead_of(kernel: Any) -> str:
    """Return what to pass instead of a name, a class or a bare function; empty for other values."""
    if isinstance(kernel, type):
        return f"a kernel object, here {kernel.__name__}()"
    if isinstance(kernel, str) and kernel.lower() in NAMED_KERNELS:
        return f"a kernel object, here krein.kernels.{NAMED_KERNELS[kernel.lower()]}"
    if callable(kernel) and not hasattr(kernel, "get_params"):
        return (
            "a kernel object, here krein.kernels.Pairwise(f) if f(x, y) returns the value of two "
            "objects, or krein.kernels.Custom(f) if f(X, Y) returns the matrix of all pairs"
        )
    return ""


class NestedParameters:
    """Mixin for estimators with nested parameters, such as ``kernel__sigma``."""

    def set_params(self, **params: Any) -> Any:
        """Set parameters, including nested ones: ``set_params(kernel__sigma=2.0)``."""
        check_nested(self, params)
        return super().set_params(**params)  # type: ignore[misc]  # the estimator's own

    def _validate_params(self) -> None:
        check_kernel(self, getattr(self, "kernel", None))
        super()._validate_params()  # type: ignore[misc]  # the estimator's own

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        # Cached, because scikit-learn inspects the signature of the class in every clone.
        return super()._get_param_names()  # type: ignore[misc]  # the estimator's own


def same(a: Any, b: Any) -> bool:
    """Return True if two values are equal; they may be arrays or sparse matrices."""
    if a is b:
        return True
    if sparse.issparse(a) and sparse.issparse(b):
        return a.shape == b.shape and (a != b).nnz == 0
    return not (sparse.issparse(a) or sparse.issparse(b)) and np.array_equal(a, b)


class ByValue:
    """Mixin for objects that are equal if their types and attributes are equal, arrays included."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return mine.keys() == theirs.keys() and all(same(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays are mutable


@contextmanager
def all_or_nothing(estimator: object) -> Iterator[None]:
    """Restore the estimator if the block fails, so that no estimator is half fitted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def own(data: Any) -> Any:
    """Copy data that a fitted estimator keeps, so that the caller may change the original.

    Objects that cannot be copied are returned as they are.
    """
    if isinstance(data, str | bytes | Number):
        return data
    if isinstance(data, list):
        return [own(one) for one in data]
    try:
        return copy.deepcopy(data)
    except TypeError:  # e.g. an object that holds a file or a lock
        return data


def outside_level() -> int:
    """Return the `stacklevel` of a warning that points outside krein and scikit-learn."""
    frame: Any = sys._getframe(1)
    level = 1
    while frame.f_back is not None and _is_ours(frame):
        frame, level = frame.f_back, level + 1
    return level


def _is_ours(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in ("krein", "sklearn")
