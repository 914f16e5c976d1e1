"""The bilinear form M in ``k(x, y) ≈ Z(x)ᵀ M Z(y)``.

One class per shape of M, all orthogonal and all cheap: `Signature` for symmetric kernels (the
identity when the kernel is positive definite) and `Phase` for the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._blocks import row_blocks


class Form(ABC):
    """An orthogonal bilinear form on features.

    A form knows its width, applies itself (``Z ↦ Z Mᵀ``), transposes and writes itself out as
    a dense matrix; `krein.testing.check_form` compares each with its dense twin.
    """

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of features."""

    @property
    @abstractmethod
    def is_symmetric(self) -> bool:
        """Whether M = Mᵀ."""

    @property
    @abstractmethod
    def T(self) -> Form:
        """The form of the transposed kernel k(y, x)."""

    @abstractmethod
    def dual(self, Z: NDArray, out: NDArray | None = None) -> NDArray:
        """Return ``Z Mᵀ``, so that ``k(X, Y) ≈ Z(X) @ dual(Z(Y)).T``.

        With ``out=Z`` it is written over Z.
        """

    @property
    @abstractmethod
    def signs(self) -> NDArray[np.floating]:
        """The sign (+1 or −1) of the symmetric part of M in each feature; 0 where it vanishes."""

    def dense(self) -> NDArray[np.floating]:
        """M as an array of shape (width, width)."""
        return self.dual(np.eye(self.width)).T

    def flip(self) -> Signature:
        """The form of |k|: the identity."""
        return Signature(np.ones(self.width))

    def clip(self) -> NDArray[np.bool_]:
        """Mask of the features that the positive part of k keeps."""
        return self.signs > 0

    @property
    def is_identity(self) -> bool:
        """Whether M = I, i.e. the approximate kernel is positive semi-definite by construction."""
        return self.is_symmetric and bool(np.all(self.signs > 0))


class Signature(Form):
    """``M = diag(±1)``: a symmetric kernel, indefinite if any sign is negative.

    Parameters
    ----------
    signs : array-like of shape (width,)
        Each +1 or −1.
    """

    def __init__(self, signs: ArrayLike):
        values = np.asarray(signs, dtype=float)
        if values.ndim != 1 or not np.all(np.abs(values) == 1):
            raise ValueError("A Signature takes a vector of +1 and -1.")
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
        # Multiplying by the signs in Z's own type keeps float32 features float32.
        return Z if self.is_identity else np.multiply(Z, self._signs.astype(Z.dtype), out=out)


class Phase(Form):
    """One 2 × 2 rotation per frequency: a kernel that is not symmetric.

    For the features ``Z = [√|c| cos ω·x, √|c| sin ω·x]`` and ``θ = arg c``, the block of M that
    joins column j and column j + N is ``[[cos θ, sin θ], [−sin θ, cos θ]]``.

    Parameters
    ----------
    angles : array-like of shape (width / 2,)
        The phases θ_j.
    """

    def __init__(self, angles: ArrayLike):
        self.angles = np.asarray(angles, dtype=float)
        if self.angles.ndim != 1 or not np.all(np.isfinite(self.angles)):
            raise ValueError("A Phase takes a vector of finite angles, one per frequency.")
        # sin π is 1e-16 in floating point; a real weight must stay exactly real.
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
    """The form of the features ``[√|c| cos, √|c| sin]`` with weights c.

    Real weights give a `Signature`, complex ones a `Phase`: the same equation, the cheaper M.
    """
    if np.iscomplexobj(weights):
        return Phase(np.angle(weights))
    return Signature(np.tile(np.where(weights < 0, -1.0, 1.0), 2))
