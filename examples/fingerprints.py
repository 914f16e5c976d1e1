"""Molecular fingerprints: Tanimoto similarity on sparse rows of 4096 bits."""

import numpy as np
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from krein import Nystrom
from krein.kernels import Tanimoto

rng = np.random.default_rng(0)
n, bits = 2000, 4096
scaffold = rng.integers(40, size=n)  # a molecule is one of 40 scaffolds ...
active = rng.random(40) < 0.5  # ... which is active or not
parts = [rng.choice(bits, 30, replace=False) for _ in range(40)]
rows = [
    np.union1d(rng.permutation(parts[s])[:18], rng.choice(bits, rng.integers(10, 60)))
    for s in scaffold  # 18 of the scaffold's 30 bits, and side chains
]
indptr = np.cumsum([0] + [len(row) for row in rows])
X = sparse.csr_array((np.ones(indptr[-1]), np.concatenate(rows), indptr), shape=(n, bits))
X_train, X_test, y_train, y_test = train_test_split(X, active[scaffold], random_state=0)
features = Nystrom(Tanimoto(), n_components=100, random_state=0)
model = make_pipeline(features, LogisticRegression(C=100, max_iter=1000)).fit(X_train, y_train)
print(
    f"baseline {DummyClassifier().fit(X_train, y_train).score(X_test, y_test):.3f} (largest class)"
)
print(f"accuracy {model.score(X_test, y_test):.3f}")
