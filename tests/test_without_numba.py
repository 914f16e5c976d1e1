"""Everything works without Numba, slower and to the same digits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import krein

SOURCE = Path(krein.__file__).resolve().parents[1]

# Runs in a subprocess: fits every kind of map and saves the features.
PROGRAM = """
import sys
import warnings
import numpy as np

# Of phases as large as those of a width of 1e-7 the digits are tested, not what they are good for.
warnings.filterwarnings("ignore", ".*nearly the identity", UserWarning)
blocked = sys.argv[2] == "blocked"
if blocked:
    class Block:
        def find_spec(self, name, path=None, target=None):
            if name == "numba" or name.startswith("numba."):
                raise ImportError(f"{name} is blocked")

    sys.meta_path.insert(0, Block())

from scipy import sparse
from krein import RandomFourier, RandomGegenbauer, approximation_error, diagnose
from krein.kernels import DeltaGaussian, Gaussian, NeuralTangent, ShiftGaussian

rng = np.random.default_rng(0)
X = rng.random((700, 5))
maps = {
    "gaussian": RandomFourier(Gaussian(), 300, random_state=0),
    "signed": RandomFourier(DeltaGaussian(), 64, random_state=0, weights="calibrated"),
    "complex": RandomFourier(ShiftGaussian(), 64, random_state=0),
    "far": RandomFourier(Gaussian(sigma=1e-7), 16, random_state=0),
    "sphere": RandomGegenbauer(NeuralTangent(), 64, random_state=0),
}
out = {}
for name, features in maps.items():
    features.fit(X)
    out[name] = features.transform(X)
    out[name + " dual"] = features.transform_dual(X)
    out[name + " sparse"] = features.transform(sparse.csr_array(X))
    if name != "far":
        out[name + " single"] = features.transform(X.astype(np.float32))
        out[name + " error"] = approximation_error(features, X[:50])
out["diagnosis"] = diagnose(DeltaGaussian(), X[:40], n_components=16, random_state=0).eigenvalues
assert ("numba" in sys.modules) is not blocked, "the block does not do what it says"
np.savez(sys.argv[1], **out)
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numba")
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    found = {}
    for mode in ("blocked", "free"):
        path = folder / f"{mode}.npz"
        # NumPy warns of names in NPY_DISABLE_CPU_FEATURES that its version does not know.
        strict = ["-W", "error", "-W", "ignore:During parsing environment:ImportWarning"]
        command = [sys.executable, *strict, "-c", PROGRAM, str(path), mode]
        subprocess.run(command, check=True, env=env, capture_output=True, text=True)
        with np.load(path) as arrays:
            found[mode] = dict(arrays)
    return found


KINDS = ("gaussian", "signed", "complex", "far", "sphere")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", ["", " dual", " sparse"])
def test_features_are_the_same_without_numba(results, kind, verb):
    blocked, free = (results[mode][kind + verb] for mode in ("blocked", "free"))
    assert free.dtype == np.float64
    assert np.abs(free).max() > 0
    assert_allclose(blocked, free, rtol=0, atol=1e-12 * max(1.0, np.abs(free).max()))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "far"])
def test_single_precision_is_the_same_without_numba(results, kind):
    blocked, free = (results[mode][kind + " single"] for mode in ("blocked", "free"))
    assert blocked.dtype == free.dtype == np.float32
    assert_allclose(blocked, free, rtol=0, atol=4e-7 * np.abs(free).max())
    errors = [results[mode][kind + " error"] for mode in ("blocked", "free")]
    assert_allclose(*errors, rtol=1e-9)


def test_diagnosis_is_the_same_without_numba(results):
    assert_allclose(results["blocked"]["diagnosis"], results["free"]["diagnosis"], atol=1e-12)
