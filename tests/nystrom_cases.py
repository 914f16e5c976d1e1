"""Kernels and cores of Nyström maps, and the error of an approximation."""

from __future__ import annotations

import numpy as np

from krein.kernels import TL1, DeltaGaussian, Gaussian, Sigmoid

SYMMETRIC = [Gaussian(), DeltaGaussian(), Sigmoid(0.3, -0.5), TL1(9.0)]
CORES = ["sketch", "truncated", "inverse", "squared"]


def _name(kernel):
    return type(kernel).__name__


def _relative(approximate, exact):
    return np.linalg.norm(approximate - exact) / np.linalg.norm(exact)
