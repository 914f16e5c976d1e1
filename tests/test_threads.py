"""Threads have one owner: small linear algebra has one BLAS thread, and a fork finds no lock."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg  # SciPy has a BLAS of its own
from sklearn.base import clone
from threadpoolctl import ThreadpoolController, threadpool_limits

import krein
from krein import _threads
from krein.kernels import Gaussian, Pairwise
from krein.proximity import DoubleCentering, KreinPCA

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
LABELS = X[:, 0] > 0


# Made once: looking for the libraries of a process takes milliseconds.
BLAS = ThreadpoolController().select(user_api="blas").lib_controllers


def blas_threads():
    return {library.num_threads for library in BLAS}


@pytest.fixture
def two_threads():
    """BLAS may use two threads, whatever the environment says."""
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this BLAS cannot be given two threads")
        yield


# --- who decides --------------------------------------------------------------------------------

ESTIMATORS = [
    krein.KreinClassifier(Gaussian(), 5, max_seconds=1e-9, random_state=0),
    krein.KreinRegressor(Gaussian(), 5, max_seconds=1e-9, random_state=0),
    krein.KreinRidge(Gaussian(), 5),
    krein.KreinRidgeClassifier(Gaussian(), 5),
    krein.KreinSVC(Gaussian(), 5),
    krein.VarianceConstrainedRegressor(Gaussian(), 5),
    krein.VarianceConstrainedClassifier(Gaussian(), 5),
    krein.CorrectedSVC(Gaussian()),
    krein.Nystrom(Gaussian(), 5),
    krein.SimilarityFeatures(Gaussian(), 5),
    krein.RandomFourier(Gaussian(), 8),
    KreinPCA(kernel=Gaussian()),
    DoubleCentering(lambda a, b: _seen_distance(a, b)),
]


class Seen(Gaussian):
    """Notes the threads of BLAS whenever values are asked for."""

    def _block(self, X, Y):
        NOTED.append(blas_threads())
        return super()._block(X, Y)


NOTED: list[set[int]] = []


def _seen_distance(a, b):
    NOTED.append(blas_threads())
    return float(np.abs(a - b).sum())


VERBS = ("predict", "decision_function", "transform", "transform_dual")


def _use(estimator, rows):
    """Fit on the rows and call every verb."""
    if "kernel" in estimator.get_params(deep=False):
        estimator = clone(estimator).set_params(kernel=Seen())
    fitted = clone(estimator).fit(rows, rows[:, 0] > 0)
    for verb in VERBS:
        if hasattr(fitted, verb):
            getattr(fitted, verb)(rows)
    return fitted


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_small_linear_algebra_has_one_blas_thread(estimator, two_threads, monkeypatch):
    """Not only where kernel values are computed: the decompositions of NumPy and SciPy as well."""
    NOTED.clear()
    for module in (np.linalg, scipy.linalg):
        for name in ("eigh", "svd", "qr", "cholesky", "solve"):
            monkeypatch.setattr(module, name, _noting(getattr(module, name)))
    _use(estimator, X)
    assert NOTED or isinstance(estimator, krein.RandomFourier)
    assert all(threads == {1} for threads in NOTED)
    assert blas_threads() == {2}


def test_the_core_of_few_landmarks_has_one_blas_thread_however_many_rows(two_threads, monkeypatch):
    """Threads that wait for the next product would spin on the cores that `transform` needs."""
    NOTED.clear()
    for name in ("svd", "qr", "eigvalsh"):
        monkeypatch.setattr(np.linalg, name, _noting(getattr(np.linalg, name)))
    rows = np.random.default_rng(0).random((_threads.LARGE + 1, 3))
    krein.Nystrom(Seen(), 10, random_state=0).fit(rows)
    assert NOTED
    assert all(threads == {1} for threads in NOTED)


def _noting(function):
    def noted(*arguments, **options):
        NOTED.append(blas_threads())
        return function(*arguments, **options)

    return noted


def test_large_linear_algebra_keeps_the_threads_of_blas(two_threads, monkeypatch):
    monkeypatch.setattr(_threads, "LARGE", 40)
    NOTED.clear()
    _use(KreinPCA(kernel=Gaussian()), X)
    assert {2} in NOTED


@pytest.mark.parametrize(
    ("data", "widths", "is_small"),
    [
        (np.ones((1000, 1000)), (1000,), True),
        (np.ones((1001, 2)), (), False),
        (np.ones((2, 1001)), (), False),
        (np.ones((2, 2)), (1001,), False),
        (["a"] * 1000, (), True),
        (["a"] * 1001, (), False),
        (None, (), False),  # a stream
        (iter(()), (), False),
        (np.ones((2, 2)), ("auto",), False),
    ],
)
def test_sizes_decide(data, widths, is_small, two_threads):
    with _threads.blas_threads_for(data, *widths):
        assert blas_threads() == ({1} if is_small else {2})
    assert blas_threads() == {2}


def test_the_first_hold_knows_the_library_of_scipy():
    """A hold before SciPy is imported must limit the BLAS that comes with SciPy as well."""
    code = """
from krein._threads import one_blas_thread
with one_blas_thread():
    import scipy.linalg, threadpoolctl
    found = threadpoolctl.ThreadpoolController().select(user_api="blas").info()
    assert all(library["num_threads"] == 1 for library in found), found
