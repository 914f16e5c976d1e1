"""Which losses and penalties can be combined, and which solver serves each pair."""

from __future__ import annotations

from typing import Any

from .cholesky import Cholesky
from .coordinates import CoordinateDescent
from .indefinite import SymmetricIndefinite
from .newton import Newton
from .secular import Secular

# Each solver declares its loss and its penalty, and has `derivatives` if it can tune by gradient.
SOLVERS: tuple[Any, ...] = (Cholesky, SymmetricIndefinite, Secular, CoordinateDescent, Newton)


def solver_for(loss: type, penalty: type, *, derivatives: bool = False) -> Any:
    """Return the solver class of a loss and a penalty.

    Parameters
    ----------
    loss : type
        A class of `krein.learning.losses`.
    penalty : type
        A class of `krein.learning.penalties`.
    derivatives : bool, default=False
        True if the solver must have derivatives by the penalties, for ``alpha="gradient"``.

    Raises
    ------
    ValueError
        If no solver serves the pair; the message names both classes and what would work.

    Examples
    --------
    >>> from krein.learning import Split, SquaredError, solver_for
    >>> solver_for(SquaredError, Split).__name__
    'Cholesky'
    """
    found = [s for s in SOLVERS if issubclass(loss, s.loss) and s.penalty is penalty]
    if not found:
        known = ", ".join(s.penalty.__name__ for s in SOLVERS if issubclass(loss, s.loss))
        raise ValueError(
            f"The loss {loss.__name__} and the penalty {penalty.__name__} have no solver in "
            f"common: {loss.__name__} can be combined with {known or 'no penalty'}."
        )
    if derivatives and not hasattr(found[0], "derivatives"):
        raise ValueError(
            f"{found[0].__name__}, the solver of {loss.__name__} with the penalty "
            f"{penalty.__name__}, has no derivatives by the penalty, which alpha='gradient' needs: "
            "use alpha='cv', or penalty='split' (coupling='split' of a two-sided learner)."
        )
    return found[0]
