"""Learned spectra: frequencies and harmonics that separate the classes."""

from .atoms import FromAtoms, HarmonicAtoms, WaveAtoms
from .importance import LearnedKernelFeatures
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
    "Momentum",
    "NotSoRandomFeatures",
    "Search",
    "WaveAtoms",
]