"""
    env = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert run.returncode == 0, run.stderr[-800:]


def test_holds_nest_and_the_last_one_restores(two_threads):
    with _threads.one_blas_thread() as outer:
        with _threads.one_blas_thread() as inner:
            assert (outer, inner) == (2, 2)
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_threads_that_hold_at_once_share_and_do_not_wait(two_threads):
    entered, leave, found = threading.Event(), threading.Event(), []

    def other():
        with _threads.one_blas_thread() as allowed:
            found.append(allowed)
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with _threads.one_blas_thread():
        thread.start()
        entered.wait()  # which would never come if holds took turns
    assert found == [1]
    assert blas_threads() == {1}  # the other thread still holds
    leave.set()
    thread.join()
    assert blas_threads() == {2}


def test_an_error_releases_the_hold(two_threads):
    with pytest.raises(ZeroDivisionError), _threads.one_blas_thread():
        raise ZeroDivisionError
    assert blas_threads() == {2}
    assert not _threads._holds


# --- fork ----------------------------------------------------------------------------------------

FORK = """
import os, sys, threading, time, warnings
import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
import krein
from krein import _hashing, _threads
from krein.kernels import Gaussian

def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

X = np.random.default_rng(0).standard_normal((2000, 3))
threadpool_limits(2, user_api="blas")
before = blas_threads()
features = krein.Nystrom(Gaussian(), 10, random_state=0).fit(X)
expected = features.transform(X)
inside, leave = threading.Event(), threading.Event()

def wait(*arguments, **options):
    inside.set()
    leave.wait()

def hold_blas():
    with _threads.one_blas_thread():
        wait()

def hold_lock():  # as a thread does that begins or ends a hold at this moment
    with _threads._lock:
        inside.set()
        time.sleep(0.5)

def hold_kinds():
    unique, np.unique = np.unique, wait
    try:
        _hashing.Draws(np.arange(3, dtype=np.uint64), 0).kinds
    except TypeError:  # what waited returns nothing
        np.unique = unique

unique = np.unique
thread = threading.Thread(target=globals()["hold_" + sys.argv[1]], daemon=True)
thread.start()
inside.wait()
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads
    child = os.fork()
if not child:
    np.unique = unique
    same = np.allclose(features.transform(X), expected, rtol=0, atol=1e-12)
    krein.Nystrom(Gaussian(), 10, random_state=0).fit(X)
    os._exit(0 if same and blas_threads() == before and not _threads._holds else 1)
for _ in range(36000):  # an hour: a child that hangs must not hang the tests
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    time.sleep(0.1)
else:
    os.kill(child, 9)
    os.waitpid(child, 0)
    sys.exit("the child hangs")
leave.set()
thread.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("held", ["blas", "lock", "kinds"])
def test_a_fork_while_another_thread_is_inside_leaves_a_working_child(held):
    env = {**os.environ, "PYTHONPATH": str(Path(krein.__file__).resolve().parents[1])}
    run = subprocess.run(
        [sys.executable, "-c", FORK, held], capture_output=True, text=True, check=False, env=env
    )
    assert run.returncode == 0, run.stderr[-800:]


IMPORTING = """
import builtins, os, sys, threading, time, warnings
import numpy as np
from krein.kernels import Gaussian, _exp

_exp.COMPILED = 1  # the compiled loop serves matrices of any size
X = np.random.default_rng(0).standard_normal((2000, 3))
began, plain = threading.Event(), builtins.__import__

def slow(name, *arguments, **options):
    if name.startswith("llvmlite") and not began.is_set():  # while numba is half imported
        began.set()
        time.sleep(0.5)  # the import has begun, and the fork comes meanwhile
    return plain(name, *arguments, **options)

builtins.__import__ = slow
thread = threading.Thread(target=Gaussian(), args=(X,))
thread.start()
assert began.wait(600)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    child = os.fork()
if not child:
    Gaussian()(X)
    os._exit(0)
for _ in range(36000):
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    time.sleep(0.1)
else:
    os.kill(child, 9)
    sys.exit("the child hangs")
thread.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_imports_the_compiler_leaves_a_working_child():
    pytest.importorskip("numba")
    env = {**os.environ, "PYTHONPATH": str(Path(krein.__file__).resolve().parents[1])}
    # A fork during a product with several threads can hang in OpenBLAS itself, which joins its
    # threads before a fork. One thread leaves the locks of krein and Numba, which are tested here.
    env |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-c", IMPORTING]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert run.returncode == 0, run.stderr[-800:]


@pytest.mark.parametrize("learner", [krein.KreinRidge, krein.KreinRegressor])
def test_many_rows_on_a_small_map_have_one_blas_thread(learner, two_threads):
    NOTED.clear()
    rows = np.random.default_rng(0).standard_normal((1300, 2))
    learner(Seen(), 10, random_state=0).fit(rows, rows[:, 0]).predict(rows)
    assert NOTED
    assert all(threads == {1} for threads in NOTED)


def test_slow_functions_may_fit_within(two_threads):
    """A kernel that fits a model itself finds BLAS held, and leaves it held."""
    inner = krein.KreinRidge(Gaussian(), 5).fit(X, X[:, 0])

    def similarity(a, b):
        inner.predict(a[None])
        NOTED.append(blas_threads())
        return float(np.exp(-np.square(a - b).sum()))

    NOTED.clear()
    krein.Nystrom(Pairwise(similarity), 3, random_state=0).fit(X[:20])
    assert NOTED
    assert all(threads == {1} for threads in NOTED)
