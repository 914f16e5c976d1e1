"""A spectrum learned from labels: three waves separate the classes, and the map finds them."""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from krein import NotSoRandomFeatures

rng = np.random.default_rng(0)
angles = 2 * np.pi * np.arange(3) / 3
X = rng.uniform(-1, 1, (3000, 2))
waves = np.sin(18 * X @ [np.cos(angles), np.sin(angles)]).sum(axis=1)
X, y = X[np.abs(waves) > 0.03], waves[np.abs(waves) > 0.03] > 0
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

features = NotSoRandomFeatures(n_components=200, search="grid", random_state=0)
model = make_pipeline(features, SVC(kernel="linear")).fit(X_train, y_train)
gaussian = SVC(gamma=20.0, C=100.0).fit(X_train, y_train)
chance = DummyClassifier().fit(X_train, y_train).score(X_test, y_test)
print(f"baseline {chance:.3f} (largest class)")
print(f"Gaussian kernel {gaussian.score(X_test, y_test):.3f}")
print(f"accuracy {model.score(X_test, y_test):.3f}")

first = np.linalg.norm(model[0].frequencies_[:3], axis=1)
print(f"norms of the first three frequencies: {first.round(1)}; those of the waves are 18")
