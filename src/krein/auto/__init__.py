"""The one-liners: learners that choose map, learner and penalties by cross-validation."""

from .estimators import KreinClassifier, KreinRegressor
from .report import Report, Trial

__all__ = ["KreinClassifier", "KreinRegressor", "Report", "Trial"]
