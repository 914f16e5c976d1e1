"""Kernels of vectors and of objects, positive definite or not, and their algebra."""

from .algebra import Constant, Product, Scaled, SkewPart, Sum, SymmetricPart, Transposed
from .asymmetric import CoshGaussian, ShiftGaussian, SinhGaussian
from .base import Kernel
from .custom import Custom, FromMeasure, Pairwise, Precomputed
from .dot import (
    ArcCosine,
    Hellinger,
    NeuralTangent,
    OrthantProbability,
    Polynomial,
    RectifiedSigmoid,
    Sigmoid,
)
from .errors import NoMeasureError, UnresolvedError
from .l1 import TL1, Laplacian
from .radial import (
    Cauchy,
    DeltaGaussian,
    Epanechnikov,
    Gaussian,
    GaussianCombination,
    GeodesicGaussian,
    Matern,
    Multiquadric,
    SphericalPolynomial,
    ThinPlateSpline,
)
from .relations import Attention, ConditionalProbability, DirectedGraph, Relation
from .series import DynamicTimeWarping, ElasticDistance
from .sets import Dice, Hausdorff, Tanimoto, Tversky
from .similarity import Similarity
from .stationarity import Stationarity
from .strings import EditDistance
from .traits import Traits

__all__ = [
    "TL1",
    "ArcCosine",
    "Attention",
    "Cauchy",
    "ConditionalProbability",
    "Constant",
    "CoshGaussian",
    "Custom",
    "DeltaGaussian",
    "Dice",
    "DirectedGraph",
    "DynamicTimeWarping",
    "EditDistance",
    "ElasticDistance",
    "Epanechnikov",
    "FromMeasure",
    "Gaussian",
    "GaussianCombination",
    "GeodesicGaussian",
    "Hausdorff",
    "Hellinger",
    "Kernel",
    "Laplacian",
    "Matern",
    "Multiquadric",
    "NeuralTangent",
    "NoMeasureError",
    "OrthantProbability",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "Product",
    "RectifiedSigmoid",
    "Relation",
    "Scaled",
    "ShiftGaussian",
    "Sigmoid",
    "Similarity",
    "SinhGaussian",
    "SkewPart",
    "SphericalPolynomial",
    "Stationarity",
    "Sum",
    "SymmetricPart",
    "Tanimoto",
    "ThinPlateSpline",
    "Traits",
    "Transposed",
    "Tversky",
    "UnresolvedError",
]
