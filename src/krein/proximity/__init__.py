"""Proximity data: dissimilarities and similarities between objects, given as matrices.

All of these estimators are fitted on the values of all pairs of training objects and transform
rows of values against the training objects; on the training rows `transform` repeats
`fit_transform`. Nothing is symmetrised unless `symmetrize` is asked to do it.
"""

from ._base import symmetrize
from .dissimilarity import DissimilarityToSimilarity, DoubleCentering
from .embedding import KreinPCA
from .spectrum import SpectrumCorrector

__all__ = [
    "DissimilarityToSimilarity",
    "DoubleCentering",
    "KreinPCA",
    "SpectrumCorrector",
    "symmetrize",
]
