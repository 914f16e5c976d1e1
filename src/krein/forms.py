"""The bilinear form M in ``k(x, y) ≈ Z(x)ᵀ M Z(y)``.

There is one class per shape of M. Every M is orthogonal and cheap to apply. `Signature` is the form
of a symmetric kernel; it is the identity if the kernel is positive definite. `Phase` is the form of
a kernel that is not symmetric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._blocks import row_blocks


class Form(ABC):
    """Base class of the orthogonal bilinear forms M on features.

    A subclass defines `width`, `is_symmetric`, `T`, `dual` and `signs`.
    `krein.testing.check_form` compares a form with its dense matrix.

    Examples
    --------
    >>> from krein.forms import Form, Signature
    >>> isinstance(Signature([1, -1]), Form)
    True
    """

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of features."""

    @property
    @abstractmethod
    def is_symmetric(self) -> bool:
        """True if M = Mᵀ."""

    @property
    @abstractmethod
    def T(self) -> Form:
        """The form of the transposed kernel k(y, x)."""

    @abstractmethod
    def dual(self, Z: NDArray, out: NDArray | None = None) -> NDArray:
        """Return ``Z Mᵀ``, so that ``k(X, Y) ≈ Z(X) @ dual(Z(Y)).T``.

        Parameters
        ----------
        Z : ndarray of shape (n, width)
            Features.
        out : ndarray of shape (n, width), default=None
            Array that receives the result. It may be Z itself.

        Returns
        -------
        ndarray of shape (n, width)
        """

    @property
    @abstractmethod
    def signs(self) -> NDArray[np.floating]:
        """Sign of the diagonal of M for each feature: +1, −1, or 0 where the diagonal is zero."""

    def dense(self) -> NDArray[np.floating]:
        """Return M as an array of shape (width, width)."""
        return self.dual(np.eye(self.width)).T

    def flip(self) -> Signature:
        """Return the form of the flipped kernel |k|, which is the identity."""
        return Signature(np.ones(self.width))

    def clip(self) -> NDArray[np.bool_]:
        """Return the mask of the features that represent the positive part of the kernel."""
        return self.signs > 0

    @property
    def is_identity(self) -> bool:
        """True if M = I: the approximate kernel is then positive semi-definite."""
        return self.is_symmetric and bool(np.all(self.signs > 0))


class Signature(Form):
    """``M = diag(±1)``: the form of a symmetric kernel.

    The kernel is indefinite if any sign is negative.

    Parameters
    ----------
    signs : array-like of shape (width,)
        The diagonal of M; each entry is +1 or −1.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Signature
    >>> form = Signature([1, 1, -1])
    >>> form
    Signature(2+, 1-)
    >>> form.dual(np.ones((1, 3)))
    array([[ 1.,  1., -1.]])
    """

    def __init__(self, signs: ArrayLike):
        values = np.asarray(signs, dtype=float)
        if values.ndim != 1 or not np.all(np.abs(values) == 1):
            raise ValueError("Signature needs signs to be a vector of +1 and -1.")
        self._signs = values

    def __repr__(self) -> str:
        positive = int((self._signs > 0).sum())
        return f"Signature({positive}+, {self.width - positive}-)"

    @property
    def width(self) -> int:
        return len(self._signs)

    @property
    def is_symmetric(self) -> bool:
        return True

    @property
    def T(self) -> Signature:
        return self

    @property
    def signs(self) -> NDArray[np.floating]:
        return self._signs

    def dual(self, Z: NDArray, out: NDArray | None = None) -> NDArray:
        # The signs are cast to the type of Z, so that float32 features stay float32.
        return Z if self.is_identity else np.multiply(Z, self._signs.astype(Z.dtype), out=out)


class Phase(Form):
    """One 2 × 2 rotation per frequency: the form of a kernel that is not symmetric.

    The features are ``Z = [√|c| cos ω·x, √|c| sin ω·x]`` and ``θ = arg c``. The block of M that
    couples column j and column j + N is ``[[cos θ, sin θ], [−sin θ, cos θ]]``.

    Parameters
    ----------
    angles : array-like of shape (width / 2,)
        The phases θ_j.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Phase
    >>> form = Phase([np.pi / 2])
    >>> form
    Phase(1 rotations)
    >>> form.dense()
    array([[ 0.,  1.],
           [-1.,  0.]])
    """

    def __init__(self, angles: ArrayLike):
        self.angles = np.asarray(angles, dtype=float)
        if self.angles.ndim != 1 or not np.all(np.isfinite(self.angles)):
            raise ValueError("Phase needs angles to be a vector of finite numbers.")
        # In floating point sin π is 1e-16, but the phase of a real weight must have no sine at all.
        self._cos, self._sin = _snap(np.cos(self.angles)), _snap(np.sin(self.angles))

    def __repr__(self) -> str:
        return f"Phase({len(self.angles)} rotations)"

    @property
    def width(self) -> int:
        return 2 * len(self.angles)

    @property
    def is_symmetric(self) -> bool:
        return bool(np.all(self._sin == 0))

    @property
    def T(self) -> Phase:
        return Phase(-self.angles)

    @property
    def signs(self) -> NDArray[np.floating]:
        return np.tile(np.sign(self._cos), 2)

    def dual(self, Z: NDArray, out: NDArray | None = None) -> NDArray:
        n = len(self.angles)
        cos, sin = self._cos.astype(Z.dtype), self._sin.astype(Z.dtype)
        out = np.empty_like(Z) if out is None else out
        for rows in row_blocks(len(Z), Z.itemsize * max(1, Z.shape[1])):
            left, right = Z[rows, :n], Z[rows, n:]
            turned = left * cos + right * sin, right * cos - left * sin
            out[rows, :n], out[rows, n:] = turned
        return out


def _snap(values: NDArray) -> NDArray[np.floating]:
    return np.where(np.abs(values) < 4e-16, 0.0, values)


def fourier_form(weights: NDArray) -> Form:
    """Return the form of the features ``[√|c| cos, √|c| sin]`` with weights c.

    Real weights give a `Signature`, complex weights a `Phase`. A `Phase` would also represent real
    weights, but a `Signature` is cheaper.

    Parameters
    ----------
    weights : ndarray of shape (n_atoms,)
        The weights c, real or complex.

    Returns
    -------
    Form

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import fourier_form
    >>> fourier_form(np.array([0.5, -0.5])), fourier_form(np.array([0.5, 0.5j]))
    (Signature(2+, 2-), Phase(2 rotations))
    """
    if np.iscomplexobj(weights):
        return Phase(np.angle(weights))
    return Signature(np.tile(np.where(weights < 0, -1.0, 1.0), 2))
