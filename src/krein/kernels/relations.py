"""Directed relations as kernels: matrices, graphs, conditional probabilities and attention.

The objects of `Relation` and `DirectedGraph` are node ids, whole numbers from 0 to n − 1. The
objects of `ConditionalProbability` and `Attention` are vectors.
"""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._blocks import BLOCK_BYTES, row_blocks
from .._hashing import hash_rows
from .._validation import ArgumentError, check_choice, check_count, check_positive, own, same
from ..rows import count, dense
from ._distances import distances, products
from ._nodes import check_non_negative, is_mirrored, node_ids, square_matrix
from ._perplexity import Neighbourhoods
from ._shared import SharedParameters
from ._walks import AllSteps, Steps, spectral_radius, stochastic
from .base import Kernel
from .errors import UnresolvedError, one_line
from .traits import Traits


class Relation(SharedParameters):
    """A matrix of values between nodes, ``k(i, j) = matrix[i, j]``.

    The objects are node ids: whole numbers from 0 to n − 1 in an array of shape (m,) or (m, 1).
    Training and test objects are ids of the same matrix, so cross-validation and grid searches
    split the ids and need no matrix of their own. `Precomputed` takes the matrix itself as data.

    A clone shares the matrix with the kernel: do not change the matrix in place.

    Parameters
    ----------
    matrix : array-like or sparse matrix of shape (n, n)
        The values; row i holds the values of node i as first argument. Entries may be negative.
    symmetric : "auto" or bool, default="auto"
        "auto" compares the matrix with its transpose, up to round-off. True refuses a matrix that
        is not symmetric. False treats a symmetric matrix as one that is not.

    Notes
    -----
    ``Nystrom(landmarks=[3, 5])`` means the rows 3 and 5 of the training data, for objects of any
    kind. ``landmarks=[[3], [5]]``, ids of shape (m, 1), means the nodes 3 and 5.

    Examples
    --------
    >>> from krein.kernels import Relation
    >>> cites = Relation([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    >>> cites([0, 2], [1, 2])
    array([[1., 1.],
           [0., 0.]])
    >>> cites.is_symmetric
    False
    """

    def __init__(self, matrix: Any, symmetric: bool | str = "auto"):
        self.matrix = matrix
        self.symmetric = symmetric

    def _derive(self) -> tuple[Any, bool]:
        """Return the checked matrix, and whether the kernel is symmetric."""
        declared = check_choice(self, "symmetric", self.symmetric, ("auto", True, False))
        matrix = square_matrix(self, "matrix", self.matrix)
        symmetric = bool(declared) and is_mirrored(matrix)
        if declared and not symmetric and not isinstance(declared, str):
            raise ValueError(
                "Relation(symmetric=True) needs a symmetric matrix, but matrix is not symmetric: "
                "pass (matrix + matrix.T) / 2, or use symmetric='auto'."
            )
        return matrix, symmetric

    @property
    def traits(self) -> Traits:
        matrix, symmetric = self._derived
        thin = sparse.issparse(matrix)
        return Traits(symmetric, fills_diagonal=False, takes_vectors=False, is_sparse=thin)

    def _check_data(self, X: Any, name: str = "X") -> NDArray[np.int64]:
        return node_ids(self, X, self._derived[0].shape[0], name)

    def _block(self, X: Any, Y: Any) -> NDArray:
        matrix, x, y = self._derived[0], X[:, 0], Y[:, 0]
        block = matrix[x][:, y].toarray() if sparse.issparse(matrix) else matrix[np.ix_(x, y)]
        return block.astype(float, copy=False)

    def _diagonal(self, X: Any) -> NDArray:
        return self._derived[0].diagonal()[X[:, 0]].astype(float)


