"""Any Python function of two objects is a kernel: here shopping baskets and their departments."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from krein import Nystrom
from krein.kernels import Pairwise


def similarity(a: set, b: set) -> float:
    """Common items, and a quarter of the others from a common department, per item."""
    departments = {item[0] for item in a} & {item[0] for item in b}
    related = sum(item[0] in departments for item in a ^ b)
    return (len(a & b) + 0.25 * related) / max(len(a), len(b))


rng = np.random.default_rng(0)
y = rng.integers(3, size=800)
baskets = []  # of four to nine items such as "C4", mostly from the two departments of a habit
for habit in y:
    choice = rng.choice(list(["AB", "CD", "EF"][habit] * 4 + "ABCDEF"), rng.integers(4, 10))
    baskets.append({f"{department}{rng.integers(9)}" for department in choice})
X_train, X_test, y_train, y_test = train_test_split(baskets, y, random_state=0)
# With n_jobs=-1 the function is called in parallel processes.
features = Nystrom(Pairwise(similarity), n_components=20, random_state=0)
model = make_pipeline(features, LogisticRegression()).fit(X_train, y_train)
print(f"baseline {np.bincount(y_test).max() / len(y_test):.3f} (largest class)")
print(f"accuracy {model.score(X_test, y_test):.3f}")
