"""krein: learning with kernels that are not positive definite."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .auto import KreinClassifier, KreinRegressor
    from .diagnostics import Diagnosis, approximation_error, diagnose
    from .estimators import (
        CorrectedSVC,
        KreinRidge,
        KreinRidgeClassifier,
        KreinSVC,
        TwoSidedRidge,
        TwoSidedRidgeClassifier,
        VarianceConstrainedClassifier,
        VarianceConstrainedRegressor,
    )
    from .features import Nystrom, RandomFourier, RandomGegenbauer, SimilarityFeatures
    from .proximity import (
        AsymmetricEmbedding,
        DissimilarityToSimilarity,
        DoubleCentering,
        KreinPCA,
        SpectrumCorrector,
    )

    __version__: str

__all__ = [
    "AsymmetricEmbedding",
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
    "Nystrom",
    "RandomFourier",
    "RandomGegenbauer",
    "SimilarityFeatures",
    "SpectrumCorrector",
    "TwoSidedRidge",
    "TwoSidedRidgeClassifier",
    "VarianceConstrainedClassifier",
    "VarianceConstrainedRegressor",
    "approximation_error",
    "diagnose",
]

# Where the public names live. They are imported when they are first used, so that the command line
# and a program that needs one of them do not wait for all.
_HOMES = {
    "AsymmetricEmbedding": "proximity",
    "CorrectedSVC": "estimators",
    "Diagnosis": "diagnostics",
    "DissimilarityToSimilarity": "proximity",
    "DoubleCentering": "proximity",
    "KreinClassifier": "auto",
    "KreinPCA": "proximity",
    "KreinRegressor": "auto",
    "KreinRidge": "estimators",
    "KreinRidgeClassifier": "estimators",
    "KreinSVC": "estimators",
    "Nystrom": "features",
    "RandomFourier": "features",
    "RandomGegenbauer": "features",
    "SimilarityFeatures": "features",
    "SpectrumCorrector": "proximity",
    "TwoSidedRidge": "estimators",
    "TwoSidedRidgeClassifier": "estimators",
    "VarianceConstrainedClassifier": "estimators",
    "VarianceConstrainedRegressor": "estimators",
    "approximation_error": "diagnostics",
    "diagnose": "diagnostics",
}
_MODULES = (
    "auto",
    "bounds",
    "estimators",
    "features",
    "forms",
    "kernels",
    "learning",
    "measures",
    "proximity",
    "published",
    "samplers",
    "streaming",
    "testing",
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _version() -> str:
    """The version of the installed package, which pyproject.toml names."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("krein")
    except PackageNotFoundError:  # a copy of the sources that is not installed
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_MODULES, "__version__"])
