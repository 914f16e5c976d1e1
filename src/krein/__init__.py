"""krein: learning with kernels that are not positive definite."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agreement import alignment, approximation_error
    from .auto import KreinClassifier, KreinRegressor
    from .comparison import Comparison, compare
    from .diagnostics import Diagnosis, diagnose
    from .estimators import (
        CorrectedSVC,
        KreinRidge,
        KreinRidgeClassifier,
        KreinSVC,
        NotSoRandomClassifier,
        TwoSidedRidge,
        TwoSidedRidgeClassifier,
        VarianceConstrainedClassifier,
        VarianceConstrainedRegressor,
    )
    from .features import (
        Nystrom,
        RandomArcCosine,
        RandomFourier,
        RandomGegenbauer,
        SimilarityFeatures,
    )
    from .proximity import (
        AsymmetricEmbedding,
        DissimilarityToSimilarity,
        DoubleCentering,
        KreinPCA,
        SpectrumCorrector,
    )
    from .references import citations
    from .rivals import (
        ConcomitantRankOrder,
        RandomMaclaurin,
        SphericalRandomFeatures,
        TensorizedProjection,
        TensorSketch,
    )
    from .spectral import LearnedKernelFeatures, MixtureFourier, NotSoRandomFeatures

    __version__: str

__all__ = [
    "AsymmetricEmbedding",
    "Comparison",
    "ConcomitantRankOrder",
    "CorrectedSVC",
    "Diagnosis",
    "DissimilarityToSimilarity",
    "DoubleCentering",
    "KreinClassifier",
    "KreinPCA",
    "KreinRegressor",
    "KreinRidge",
    "KreinRidgeClassifier",
    "KreinSVC",
    "LearnedKernelFeatures",
    "MixtureFourier",
    "NotSoRandomClassifier",
    "NotSoRandomFeatures",
    "Nystrom",
    "RandomArcCosine",
    "RandomFourier",
    "RandomGegenbauer",
    "RandomMaclaurin",
    "SimilarityFeatures",
    "SpectrumCorrector",
    "SphericalRandomFeatures",
    "TensorSketch",
    "TensorizedProjection",
    "TwoSidedRidge",
    "TwoSidedRidgeClassifier",
    "VarianceConstrainedClassifier",
    "VarianceConstrainedRegressor",
    "alignment",
    "approximation_error",
    "citations",
    "compare",
    "diagnose",
]

# The modules that define these names, from the bottom up. They are imported when a name is first
# used, so that the command line and a program that needs few names do not wait for all modules.
_HOMES = (
    "references",
    "features",
    "proximity",
    "rivals",
    "spectral",
    "agreement",
    "estimators",
    "comparison",
    "diagnostics",
    "auto",
)
_MODULES = (
    "auto",
    "bounds",
    "comparison",
    "estimators",
    "features",
    "forms",
    "kernels",
    "learning",
    "measures",
    "plots",
    "proximity",
    "published",
    "references",
    "rivals",
    "samplers",
    "spectral",
    "spherical",
    "streaming",
    "testing",
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in __all__:
        homes = (import_module(f".{home}", __name__) for home in _HOMES)
        return next(getattr(home, name) for home in homes if hasattr(home, name))
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _version() -> str:
    """Return the version of the installed package, which pyproject.toml names."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("krein")
    except PackageNotFoundError:  # a copy of the sources that is not installed
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *_MODULES, "__version__"])
