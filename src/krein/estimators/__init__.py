"""scikit-learn's shells around maps, forms and solvers, one small class per learner."""

from .baselines import CorrectedSVC
from .not_so_random import NotSoRandomClassifier
from .ridge import KreinRidge, KreinRidgeClassifier
from .svc import KreinSVC
from .two_sided import TwoSidedRidge, TwoSidedRidgeClassifier
from .variance import VarianceConstrainedClassifier, VarianceConstrainedRegressor

__all__ = [
    "CorrectedSVC",
    "KreinRidge",
    "KreinRidgeClassifier",
    "KreinSVC",
    "NotSoRandomClassifier",
    "TwoSidedRidge",
    "TwoSidedRidgeClassifier",
    "VarianceConstrainedClassifier",
    "VarianceConstrainedRegressor",
]
