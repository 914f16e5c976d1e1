"""What k is: kernels of vectors and objects, definite or not, and their algebra."""

from .algebra import Constant, Product, Scaled, Sum, Transposed
from .asymmetric import CoshGaussian, ShiftGaussian, SinhGaussian
from .base import Kernel, NoMeasureError
from .custom import Custom, FromMeasure, Pairwise, Precomputed
from .dot import (
    ArcCosine,
    Hellinger,
    NeuralTangent,
    Polynomial,
    RectifiedSigmoid,
    Sigmoid,
)
from .radial import (
    TL1,
    Cauchy,
    DeltaGaussian,
    Epanechnikov,
    Gaussian,
    GaussianCombination,
    GeodesicGaussian,
    Laplacian,
    Matern,
    Multiquadric,
    SphericalPolynomial,
    ThinPlateSpline,
)

__all__ = [
    "TL1",
    "ArcCosine",
    "Cauchy",
    "Constant",
    "CoshGaussian",
    "Custom",
    "DeltaGaussian",
    "Epanechnikov",
    "FromMeasure",
    "Gaussian",
    "GaussianCombination",
    "GeodesicGaussian",
    "Hellinger",
    "Kernel",
    "Laplacian",
    "Matern",
    "Multiquadric",
    "NeuralTangent",
    "NoMeasureError",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "Product",
    "RectifiedSigmoid",
    "Scaled",
    "ShiftGaussian",
    "Sigmoid",
    "SinhGaussian",
    "SphericalPolynomial",
    "Sum",
    "ThinPlateSpline",
    "Transposed",
]
