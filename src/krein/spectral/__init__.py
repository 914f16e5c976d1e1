"""Learned spectra: frequencies that separate classes, or that approximate a kernel."""

from .atoms import FromAtoms, HarmonicAtoms, WaveAtoms
from .dirichlet import SpectralMixture
from .mixture_fourier import MixtureFourier
from .not_so_random import FewPeaksWarning, NotSoRandomFeatures
from .peaks import Grid, Langevin, Momentum, Search

__all__ = [
    "FewPeaksWarning",
    "FromAtoms",
    "Grid",
    "HarmonicAtoms",
    "Langevin",
    "MixtureFourier",
    "Momentum",
    "NotSoRandomFeatures",
    "Search",
    "SpectralMixture",
    "WaveAtoms",
]
