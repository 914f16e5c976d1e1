"""Transformers of proximity data: matrices of dissimilarities or similarities between objects.

`fit` takes the values of all pairs of training objects. `transform` takes rows of values of new
objects against the training objects, and returns for training objects what `fit_transform` returns.
The transformers refuse a matrix that must be symmetric and is not; `symmetrize` makes it symmetric.
"""

from ._base import symmetrize
from .asymmetric import AsymmetricEmbedding
from .dissimilarity import DissimilarityToSimilarity, DoubleCentering
from .embedding import KreinPCA
from .spectrum import SpectrumCorrector

__all__ = [
    "AsymmetricEmbedding",
    "DissimilarityToSimilarity",
    "DoubleCentering",
    "KreinPCA",
    "SpectrumCorrector",
    "symmetrize",
]
