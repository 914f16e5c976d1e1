"""Learned spectra: frequencies and harmonics that separate the classes."""

from .atoms import FromAtoms, HarmonicAtoms, WaveAtoms
from .not_so_random import FewPeaksWarning, NotSoRandomFeatures
from .peaks import Grid, Langevin, Momentum, Search

__all__ = [
    "FewPeaksWarning",
    "FromAtoms",
    "Grid",
    "HarmonicAtoms",
    "Langevin",
    "Momentum",
    "NotSoRandomFeatures",
    "Search",
    "WaveAtoms",
]
