"""Errors about single entries of a matrix of proximities."""

from __future__ import annotations

import math
from typing import Any, Self

NAN, LEAVE = math.nan, "leave this step out"

Place = tuple[int, int] | None


class BadProximityError(ValueError):
    """A matrix of proximities has an entry that its owner refuses.

    A caller who passed on a part of a matrix knows the place of the entry in that part only.
    `within` returns the same error with the place of the entry in the whole matrix.

    Parameters
    ----------
    owner : str
        The name that the sentence gives to the estimator.
    place : (int, int) or None
        Row and column of the entry; None if the place would mean nothing to the user.
    value : float
        The entry.
    reverse : float, default=nan
        The entry at the transposed place, for errors about both entries.
    cure : str, default="leave this step out"
        The advice to users whose matrix holds similarities.
    """

    sentence = ""

    def __init__(
        self, owner: str, place: Place, value: float, reverse: float = NAN, cure: str = LEAVE
    ):
        self.owner, self.place, self.value = owner, place, value
        self.reverse, self.cure = reverse, cure
        super().__init__(owner, place, value, reverse, cure)

    def within(self, owner: str, places: Any, cure: str) -> Self:
        """Return the error of another owner, whose matrix has this one at the given places.

        Parameters
        ----------
        owner : str
            The name of the other owner.
        places : sequence of int or None
            The place of each row and column in the other owner's matrix; None drops the place.
        cure : str
            The advice that the other owner gives.
        """
        i, j = self.place or (0, 0)
        place = None if places is None else (int(places[i]), int(places[j]))
        return type(self)(owner, place, self.value, self.reverse, cure)

    def __str__(self) -> str:
        i, j = self.place or (0, 0)
        entry = f"X[{i}, {j}] =" if self.place else "the kernel has"
        gap = abs(self.value - self.reverse)
        return self.sentence.format(i=i, j=j, entry=entry, gap=gap, **vars(self))


class NegativeError(BadProximityError):
    """A dissimilarity is negative."""

    sentence = (
        "Negative values in data passed to {owner}: {entry} {value:.6g}, but a dissimilarity is "
        "never negative. If X holds similarities, {cure}."
    )


class DiagonalError(BadProximityError):
    """The dissimilarity of an object to itself is not zero."""

    sentence = (
        "{owner} needs dissimilarities with a zero diagonal, but {entry} {value:.6g}. If that is "
        "noise, call np.fill_diagonal(X, 0) first. If X holds similarities, {cure}."
    )


class AsymmetryError(BadProximityError):
    """A matrix that must be symmetric is not."""

    sentence = (
        "{owner} needs a symmetric matrix X, but X[{i}, {j}] = {value:.6g} and X[{j}, {i}] = "
        "{reverse:.6g}, the largest asymmetry ({gap:.3g}). Choose how to symmetrise X, "
        'e.g. with krein.proximity.symmetrize(X, "average").'
    )
