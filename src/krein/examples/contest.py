"""krein against common methods: SVC on the raw, flipped and clipped matrix, and 1-NN.

All methods get the same split and the same kernel, and every penalty is chosen by cross-validation
on the training objects. On a table krein chooses its kernel, and the others get a Gaussian of
standardised columns.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ..auto import KreinClassifier
from ..estimators import CorrectedSVC
from ..rows import take
from .data import seed
from .results import Contest, Outcome
from .tasks import Task

# The penalties of an SVM that are compared, and the number of folds.
C_GRID, FOLDS = {"C": [0.1, 1.0, 10.0, 100.0]}, 3
# The largest number of iterations: libsvm may not stop on an indefinite matrix.
MAX_ITER = 100_000
# Learns from k(training, training) and classes, and predicts from k(test, training).
Method = Callable[[NDArray, NDArray, NDArray], NDArray]


def _tuned(model: Any, K: NDArray, classes: NDArray, K_test: NDArray) -> NDArray:
    return GridSearchCV(model, C_GRID, cv=FOLDS).fit(K, classes).predict(K_test)


def _raw(K: NDArray, classes: NDArray, K_test: NDArray) -> NDArray:
    return _tuned(SVC(kernel="precomputed", max_iter=MAX_ITER), K, classes, K_test)


def _corrected(correction: str) -> Method:
    def predict(K: NDArray, classes: NDArray, K_test: NDArray) -> NDArray:
        model = CorrectedSVC("precomputed", correction=correction, max_iter=MAX_ITER)
        return _tuned(
            model, (K + K.T) / 2, classes, K_test
        )  # only a symmetric matrix has a spectrum

    return predict


def _nearest(K: NDArray, classes: NDArray, K_test: NDArray) -> NDArray:
    return classes[np.argmax(K_test, axis=1)]


METHODS: dict[str, Method] = {
    "SVC raw": _raw,
    "SVC flipped": _corrected("flip"),
    "SVC clipped": _corrected("clip"),
    "1-NN": _nearest,
}


def matrices(task: Task) -> tuple[NDArray, NDArray]:
    """Return k(training, training) and k(test, training)."""
    if task.chosen is not None:
        kernel = task.kernel.resolved(task.train)
        return kernel(task.train), kernel(task.test, task.train)
    scaler = StandardScaler().fit(task.train)
    train, test = scaler.transform(task.train), scaler.transform(task.test)
    return task.kernel(train), task.kernel(test, train)


def contest(task: Task, rng: Generator) -> Contest:
    """Fit every method on the training objects, and again on the same objects in another order.

    Parameters
    ----------
    task : Task
    rng : Generator
        Draws the order, and the seed of krein.
    """
    order, random_state = rng.permutation(len(task.train_classes)), seed(rng)

    def krein(rows: NDArray) -> NDArray:
        model = KreinClassifier(task.chosen, random_state=random_state)
        return model.fit(take(task.train, rows), task.train_classes[rows]).predict(task.test)

    begin = time.perf_counter()
    K, K_test = matrices(task)
    spent = time.perf_counter() - begin

    def on_matrix(method: Method) -> Callable[[NDArray], NDArray]:
        return lambda rows: method(K[np.ix_(rows, rows)], task.train_classes[rows], K_test[:, rows])

    outcomes = [_outcome("krein", krein, task, order, 0.0)]
    for name, method in METHODS.items():
        outcomes.append(_outcome(name, on_matrix(method), task, order, spent))
    return Contest(task.name, task.line, len(order), len(task.test_classes), tuple(outcomes))


def _outcome(
    name: str,
    predict: Callable[[NDArray], NDArray],
    task: Task,
    order: NDArray,
    spent: float,
) -> Outcome:
    """Return the outcome of a method that takes `spent` seconds before it starts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        begin = time.perf_counter()
        first = predict(np.arange(len(order)))
        spent += time.perf_counter() - begin
        again = predict(order)
    right, changed = np.mean(first == task.test_classes), np.mean(first != again)
    return Outcome(name, float(right), float(changed), spent)
