"""The digits of scikit-learn, split into training and test rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

# The features have about unit norm; the penalty is chosen on the training rows alone.
PENALTIES = np.logspace(-6, 0, 7)


@dataclass(frozen=True)
class Split:
    """Training and test rows with their classes.

    Attributes
    ----------
    train : ndarray of shape (n_train, 64)
        Training rows.
    test : ndarray of shape (n_test, 64)
        Test rows.
    train_classes : ndarray of shape (n_train,)
        Classes of the training rows.
    test_classes : ndarray of shape (n_test,)
        Classes of the test rows.
    data : str
        How the rows are scaled.
    """

    train: NDArray[np.float64]
    test: NDArray[np.float64]
    train_classes: NDArray
    test_classes: NDArray
    data: str = "pixels in [0, 1]"

    def on_sphere(self) -> Split:
        """Return the split with rows scaled to norm 1."""
        rows = normalize(self.train), normalize(self.test)
        note = f"{self.data}, rows scaled to norm 1"
        return Split(*rows, self.train_classes, self.test_classes, note)

    def accuracy(self, train: NDArray, test: NDArray) -> float:
        """Return the accuracy of a linear model on features of the training and test rows."""
        model = RidgeClassifierCV(PENALTIES).fit(train, self.train_classes)
        return float(model.score(test, self.test_classes))


def digits(n_train: int, n_test: int, rng: np.random.Generator) -> Split:
    """Load the digits, scale the pixels to [0, 1] and split the rows."""
    X, y = load_digits(return_X_y=True)
    train, test, train_classes, test_classes = train_test_split(
        X / 16, y, train_size=n_train, test_size=n_test, stratify=y, random_state=seed(rng)
    )
    return Split(train, test, train_classes, test_classes)


def seed(rng: np.random.Generator) -> int:
    """Draw an integer seed, because scikit-learn does not accept a Generator."""
    return int(rng.integers(2**31))
