"""A laboratory's dissimilarity matrix: no vectors, no metric, new samples arrive as rows."""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from krein import DoubleCentering, KreinPCA, Nystrom

rng = np.random.default_rng(0)
y = rng.integers(4, size=400)
hidden = rng.standard_normal((4, 6))[y] + rng.standard_normal((400, 6))
gaps = np.sort(np.abs(hidden[:, None] - hidden), axis=2)
D = gaps[:, :, :4].sum(axis=2)  # the two worst traits are forgiven: no triangle inequality

train, test = train_test_split(np.arange(400), random_state=0)
D_train, D_test = D[np.ix_(train, train)], D[np.ix_(test, train)]  # new rows against training
pca = make_pipeline(DoubleCentering(), KreinPCA(n_components=20))
nystrom = make_pipeline(DoubleCentering(), Nystrom("precomputed", 20, random_state=0))
baseline = DummyClassifier().fit(D_train, y[train])
print(f"baseline {baseline.score(D_test, y[test]):.3f} (largest class)")
for name, features in (("KreinPCA", pca), ("Nystrom", nystrom)):
    model = make_pipeline(features, LogisticRegression(max_iter=1000)).fit(D_train, y[train])
    print(f"{name}, {features[-1].form_}: accuracy {model.score(D_test, y[test]):.3f}")