class DirectedGraph(SharedParameters):
    """Walks from node i to node j on a directed graph.

    Row i of the adjacency matrix A holds the weights of the edges that leave node i. The matrix
    ``P = D⁻¹(A + self_loops·I)``, where D holds the row sums, has the probabilities of a step of a
    random walk. The matrix of all values k(i, j) is

        Σ_{s=1..steps} damping^(s−1) P^s    for walk="row",
        Σ_{s≥1} damping^s A^s               for walk="katz", which counts walks of every length.

    A node without edges is legal: without self-loops its row and column are zero.

    The objects are node ids: whole numbers from 0 to n − 1 in an array of shape (m,) or (m, 1).
    A sparse graph stays sparse. A clone shares the adjacency matrix with the kernel: do not change
    the matrix in place.

    Parameters
    ----------
    adjacency : sparse matrix or array-like of shape (n, n)
        The weights of the edges, ≥ 0; ``adjacency[i, j]`` belongs to the edge from i to j.
    walk : {"row", "katz"}, default="row"
        Which sum of walks is the kernel.
    steps : int, default=1
        Number of steps of "row", ≥ 1. "katz" does not use it.
    damping : float, default=1.0
        Factor of each further step, > 0. "katz" needs a factor below 1/ρ(A), where ρ(A) is the
        largest magnitude of the eigenvalues of A.
    self_loops : bool or float, default=True
        Weight of an additional edge from each node to itself, ≥ 0, for "row". True means 1.

    References
    ----------
    L. Katz. A new status index derived from sociometric analysis. Psychometrika 18, 1953.

    M. He, F. He, L. Shi, X. Huang, J. A. K. Suykens. Learning With Asymmetric Kernels: Least
    Squares and Feature Interpretation. IEEE TPAMI 45, 2023. The kernel is "row" with one step.

    Examples
    --------
    >>> from krein.kernels import DirectedGraph
    >>> path = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]  # 0 → 1 → 2
    >>> DirectedGraph(path)([0, 1, 2])
    array([[0.5, 0.5, 0. ],
           [0. , 0.5, 0.5],
           [0. , 0. , 1. ]])
    >>> DirectedGraph(path, "katz", damping=0.5)([0], [1, 2])
    array([[0.5 , 0.25]])
    """

    traits = Traits(False, fills_diagonal=False, takes_vectors=False, is_sparse=True)

    def __init__(
        self,
        adjacency: Any,
        walk: str = "row",
        steps: int = 1,
        damping: float = 1.0,
        self_loops: bool | float = True,
    ):
        self.adjacency = adjacency
        self.walk = walk
        self.steps = steps
        self.damping = damping
        self.self_loops = self_loops

    def _derive(self) -> tuple[int, Steps | AllSteps]:
        """Return the number of nodes and the sum of walks."""
        walk = check_choice(self, "walk", self.walk, ("row", "katz"))
        damping = check_positive(self, "damping", self.damping)
        steps, loops = check_count(self, "steps", self.steps), self.self_loops
        if not isinstance(loops, Real | np.bool) or not 0 <= loops < np.inf:
            raise ArgumentError(self, "self_loops", "True, False or a weight ≥ 0", loops)
        matrix = square_matrix(self, "adjacency", self.adjacency)
        check_non_negative(self, matrix)
        # SciPy has no sparse matrices of half precision.
        A = sparse.csr_array(matrix.astype(float, copy=False))
        if walk == "katz":
            return A.shape[0], self._katz(A, damping)
        return A.shape[0], Steps(stochastic(A, float(loops)), int(steps), damping)

    def _katz(self, A: sparse.csr_array, damping: float) -> AllSteps:
        try:
            with np.errstate(over="ignore"):
                return AllSteps(damping * A)
        except ValueError:
            limit = 1 / max(spectral_radius(A), np.finfo(float).tiny)
            needed = f"below 1/ρ(A) = {limit:.4g}, where the sum of walk='katz' converges"
            raise ArgumentError(self, "damping", needed, self.damping) from None

    def _check_data(self, X: Any, name: str = "X") -> NDArray[np.int64]:
        return node_ids(self, X, self._derived[0], name)

    def _block(self, X: Any, Y: Any) -> NDArray:
        # Walks are followed from the smaller side.
        if len(X) > len(Y):
            return self._rows_of(Y[:, 0], X[:, 0], turned=True).T
        return self._rows_of(X[:, 0], Y[:, 0], turned=False)

    def _rows_of(self, x: NDArray, y: NDArray, turned: bool) -> NDArray:
        """Return the rows x and columns y of the kernel matrix, or of its transpose."""
        walks = self._derived[1]
        out = np.empty((len(x), len(y)))
        for part in walks.parts(x, turned):
            rows = walks.rows(x[part], turned)[:, y]
            out[part] = dense(rows)
        return out

    def _diagonal(self, X: Any) -> NDArray:
        walks, x = self._derived[1], X[:, 0]
        parts = [x[part] for part in walks.parts(x, turned=False)]
        return np.concatenate([walks.rows(ids, turned=False)[:, ids].diagonal() for ids in parts])


