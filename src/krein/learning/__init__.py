"""What is minimised, and how: losses × penalties × solvers, on statistics and never on data."""

from .penalties import Penalty
from .problems import LeastSquares
from .ridge import Lasso, Ridge
from .variance import VarianceConstrained

__all__ = ["Lasso", "LeastSquares", "Penalty", "Ridge", "VarianceConstrained"]
