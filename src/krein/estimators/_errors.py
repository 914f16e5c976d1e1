"""Errors of learners, with their parts as fields."""

from __future__ import annotations

from typing import Any


class NoFoldsError(ValueError):
    """There are too few distinct rows for cross-validation.

    Attributes
    ----------
    owner : str
        The name of the learner.
    n_rows : int
    alpha : the value of the parameter, or None if the learner has no such parameter
    parameter : str
        The name of the parameter.
    cure : str
        What to do. If it is empty, the error says to give the parameter a number, or to use
        ``calibrate=False``.
    """

    def __init__(
        self,
        owner: str,
        n_rows: int,
        alpha: Any = None,
        parameter: str = "alpha",
        cure: str = "",
    ):
        self.owner, self.n_rows, self.alpha, self.parameter = owner, n_rows, alpha, parameter
        self.cure = cure
        super().__init__(owner, n_rows, alpha, parameter, cure)

    def of(self, owner: str) -> NoFoldsError:
        """Return the error of an automatic learner, which has no parameter alpha."""
        return NoFoldsError(owner, self.n_rows)

    def __str__(self) -> str:
        called = "" if self.alpha is None else f"({self.parameter}={self.alpha!r})"
        tuned = f"give {self.parameter} a number"
        cure = self.cure or (tuned if isinstance(self.alpha, str) else "use calibrate=False")
        cure = "." if self.alpha is None else f": {cure}."
        alike = " rows that are equal or have weight 0" if self.n_rows > 1 else ""
        return (
            f"{self.owner}{called} needs at least two distinct rows for cross-validation, got "
            f"n_samples = {self.n_rows}{alike}{cure}"
        )
