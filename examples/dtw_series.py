"""Time series of unequal length, told apart by dynamic time warping."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from krein import Nystrom
from krein.kernels import DynamicTimeWarping, Similarity

rng = np.random.default_rng(0)


def series(kind: int) -> np.ndarray:
    """Noise with a wave in it (up first, down first, or two), late or early, fast or slow."""
    n, start, width = rng.integers(50, 70), rng.integers(5, 25), rng.integers(15, 25)
    values = 0.3 * rng.standard_normal(n)
    values[start : start + width] += np.sin(np.linspace(0, [1, -1, 2][kind] * 2 * np.pi, width))
    return values


y = rng.integers(3, size=300)
X_train, X_test, y_train, y_test = train_test_split([series(i) for i in y], y, random_state=0)
kernel = Similarity(DynamicTimeWarping(), "gaussian")  # its rate is taken from the data
model = make_pipeline(Nystrom(kernel, 40, random_state=0), LogisticRegression(C=10, max_iter=1000))
cut = [[x[:50] for x in X] for X in (X_train, X_test)]  # value by value, without warping
baseline = LogisticRegression(max_iter=1000).fit(cut[0], y_train)
print(f"baseline {baseline.score(cut[1], y_test):.3f} (without warping)")
print(f"accuracy {model.fit(X_train, y_train).score(X_test, y_test):.3f}")
