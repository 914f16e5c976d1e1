"""What is minimised, and how: losses × penalties × solvers, on statistics and never on data.

`solver_for` is the one place that says which combinations exist.
"""

from .calibration import Calibration, Isotonic, OneVsRest, Separate, Sigmoid, Softmax, calibrated
from .cholesky import Cholesky
from .combinations import SOLVERS, solver_for
from .coordinates import CoordinateDescent
from .decisions import Balance, balanced
from .indefinite import SymmetricIndefinite
from .left_out import LeftOut
from .losses import Hinge, MarginLoss, SquaredError, SquaredHinge
from .newton import Newton
from .penalties import L1, Constrained, Indefinite, Split
from .posterior import Posterior
from .problems import LeastSquares
from .residuals import Residuals
from .secular import Secular
from .two_sided import Coupled, Joint, Views

__all__ = [
    "L1",
    "SOLVERS",
    "Balance",
    "Calibration",
    "Cholesky",
    "Constrained",
    "CoordinateDescent",
    "Coupled",
    "Hinge",
    "Indefinite",
    "Isotonic",
    "Joint",
    "LeastSquares",
    "LeftOut",
    "MarginLoss",
    "Newton",
    "OneVsRest",
    "Posterior",
    "Residuals",
    "Secular",
    "Separate",
    "Sigmoid",
    "Softmax",
    "Split",
    "SquaredError",
    "SquaredHinge",
    "SymmetricIndefinite",
    "Views",
    "balanced",
    "calibrated",
    "solver_for",
]
