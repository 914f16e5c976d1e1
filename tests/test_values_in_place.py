"""Kernel values that are computed in place against the same values from new arrays."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from krein import Nystrom
from krein._blocks import Scratch
from krein.kernels import Gaussian, Laplacian, Matern
from krein.kernels._against import Against, ByShape, write_distances
from krein.kernels.errors import BadPairError
from krein.kernels.profiles import OfDistance

KERNELS = [Gaussian(1.7), Laplacian(3.0), *(Matern(1.7, nu) for nu in (0.5, 1.5, 2.5))]
# Distances are roots of differences of squares. Their rounding errors are of the order of 1e-16
# times the largest square, about 30, and enter the values with slopes of at most 1.
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def twin(kernel, X, Y):
    """Return the profile at the distances of SciPy."""
    return kernel._profile(
        cdist(X, Y, "cityblock" if isinstance(kernel, Laplacian) else "euclidean")
    )


@pytest.fixture
def pair(rng):
    return rng.normal(size=(50, 4)), rng.normal(size=(30, 4))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_values_in_place_are_those_of_the_profile(pair, kernel):
    X, Y = pair
    values = kernel._values_against(Y, len(X))
    assert isinstance(values, ByShape)
    out = np.full((20, len(Y)), np.nan)
    for start in (0, 20):  # the second block uses the memory of the first
        values(X, slice(start, start + 20), out)
        assert_allclose(out, twin(kernel, X[start : start + 20], Y), **CLOSE)
    assert_allclose(kernel(X, Y), twin(kernel, X, Y), **CLOSE)
    assert_allclose(kernel._block(X, Y), twin(kernel, X, Y), **CLOSE)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_profile_in_place_leaves_the_distances_alone(rng, kernel):
    z = 9 * rng.random((7, 5))
    before = z.copy()
    assert_allclose(kernel._at(z), kernel._profile(z), rtol=1e-14)
    assert_array_equal(z, before)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("scale", [1e-200, 1e-90, 1e90, 1e200, 1e300])
def test_rows_of_any_size(pair, kernel, scale):
    X, Y = pair
    scaled = kernel.__class__(**{**kernel.get_params(), "sigma": kernel.sigma * scale})
    assert_allclose(scaled(X * scale, Y * scale), twin(kernel, X, Y), **CLOSE)
    far = kernel(X * scale, Y)
    assert np.isfinite(far).all()
    assert far.max() <= 1


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_other_data_take_the_general_way(pair, kernel):
    X, Y = pair
    single = kernel(X.astype(np.float32), Y.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, twin(kernel, X, Y), rtol=1e-4, atol=1e-5)
    assert_allclose(kernel(sparse.csr_array(X), sparse.csr_array(Y)), kernel(X, Y), **CLOSE)
    assert type(kernel._values_against(sparse.csr_array(Y), 50)) is Against
    mixed = kernel._values_against(Y, len(X))  # prepared for dense rows, used on others
    mixed(sparse.csr_array(X), slice(0, 9), out := np.empty((9, len(Y))))
    assert_allclose(out, twin(kernel, X[:9], Y), **CLOSE)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_distances_among_rows_are_symmetric_and_in_the_unit_of_the_kernel(rng, kernel):
    X, shape = rng.normal(size=(400, 4)), kernel._shape()  # two blocks of rows
    write_distances(kernel, X, out := np.empty((400, 400)))
    z = cdist(X, X, "cityblock" if isinstance(kernel, Laplacian) else "euclidean") / shape.unit
    assert_array_equal(out, out.T)
    # The root of a rounding error of 1e-15 on the diagonal is 3e-8.
    assert_allclose(out, np.square(z) if shape.is_of_square else z, rtol=1e-9, atol=1e-7)


class Power(OfDistance):
    """A kernel of a user, with nothing but a profile."""

    def _profile(self, z):
        return -np.sqrt(z)


def test_kernel_without_a_shape(pair):
    X, Y = pair
    assert type(Power()._values_against(Y, 50)) is Against
    assert_allclose(Power()(X, Y), -np.sqrt(cdist(X, Y)), **CLOSE)
    assert_allclose(Power()._at(cdist(X, Y)), -np.sqrt(cdist(X, Y)))


class Doubled(Gaussian):
    """A kernel of a user that changes the profile of a kernel with a shape."""

    def _profile(self, z):
        return 2 * super()._profile(z)


class Halved(Matern):
    """A kernel of a user that changes the blocks of a kernel with a shape."""

    def _block(self, X, Y):
        return super()._block(X, Y) / 2


def test_subclass_with_another_formula(pair):
    X, Y = pair
    assert_allclose(Halved(1.7)(X, Y), Matern(1.7)(X, Y) / 2, **CLOSE)
    assert_allclose(Doubled(1.7)(X, Y), 2 * Gaussian(1.7)(X, Y), **CLOSE)
    z = cdist(X, Y)
    assert_allclose(Doubled(1.7)._at(z), 2 * Gaussian(1.7)._at(z), **CLOSE)


@pytest.mark.parametrize("kernel", [*KERNELS, Power()], ids=repr)
def test_weighted_values_of_a_map(pair, kernel, rng):
    X, Y = pair
    features = Nystrom(kernel, 10, landmarks=Y, n_landmarks=None, random_state=0).fit(X)
    weights = rng.normal(size=(len(features.landmarks_), 2))
    found = features.weighted_values(X, weights)
    assert_allclose(found, kernel(X, features.landmarks_) @ weights, rtol=1e-11, atol=1e-12)


class Broken(OfDistance):
    """A kernel that has no value for distances above a limit."""

    def __init__(self, limit=np.inf):
        self.limit = limit

    def _profile(self, z):
        return np.where(z > self.limit, np.nan, np.exp(-z))


def test_weighted_values_name_the_bad_pair(pair):
    X, Y = pair
    features = Nystrom(Broken(), 30, landmarks="all", random_state=0).fit(Y)
    features.kernel_.limit = 50.0
    X[7] = 100.0
    with pytest.raises(BadPairError, match="7"):
        features.weighted_values(X, np.ones((len(features.landmarks_), 1)))


def test_scratch_is_pickled_without_its_memory():
    scratch = Scratch()
    scratch.array("a", (1000, 1000))
    assert len(pickle.dumps(scratch)) < 100
    assert pickle.loads(pickle.dumps(scratch)).array("a", (2, 3)).shape == (2, 3)


def test_scratch_is_used_again():
    scratch = Scratch()
    first = scratch.array("a", (4, 5))
    assert np.shares_memory(first, scratch.array("a", (2, 3)))
    assert not np.shares_memory(first, scratch.array("b", (2, 3)))
    assert scratch.array("a", (6, 5)).shape == (6, 5)
    assert scratch.array("a", (2, 2), np.float32).dtype == np.float32
