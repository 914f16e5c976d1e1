"""Learners: scikit-learn's shells around features, statistics and solvers."""

from .auto import KreinClassifier, KreinRegressor
from .baselines import CorrectedSVC
from .ridge import KreinRidge, KreinRidgeClassifier
from .svc import KreinSVC
from .variance import VarianceConstrainedClassifier, VarianceConstrainedRegressor

__all__ = [
    "CorrectedSVC",
    "KreinClassifier",
    "KreinRegressor",
    "KreinRidge",
    "KreinRidgeClassifier",
    "KreinSVC",
    "VarianceConstrainedClassifier",
    "VarianceConstrainedRegressor",
]
