"""Learned spectra: frequencies that separate classes, or that approximate a kernel."""

from .atoms import FromAtoms, HarmonicAtoms, WaveAtoms
from .dirichlet import SpectralMixture
from .importance import LearnedKernelFeatures
from .mixture_fourier import MixtureFourier
from .not_so_random import NotSoRandomFeatures
from .peaks import Grid, Langevin, Momentum, Search
from .training import FewPeaksWarning

__all__ = [
    "FewPeaksWarning",
    "FromAtoms",
    "Grid",
    "HarmonicAtoms",
    "Langevin",
    "LearnedKernelFeatures",
    "MixtureFourier",
    "Momentum",
    "NotSoRandomFeatures",
    "Search",
    "SpectralMixture",
    "WaveAtoms",
]
