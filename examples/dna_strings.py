"""DNA strings: splice junctions recognised by edit distance, against counts of letters."""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from krein import Nystrom
from krein.kernels import EditDistance, Similarity

rng = np.random.default_rng(0)
motifs = ["CAGGTAAGTATCAGG", "TTTCCTCTTGCAGGT", ""]  # donor, acceptor, neither


def sequence(motif: str) -> str:
    """The motif with some letters changed, in the middle of random DNA of length 40 to 43."""
    letters = [rng.choice(list("ACGT")) if rng.random() < 0.3 else x for x in motif]
    ends = [rng.choice(list("ACGT"), n) for n in (10 + rng.integers(4), 30 - len(motif))]
    return "".join([*ends[0], *letters, *ends[1]])


y = rng.integers(3, size=1500)
strings = [sequence(motifs[i]) for i in y]
X_train, X_test, y_train, y_test = train_test_split(strings, y, random_state=0)
kernel = Similarity(EditDistance())  # exp(−edits / median of edits), indefinite
counts, features = CountVectorizer(analyzer="char"), Nystrom(kernel, 50, random_state=0)
for name, step in (("baseline", counts), ("accuracy", features)):
    model = make_pipeline(step, LogisticRegression(max_iter=1000)).fit(X_train, y_train)
    print(f"{name} {model.score(X_test, y_test):.3f}")
