"""Rows, targets and a form for the contract tests."""

from __future__ import annotations

import numpy as np

from krein.forms import Signature

RNG = np.random.default_rng(0)
X = np.round(64 * RNG.standard_normal((60, 3))) / 64
VALUES = np.sin(2 * X[:, 0]) + X[:, 1]
LABELS = np.array(["a", "b", "c"])[np.digitize(VALUES, [-0.7, 0.7])]
WEIGHT = RNG.integers(0, 4, 60).astype(float)
FORM = Signature([1.0, -1, 1, -1, 1])