class ConditionalProbability(SharedParameters):
    """The probability that x has y as its neighbour, as in stochastic neighbour embedding.

        k(x, y) = p(y | x) = exp(−‖x − y‖² / 2σ_x²) / Σ_{t ∈ T, t ≠ x} exp(−‖x − t‖² / 2σ_x²),

    and k(x, x) = 0. The training rows T are the rows that feature maps and learners see in `fit`;
    `resolved` returns a kernel that holds them. The bandwidth σ_x gives the probabilities of the
    training rows other than x the wanted perplexity, the exponential of their entropy. So the
    probabilities of every x, in T or not, sum to one over T. Training rows that equal x count as x.
    A new y changes neither the bandwidth nor the sum. The value of a new y that lies closer to x
    than the training rows is at most 1.

    The kernel is not symmetric: an outlier has neighbours in a cluster, but no row of the cluster
    has the outlier as its neighbour. A block k(X, Y) needs the distances of X to all of T.

    Parameters
    ----------
    perplexity : float, default=30
        Effective number of neighbours of a row, above 1 and at most the number of training rows
        minus one.
    rows : array-like or CSR matrix of shape (n, d), default=None
        The training rows T. None takes them from the training data. A clone shares the rows with
        the kernel.

    References
    ----------
    G. Hinton, S. Roweis. Stochastic Neighbor Embedding. NIPS 2002. Eq. 1.

    Examples
    --------
    >>> from krein.kernels import ConditionalProbability
    >>> X = [[0.0], [1.0], [3.0], [4.0]]
    >>> kernel = ConditionalProbability(perplexity=2).resolved(X)
    >>> kernel(X).round(2)
    array([[0.  , 0.75, 0.19, 0.06],
           [0.73, 0.  , 0.24, 0.04],
           [0.04, 0.24, 0.  , 0.73],
           [0.06, 0.19, 0.75, 0.  ]])
    """

    traits = Traits(is_symmetric=False)

    def __init__(self, perplexity: float = 30, rows: Any = None):
        self.perplexity = perplexity
        self.rows = rows

    @property
    def is_resolved(self) -> bool:
        return self.rows is not None

    @property
    def _waits_for(self) -> str | None:
        """The parameter that depends on data, for error messages."""
        return "rows=None" if self.rows is None else None

    def _resolved(self, X: Any) -> ConditionalProbability:
        found = copy.copy(self)
        found.rows = own(X)  # the caller may change the training data
        found._check_data(X)  # refuses a perplexity beyond the number of rows
        return found

    def _derive(self) -> tuple[Any, NDArray[np.uint64], float]:
        """Return the training rows, their hashes and the perplexity."""
        if self.rows is None:
            raise UnresolvedError(self)
        rows = super()._check_data(self.rows, "rows")
        n = count(rows)
        value = self.perplexity
        if not isinstance(value, Real) or isinstance(value, bool) or not 1 < value <= n - 1:
            needed = f"above 1 and at most {n - 1}, the number of training rows minus one"
            raise ArgumentError(self, "perplexity", needed, value)
        return rows, hash_rows(rows), float(value)

    def _check_data(self, X: Any, name: str = "X") -> Any:
        X = super()._check_data(X, name)
        if self.is_resolved and X.shape[1] != self._derived[0].shape[1]:
            raise ValueError(
                f"ConditionalProbability has training rows of {self._derived[0].shape[1]} columns, "
                f"but {name} has {X.shape[1]}."
            )
        return X

    def _block(self, X: Any, Y: Any) -> NDArray:
        mine, theirs = hash_rows(X), hash_rows(Y)
        out = np.empty((count(X), count(Y)))
        for part in row_blocks(len(out), 8 * count(self._derived[0]), BLOCK_BYTES):
            found = self._neighbourhoods(X[part], mine[part])
            out[part] = found.probabilities(distances(X[part], Y).astype(float))
            out[part][mine[part, None] == theirs] = 0
        return out

    def _neighbourhoods(self, X: Any, hashes: NDArray[np.uint64]) -> Neighbourhoods:
        rows, known, perplexity = self._derived
        others = hashes[:, None] != known
        if not others.any(axis=1).all():
            raise ValueError(
                "ConditionalProbability needs training rows that differ, but all "
                f"{count(rows)} of them equal one row: it has no neighbours."
            )
        return Neighbourhoods.of(distances(X, rows).astype(float), others, perplexity)

    def _diagonal(self, X: Any) -> NDArray:
        return np.zeros(count(X))


