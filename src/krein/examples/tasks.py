"""Four small tasks that people bring: strings, series, a table and a directed graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..kernels import DirectedGraph, DynamicTimeWarping, EditDistance, Gaussian, Kernel, Similarity
from ..rows import take

LETTERS = np.array(list("ACGT"))


@dataclass(frozen=True)
class Task:
    """Objects with their classes, and a kernel of the objects.

    Attributes
    ----------
    name : str
        What the objects are.
    line : str
        The line of krein that solves the task.
    kernel : Kernel
        The kernel of all methods.
    chosen : Kernel or None
        The kernel that krein gets; None lets krein choose.
    train, test : objects
        The objects to learn from and to judge by, as the kernel takes them.
    train_classes, test_classes : ndarray of int
        Their classes.
    """

    name: str
    line: str
    kernel: Kernel
    chosen: Kernel | None
    train: Any
    test: Any
    train_classes: NDArray[np.intp]
    test_classes: NDArray[np.intp]

    @classmethod
    def of(
        cls, name: str, line: str, kernel: Kernel, chosen: Kernel | None, objects: Any, y: NDArray
    ) -> Task:
        """Return a task whose first half is for learning."""
        n = len(y) // 2
        train, test = take(objects, np.arange(n)), take(objects, np.arange(n, len(y)))
        return cls(name, line, kernel, chosen, train, test, y[:n], y[n:])


def strings(n: int, rng: Generator) -> Task:
    """Return strings that descend from one of four ancestors, compared by their edit distance."""
    ancestors = rng.choice(LETTERS, (4, 40))
    y = rng.integers(0, 4, n)
    objects = ["".join(_mutated(list(ancestors[i]), 36, rng)) for i in y]
    kernel = Similarity(EditDistance())
    line = "KreinClassifier(Similarity(EditDistance())).fit(strings, y)"
    return Task.of("strings, edit distance", line, kernel, kernel, objects, y)


def _mutated(letters: list[str], n: int, rng: Generator) -> list[str]:
    """Replace, insert or delete a letter, n times."""
    for _ in range(n):
        place, kind = rng.integers(len(letters)), rng.integers(3)
        if kind == 0:
            letters[place] = str(rng.choice(LETTERS))
        elif kind == 1:
            letters.insert(place, str(rng.choice(LETTERS)))
        elif len(letters) > 10:
            del letters[place]
    return letters


def series(n: int, rng: Generator) -> Task:
    """Return noisy cylinders, bells and funnels (Saito 1994), compared by dynamic time warping."""
    times, y = np.arange(128), rng.integers(0, 3, n)
    rows = []
    for shape in y:
        begin, length = rng.integers(16, 32), rng.integers(32, 96)
        risen = np.clip((times - begin) / length, 0, 1)
        inside = (times >= begin) & (times <= begin + length)
        height = (6 + rng.standard_normal()) * (1.0, risen, 1 - risen)[shape] * inside
        rows.append(height + 2 * rng.standard_normal(128))
    kernel = Similarity(DynamicTimeWarping(), "negative_squared")
    line = "KreinClassifier(Similarity(DynamicTimeWarping(), 'negative_squared')).fit(series, y)"
    return Task.of("series, time warping", line, kernel, kernel, np.array(rows), y)


def table(n: int, rng: Generator) -> Task:
    """Return rows of scikit-learn's breast cancer table, in their units."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    chosen = rng.permutation(len(X))[:n]
    # Two standardised rows are √2d apart on average.
    kernel = Gaussian(float(np.sqrt(X.shape[1])))
    line = "KreinClassifier().fit(X, y)"
    return Task.of("table, 30 columns", line, kernel, None, X[chosen], y[chosen])


def graph(n: int, rng: Generator) -> Task:
    """Return the nodes of a graph whose edges mostly lead from one of four groups to the next."""
    groups = np.arange(n) % 4
    likely = np.where((groups[:, None] + 1) % 4 == groups, 0.12, 0.02)
    edges = (rng.random((n, n)) < likely).astype(float)
    ids = rng.permutation(n)
    kernel = DirectedGraph(edges)
    line = "KreinClassifier(DirectedGraph(adjacency)).fit(nodes, y)"
    return Task.of("nodes, directed edges", line, kernel, kernel, ids, groups[ids])


# The tasks of the tour, with their numbers of objects.
TASKS: tuple[tuple[Callable[[int, Generator], Task], int], ...] = (
    (strings, 300),
    (series, 240),
    (table, 500),
    (graph, 480),
)
