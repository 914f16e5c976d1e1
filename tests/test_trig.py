"""The cosine and sine kernels against NumPy, in both precisions and on every path."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed
from rounding import assert_rounded
from threadpoolctl import threadpool_info, threadpool_limits

from krein.features import _sincos, _trig
from krein.features._trig import fourier_features

DTYPES = (np.float64, np.float32)


def draw(rng, n, d, N, dtype=np.float64, scale=1.0):
    """X (n, d), frequencies (N, d), amplitudes (N,), phases (N,)."""
    X = rng.standard_normal((n, d)).astype(dtype)
    W = scale * rng.standard_normal((N, d)) / np.sqrt(max(d, 1))
    return X, W, rng.uniform(0.1, 2.0, N), rng.uniform(-np.pi, np.pi, N)


def plain(X, W, a, b=None):
    """The definition, in double precision."""
    x = X.astype(np.float64) @ W.astype(X.dtype).astype(np.float64).T
    if b is not None:
        x = x + b
    return np.hstack([a * np.cos(x), a * np.sin(x)])


def close(actual, expected, dtype=np.float64, scale=1.0):
    """Equal up to rounding of the arguments, which grow with `scale`."""
    atol = scale * (3e-14 if dtype == np.float64 else 1e-5)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def spacing(x):
    return np.spacing(np.abs(x))


@pytest.fixture
def no_numba(monkeypatch):
    monkeypatch.setattr(_trig, "sincos_kernel", lambda dtype: None)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("n", "d", "N"),
    [(1, 1, 1), (1, 5, 7), (3, 2, 1), (5, 3, 17), (63, 4, 255), (65, 54, 256), (130, 9, 257),
     (2049, 5, 31), (2500, 54, 300)],
)  # fmt: skip  # a case a line hides which edges they are
def test_definition(rng, n, d, N, dtype):
    X, W, a, b = draw(rng, n, d, N, dtype)
    for phases in (None, b):
        Z = fourier_features(X, W, a, phases)
        assert Z.dtype == dtype
        assert Z.shape == (n, 2 * N)
        assert Z.flags.c_contiguous
        close(Z, plain(X, W, a, phases), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_rows_or_no_frequencies(dtype):
    assert fourier_features(np.empty((0, 3), dtype), np.ones((4, 3)), np.ones(4)).shape == (0, 8)
    assert fourier_features(np.ones((2, 3), dtype), np.ones((0, 3)), np.ones(0)).shape == (2, 0)
    assert fourier_features(sp.csr_array((0, 3)), np.ones((4, 3)), np.ones(4)).shape == (0, 8)
    Z = fourier_features(np.empty((2, 0), dtype), np.ones((4, 0)), np.ones(4))
    np.testing.assert_array_equal(Z, np.repeat([[1, 0]] * 2, 4, axis=1))


@pytest.mark.parametrize("largest", [1.0, 10.0, 1e3, 1e6])
def test_last_place_double(rng, largest):
    x = rng.uniform(-largest, largest, (200_000, 1))
    Z = fourier_features(x, np.ones((1, 1)), np.ones(1))
    exact = x.astype(np.longdouble)
    for column, function in enumerate((np.cos, np.sin)):
        expected = function(exact[:, 0])
        assert np.max(np.abs(Z[:, column] - expected) / spacing(expected.astype(float))) < 1.6


@pytest.mark.parametrize("largest", [1.0, 10.0, 100.0, 8e3])
def test_last_place_single(rng, largest):
    x = rng.uniform(-largest, largest, (200_000, 1)).astype(np.float32)
    Z = fourier_features(x, np.ones((1, 1)), np.ones(1))
    for column, function in enumerate((np.cos, np.sin)):
        expected = function(x[:, 0].astype(float))
        error = np.abs(Z[:, column] - expected)
        assert (error <= 1.6 * spacing(expected.astype(np.float32)) + 2e-11).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_quadrants(dtype):
    """Multiples of π/4, where the nearest multiple of π/2 changes, and their neighbours."""
    x = (np.arange(-4000, 4000) * np.pi / 4).astype(dtype)
    x = np.concatenate([x, np.nextafter(x, dtype(1e9)), np.nextafter(x, dtype(-1e9))])
    Z = fourier_features(x[:, None], np.ones((1, 1)), np.ones(1))
    expected = np.stack([np.cos(x.astype(np.longdouble)), np.sin(x.astype(np.longdouble))], axis=1)
    assert np.max(np.abs(Z - expected)) < 1.3 * np.finfo(dtype).eps
    assert (np.sign(Z) == np.sign(expected)).all()


@pytest.mark.parametrize("name", ["_kernel_double", "_kernel_single"])
def test_kernel_interpreted(rng, name):
    """The kernels are plain Python as well; the compiled ones differ by fused operations only."""
    dtype = np.float32 if name.endswith("single") else np.float64
    P = rng.uniform(-50, 50, (3, 5)).astype(dtype)
    a, b = rng.uniform(0.1, 2, (2, 9)).astype(dtype)
    out = np.zeros((3, 2, 9), dtype)
    kernel = getattr(_sincos, name)
    assert kernel(P, b, a, out, np.arange(3), 4) == 0
    x = P + b[4:]
    np.testing.assert_allclose(out[:, 0, 4:], a[4:] * np.cos(x), atol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(out[:, 1, 4:], a[4:] * np.sin(x), atol=4 * np.finfo(dtype).eps)
    assert (out[:, :, :4] == 0).all()
    for wrong in (2e6, np.nan):
        P[1, 2] = wrong
        with np.errstate(invalid="ignore"):
            assert kernel(P, b, a, out, np.arange(3), 4) != 0


@pytest.mark.parametrize(
    ("dtype", "huge"),
    [(dtype, huge) for dtype in DTYPES for huge in (1e4, 1e7, 1e30)] + [(np.float64, 1e300)],
)
def test_huge_arguments(rng, dtype, huge):
    x = rng.uniform(-3, 3, (400, 1)).astype(dtype)
    x[[3, 70, 399], 0] = dtype(huge), -dtype(huge), dtype(huge) / 3
    W, a, b = np.ones((300, 1)), rng.uniform(0.1, 2.0, 300), np.zeros(300)
    Z = fourier_features(x, W, a, b)
    a = a.astype(dtype)
    expected = np.hstack([a * np.cos(x), a * np.sin(x)])
    np.testing.assert_allclose(Z, expected, rtol=0, atol=4 * np.finfo(dtype).eps)
    alone = fourier_features(np.delete(x, [3, 70, 399], axis=0), W, a, b)
    assert_rounded(np.delete(Z, [3, 70, 399], axis=0), alone, 4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_entries_that_are_not_finite(rng, dtype):
    X, W, a, _ = draw(rng, 300, 1, 20, dtype)
    X[5], X[299] = np.inf, np.nan
    Z = fourier_features(X, W, a)
    assert np.isnan(Z[[5, 299]]).all()
    keep = np.delete(np.arange(300), [5, 299])
    close(Z[keep], plain(X[keep], W, a), dtype)


def test_heavy_tails(rng):
    X, W, a, b = draw(rng, 500, 6, 200)
    W = W * rng.standard_cauchy((200, 1)) * 1e4
    x = X @ W.T + b
    error = np.abs(fourier_features(X, W, a, b) - np.hstack([a * np.cos(x), a * np.sin(x)]))
    assert (error <= 1e-14 + 4e-15 * np.tile(np.abs(X) @ np.abs(W).T, 2)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(rng, dtype):
    X, W, a, b = draw(rng, 600, 12, 40, dtype)
    expected = plain(X, W, a, b)
    wide = np.repeat(X, 2, axis=1)
    tall = np.repeat(X, 2, axis=0)
    read_only = X.copy()
    read_only.flags.writeable = False
    for same in (np.asfortranarray(X), wide[:, ::2], tall[::2], X[::-1][::-1], read_only):
        close(fourier_features(same, W, a, b), expected, dtype)
    close(fourier_features(X, np.asfortranarray(W), a, b), expected, dtype)
    close(fourier_features(X[::-1], W, a, b), expected[::-1], dtype)


def test_other_types(rng):
    X = rng.integers(-3, 4, (50, 4))
    _, W, a, b = draw(rng, 1, 4, 6)
    for other in (X, X.astype(">f8"), X.astype(np.float16), sp.csr_array(X)):
        Z = fourier_features(other, W, a, b)
        assert Z.dtype == np.float64
        close(Z, plain(X.astype(float), W, a, b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize(("d", "density"), [(20, 0.5), (3000, 0.01)])
def test_sparse(rng, dtype, form, d, density):
    X = sp.random_array((400, d), density=density, rng=rng, dtype=np.float64)
    X = form(X.astype(dtype))
    _, W, a, b = draw(rng, 1, d, 300, scale=np.sqrt(d) / 4)
    Z = fourier_features(X, W, a, b)
    assert Z.dtype == dtype
    close(Z, plain(X.toarray(), W, a, b), dtype, scale=4)


def test_sparse_narrow_tiles(rng, monkeypatch):
    """Very wide sparse rows: the transposed frequencies are held a few columns at a time."""
    monkeypatch.setattr(_trig, "SPARSE_BYTES", 7 * 500 * 8)
    X = sp.random_array((100, 500), density=0.02, rng=rng, format="csr")
    _, W, a, b = draw(rng, 1, 500, 40)
    close(fourier_features(X, W, a, b), plain(X.toarray(), W, a, b))


def test_small_blocks_of_copied_rows(rng, monkeypatch):
    monkeypatch.setattr(_trig, "BLOCK_BYTES", 9 * 30 * 8)
    X, W, a, b = draw(rng, 100, 30, 20)
    expected = plain(X, W, a, b)
    close(fourier_features(np.repeat(X, 2, axis=1)[:, ::2], W, a, b), expected)
    close(fourier_features(sp.csr_array(X), W, a, b), expected)


def test_wrong_arguments(rng):
    X, W, a, b = draw(rng, 40, 3, 10)
    for wrong in ((W[:, :2], a, b), (W, a[:-1], b), (W, a, b[:-1])):
        with pytest.raises(ValueError, match="frequencies"):
            fourier_features(X, *wrong)


@pytest.mark.parametrize("dtype", DTYPES)
def test_without_numba(rng, dtype, no_numba):
    for n, d, N in ((1, 1, 1), (70, 3, 5), (2500, 20, 300)):
        X, W, a, b = draw(rng, n, d, N, dtype)
        close(fourier_features(X, W, a, b), plain(X, W, a, b), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_with_and_without_numba(rng, dtype, monkeypatch):
    X, W, a, b = draw(rng, 300, 20, 60, dtype, scale=30)
    Z = fourier_features(X, W, a, b)
    monkeypatch.setattr(_trig, "sincos_kernel", lambda dtype: None)
    np.testing.assert_allclose(
        Z, fourier_features(X, W, a, b), rtol=0, atol=6 * np.finfo(dtype).eps
    )


def test_missing_numba_gives_no_kernel(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    _sincos.sincos_kernel.cache_clear()
    assert _sincos.sincos_kernel(np.dtype(np.float64)) is None
    _sincos.sincos_kernel.cache_clear()


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_threads_change_nothing(rng, dtype, form):
    X, W, a, b = draw(rng, 2600, 40, 300, dtype)
    X = form(X)
    before = blas_threads()
    with threadpool_limits(1):
        one = fourier_features(X, W, a, b)
    for n_threads in (2, 3, 7):
        with threadpool_limits(n_threads):
            assert_rounded(fourier_features(X, W, a, b), one, 64 * np.finfo(dtype).eps)
    assert blas_threads() == before


def test_threads_follow_the_limit_of_blas(rng, monkeypatch):
    seen = []
    run = _trig.run_in_threads
    monkeypatch.setattr(
        _trig, "run_in_threads", lambda work, n: (seen.append((n, blas_threads())), run(work, n))
    )
    X, W, a, b = draw(rng, 2600, 40, 300)
    for limit in (1, 2):
        with threadpool_limits(limit):
            if min(blas_threads(), default=1) < limit:
                pytest.skip("BLAS was started with one thread and cannot have more")
            fourier_features(X, W, a, b)
    fourier_features(X[:10], W, a, b)  # small: runs in the caller's thread
    assert [n for n, _ in seen] == [1, 2, 1]
    assert set(seen[1][1]) == {1}  # BLAS itself has one thread meanwhile


def test_splitting_the_rows(rng):
    X, W, a, b = draw(rng, 3000, 54, 300)
    parts = [fourier_features(part, W, a, b) for part in np.split(X, [1, 8, 500, 2601])]
    np.testing.assert_allclose(np.vstack(parts), fourier_features(X, W, a, b), rtol=0, atol=1e-13)


def test_calls_from_several_threads(rng):
    X, W, a, b = draw(rng, 3000, 30, 256)
    expected = fourier_features(X, W, a, b)
    before = blas_threads()
    results = Parallel(n_jobs=4, prefer="threads")(
        delayed(fourier_features)(X, W, a, b) for _ in range(8)
    )
    for Z in results:
        assert_rounded(Z, expected)
    assert blas_threads() == before