class Attention(Kernel):
    """The attention of a query x to a key y, ``k(x, y) = exp(⟨W_q x, W_k y⟩ / √d_k)``.

    A softmax over y would divide by the sum of a row. The kernel is the numerator, which does not
    depend on other rows.

    Parameters
    ----------
    W_query : array-like of shape (d_k, d)
        The matrix W_q, for data of d columns.
    W_key : array-like of shape (d_k, d)
        The matrix W_k. If it equals `W_query`, the kernel is symmetric and positive definite.

    References
    ----------
    A. Vaswani et al. Attention Is All You Need. NIPS 2017. Eq. 1, without the division.

    Examples
    --------
    >>> from krein.kernels import Attention
    >>> kernel = Attention(W_query=[[1.0, 0.0]], W_key=[[0.0, 1.0]])
    >>> kernel([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[1.    , 2.7183],
           [1.    , 1.    ]])
    """

    def __init__(self, W_query: ArrayLike, W_key: ArrayLike):
        self.W_query = W_query
        self.W_key = W_key

    @property
    def traits(self) -> Traits:
        return Traits(is_symmetric=same(self._matrix_of("W_query"), self._matrix_of("W_key")))

    def _matrix_of(self, name: str) -> NDArray:
        try:
            found = np.asarray(getattr(self, name), dtype=float)
        except (TypeError, ValueError):
            found = np.empty(0)
        if found.ndim != 2 or not found.size or not np.isfinite(found).all():
            got = one_line(getattr(self, name))
            raise ValueError(f"Attention needs {name} to be a matrix of finite numbers, got {got}.")
        return found

    def _check_data(self, X: Any, name: str = "X") -> Any:
        query, key = self._matrix_of("W_query"), self._matrix_of("W_key")
        if query.shape != key.shape:
            raise ValueError(
                "Attention needs W_query and W_key of one shape, (d_k, number of columns of X), "
                f"got {query.shape} and {key.shape}."
            )
        X = super()._check_data(X, name)
        if X.shape[1] != query.shape[1]:
            raise ValueError(
                f"Attention has W_query and W_key of {query.shape[1]} columns, but {name} has "
                f"{X.shape[1]} columns: they must be equal."
            )
        return X

    @np.errstate(over="ignore", invalid="ignore")
    def _block(self, X: Any, Y: Any) -> NDArray:
        queries, keys = self._projected(X, "W_query"), self._projected(Y, "W_key")
        return self._exp(products(queries, keys), np.result_type(X.dtype, Y.dtype))

    @np.errstate(over="ignore", invalid="ignore")
    def _diagonal(self, X: Any) -> NDArray:
        pairs = self._projected(X, "W_query") * self._projected(X, "W_key")
        return self._exp(pairs.sum(axis=1), X.dtype)

    def _projected(self, X: Any, name: str) -> NDArray[np.float64]:
        W = self._matrix_of(name)
        return products(X, W) / len(W) ** 0.25

    def _exp(self, exponent: NDArray[np.float64], dtype: np.dtype) -> NDArray:
        limit = np.log(np.finfo(dtype).max)
        largest = exponent.max(initial=-np.inf)
        if not largest <= limit:
            raise ValueError(
                f"Attention overflows: the largest ⟨W_query x, W_key y⟩/√d_k is {largest:.4g}, but "
                f"exp of more than {limit:.4g} exceeds the largest {dtype} number: divide W_query, "
                "W_key or X by a number."
            )
        return np.exp(exponent).astype(dtype, copy=False)
