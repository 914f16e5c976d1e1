"""Citations: which papers does a new paper cite, and which papers cite it?"""

import numpy as np
from scipy import sparse

from krein import AsymmetricEmbedding, Nystrom
from krein.kernels import DirectedGraph

rng = np.random.default_rng(0)
n, papers = 600, np.arange(600)
field = rng.integers(4, size=n)  # a paper mostly cites papers of the next of four fields
after = (field[None] - field[:, None]) % 4 == 1
cites = sparse.csr_array((rng.random((n, n)) < np.where(after, 0.12, 0.02)).astype(float))
old, new = papers[:450], papers[450:]  # the objects are ids; maps are fitted on old papers

kernel = DirectedGraph(cites)  # k(i, j): the chance that a reader of paper i goes on to paper j
features = Nystrom(kernel, n_components=4, landmarks="all").fit(old)
symmetric = Nystrom(kernel.symmetric_part, n_components=4, landmarks="all").fit(old)
cited, _ = features.nearest(new, old, k=10, direction="source")
citing, _ = features.nearest(new, old, k=10, direction="target")
linked, _ = symmetric.nearest(new, old, k=10)
print(f"baseline {np.mean((field[linked] - field[new, None]) % 4 == 1):.3f} (symmetrised)")
print(f"papers that are cited: accuracy {np.mean((field[cited] - field[new, None]) % 4 == 1):.3f}")
print(f"papers that cite: accuracy {np.mean((field[new, None] - field[citing]) % 4 == 1):.3f}")

# The sources of a field lie next to the targets of the field that it cites.
embedding = AsymmetricEmbedding(n_components=2, kernel=kernel).fit(old)
for i in range(4):
    s, t = (f(new[field[new] == i]) for f in (embedding.transform, embedding.transform_dual))
    print(f"field {i}: source {s.mean(axis=0).round(3)}, target {t.mean(axis=0).round(3)}")
