"""Rows, targets and small maps for the tests of probabilities, intervals and deviations."""

from __future__ import annotations

import numpy as np

import krein
from krein.kernels import DeltaGaussian

RNG = np.random.default_rng(0)
X = np.round(64 * RNG.standard_normal((200, 3))) / 64
VALUES = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * RNG.standard_normal(200)
THREE = np.array(["a", "b", "c"])[np.digitize(VALUES, [-0.6, 0.9])]
TWO = VALUES > 0.3
WEIGHT = RNG.integers(0, 4, 200) / 2.0
KERNEL = DeltaGaussian(1.0, 4.0)
SMALL = {"features": krein.Nystrom(KERNEL, 12, random_state=0), "random_state": 0}
FIXED = {"alpha": 1e-3, "alpha_neg": 1e-2, "calibrate": True}
