"""The class that outputs name, if outputs of some classes say more than those of others.

Each output is learned for one class against the rest. A class between others is hard to tell from
the rest: its outputs are small, even where no other class is likely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .calibration import SOME, OneVsRest
from .evidence import by_halves, is_clear

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Balance:
    """Outputs of k classes in one unit: ``slope_c · f_c + offset_c`` is the log-odds of class c.

    Attributes
    ----------
    slopes : ndarray of shape (k,)
        The factors of the outputs f.
    offsets : ndarray of shape (k,)
        The log-odds at the outputs 0.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import Balance
    >>> Balance(np.array([1.0, 3.0]), np.array([0.0, 1.0]))(np.array([[0.5, 0.0]]))
    array([[0.5, 1. ]])
    """

    slopes: Array
    offsets: Array

    @classmethod
    def of(cls, outputs: Array, codes: NDArray[np.intp], weight: Array) -> Self:
        """Learn the sigmoid of each class against the rest from held-out rows.

        Parameters
        ----------
        outputs : ndarray of shape (n, k)
        codes : ndarray of int of shape (n,)
            The index of the class of each row.
        weight : ndarray of shape (n,)
        """
        parts = OneVsRest.of(outputs, codes, weight).parts
        return cls(
            np.array([part.slope for part in parts]), np.array([part.offset for part in parts])
        )

    def __call__(self, outputs: Array) -> Array:
        """Return the log-odds of the classes, shape (n, k), for outputs of shape (n, k)."""
        return self.slopes * outputs + self.offsets


def balanced(outputs: Array, codes: NDArray[np.intp], weight: Array) -> Balance | None:
    """Return the balance of held-out rows; None unless it clearly names fewer wrong classes.

    There is evidence if there are at least 100 rows of 3 to 100 classes, and the share of wrong
    rows is smaller by more than two standard errors, learned from one half of the rows and measured
    on the other half, and vice versa.

    Parameters
    ----------
    outputs : ndarray of shape (n, q)
        q = 1 for two classes, otherwise one column for each class.
    codes : ndarray of int of shape (n,)
        The index of the class of each row.
    weight : ndarray of shape (n,)
        The weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import balanced
    >>> codes = np.repeat([0, 1, 2], 100)
    >>> outputs = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    >>> outputs[:, 1] -= 3  # the output of the second class is never the largest one
    >>> balanced(outputs, codes, np.ones(300))(outputs).argmax(axis=1)[[0, 100, 200]]
    array([0, 1, 2])
    >>> balanced(outputs + [0, 3, 0], codes, np.ones(300)) is None
    True
    """
    n, k = outputs.shape
    if k == 1 or n < SOME or k > SOME:
        return None

    def wrong(balance: Balance, f: Array, own: NDArray[np.intp]) -> Array:
        return (balance(f).argmax(axis=1) != own).astype(float)

    gain = (outputs.argmax(axis=1) != codes) - by_halves(Balance.of, wrong, outputs, codes, weight)
    return Balance.of(outputs, codes, weight) if is_clear(gain, weight) else None
