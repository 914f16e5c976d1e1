"""The maps that the automatic learners try."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

from ..features import Nystrom, RandomFourier, SimilarityFeatures
from ..kernels import Gaussian, Kernel, Similarity
from ..proximity import DissimilarityToSimilarity, symmetrize
from ..rows import Sides
from .sizes import FEW, FEWEST, GIVEN, MANY, ONE_RATE, RATES, WHOLE, WIDTHS

# The names of three learners: ridge, the learner that is tried on all maps of a kernel that is not
# symmetric, and the margin machine.
RIDGE, TWO_SIDED, HINGE = "ridge", "two-sided", "squared hinge"
# The width of the Gaussian of similarities, in standard deviations of all similarities.
SIGMA = 1.4


class Candidate(NamedTuple):
    """A map that is tried.

    Attributes
    ----------
    name : str
    width : int
    features : transformer
    is_directed : bool
        True if the kernel of the map is not symmetric, so that two-sided learners gain from its
        second side.
    kinds : tuple of str or None
        The learners that are tried on the map; None leaves the choice to the trials.
    is_nested : bool
        True if the map is fitted anew for each fold on few rows. If all rows are landmarks and the
        kernel is positive definite, the map is fitted once: ridge on some rows has the same
        solution on the features of all rows.
    is_stopgap : bool
        True if the map only serves a fit that runs out of time: a trial on it is forgotten when the
        same learner is fitted on another map.
    costs : tuple of float
        The predicted number of operations of each learner of `kinds`; empty if it is unknown.
    share : float
        The weight of a ridge model in the mixture of ridge models of a table.
    leaves_one_out : bool
        True if ridge is tuned by rows that are left out in turn, in closed form: the map is exact
        and its kernel positive definite.
    teacher : Kernel or None
        The kernel from whose likelihood the map has learned the factors of columns; None if it has
        learned none.
    """

    name: str
    width: int
    features: Any
    is_directed: bool = False
    kinds: tuple[str, ...] | None = None
    is_nested: bool = True
    is_stopgap: bool = False
    costs: tuple[float, ...] = ()
    share: float = 1.0
    leaves_one_out: bool = False
    teacher: Kernel | None = None

    def cost(self, kind: str) -> float | None:
        """Return the predicted number of operations of a learner, or None if it is unknown."""
        return dict(zip(self.kinds or (), self.costs, strict=False)).get(kind)


class View(NamedTuple):
    """A similarity that maps are made of.

    Attributes
    ----------
    name : str
        Empty for the kernel that was given.
    kernel : Kernel or "precomputed"
    before : transformer or None
        The step that makes the similarities of a precomputed matrix.
    is_similar : bool
        True if the values are similarities, False if they are only features.
    """

    name: str
    kernel: Kernel | str
    before: Any = None
    is_similar: bool = True

    def map(self, kind: type, *arguments: Any, **options: Any) -> Any:
        """Return a map of this similarity."""
        made = kind(self.kernel, *arguments, **options)
        return made if self.before is None else make_pipeline(self.before, made)


class BothDirections(TransformerMixin, BaseEstimator):
    """The mean of both directions of precomputed values, ``(k(x, T) + k(T, x)ᵀ)/2``."""

    takes_sides = True

    def fit(self, X: Sides, y: Any = None) -> BothDirections:
        """Learn nothing."""
        return self

    def transform(self, X: Sides) -> NDArray:
        """Return the mean of both sides."""
        return symmetrize(X.left, reverse=X.right.T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


def is_directed(kernel: Kernel | str) -> bool:
    """Return True if the kernel is not symmetric."""
    return isinstance(kernel, Kernel) and not kernel.is_symmetric


def is_of_vectors(kernel: Kernel | str) -> bool:
    """Return True if the kernel takes rows of numbers."""
    return isinstance(kernel, Kernel) and kernel.takes_vectors


def views(kernel: Kernel | str, n_rows: int, median: float | None) -> list[View]:
    """Return the similarities that maps are made of.

    A symmetric kernel gives one view. A kernel that is not symmetric also gives its symmetric part.
    A kernel whose values are dissimilarities D gives several views: ``−½ D²``, which is an inner
    product (double-centred, if D is a matrix); exp(−γ D) and exp(−γ D²), for which all distant
    objects are equally far away; and D itself, as features.

    Parameters
    ----------
    kernel : Kernel or "precomputed"
    n_rows : int
        The number of distinct rows.
    median : float or None
        The median dissimilarity; None if the kernel is a similarity.
    """
    if median is None:
        return [View("", kernel), *_symmetrised(kernel)]
    rules = {"exp": ("D", median), "gaussian": ("D²", median**2)}
    found = [_view("", kernel, "double_centering", "negative_squared")]
    for rule, (letter, unit) in rules.items():
        for rate in RATES if n_rows > ONE_RATE else RATES[:1]:
            name = f"exp(−{'' if rate == 1 else f'{rate:g} '}{letter})"
            found.append(_view(name, kernel, rule, rule, gamma=rate / unit))
    return [*found, View("dissimilarities", kernel, is_similar=False)]


def _symmetrised(kernel: Kernel | str) -> list[View]:
    """Return a view of the symmetric part of a kernel; no view if the kernel is symmetric."""
    if isinstance(kernel, str) or kernel.is_symmetric:
        return []
    if kernel.is_pairwise:
        return [View("symmetrised", "precomputed", BothDirections())]
    return [View("symmetrised", kernel.symmetric_part)]


def _view(name: str, kernel: Kernel | str, of_matrix: str, of_objects: str, **rate: Any) -> View:
    """Return a view of dissimilarities; the rule has a name for matrices and one for kernels."""
    if isinstance(kernel, str):
        return View(name, kernel, DissimilarityToSimilarity(of_matrix, **rate))
    return View(name, Similarity(kernel, of_objects, **rate))


def candidates(
    seen: list[View],
    n_rows: int,
    n_components: int | str,
    megabytes: float,
    seed: int,
    n_jobs: int | None = None,
) -> list[Candidate]:
    """Return the maps to try, cheap ones first; maps beyond the limit of memory are left out.

    Parameters
    ----------
    seen : list of View
    n_rows : int
    n_components : int or "auto"
    megabytes : float
    seed : int
    n_jobs : int, default=None
        Number of processes that evaluate a kernel of objects.
    """
    options = {"random_state": seed, "n_jobs": n_jobs}
    first, *others = _all_maps(seen, n_rows, n_components, options)
    return [first, *(c for c in others if 4 * 8 * c.width**2 <= megabytes * 2**20)]


def _all_maps(
    seen: list[View], n_rows: int, n_components: int | str, options: dict[str, Any]
) -> Iterator[Candidate]:
    automatic = n_components == "auto"
    ranks = [w for w in WIDTHS if w < n_rows] or [max(1, n_rows)]
    ranks = ranks if automatic else [int(n_components)]
    # Similarities to as many objects as the widest map has landmarks.
    rule, width = ("all", n_rows) if n_rows <= WHOLE else ("uniform", 3 * ranks[-1])
    if automatic and not all(view.is_similar for view in seen) and n_rows <= FEWEST:
        # All trials are averaged: one simple map of each view is enough.
        for view in seen:
            yield _rows(view, width, landmarks=rule, **options)
        return
    given, *others = [view for view in seen if view.is_similar]
    directed = is_directed(given.kernel)
    for rank in ranks:
        yield Candidate("Nystrom", rank, given.map(Nystrom, rank, **options), directed)
    widest, whole = ranks[-1], {}
    if automatic and ranks[-1] < n_rows <= WHOLE:
        widest, whole = n_rows, {"landmarks": "all"}
        everything = given.map(Nystrom, n_rows, landmarks="all", **options)
        yield Candidate("Nystrom (all)", n_rows, everything, directed)
    for view in others:
        yield Candidate(view.name, widest, view.map(Nystrom, widest, **whole, **options))
    if not automatic:
        return
    for view in [given, *(view for view in seen if not view.is_similar)]:
        rows = _rows(view, width, landmarks=rule, **options)
        yield rows
        if n_rows > FEW and is_of_vectors(view.kernel):
            continue  # this map is slow on many rows, and meant for similarities of objects
        scaled = _rows(view, width, landmarks=rule, scale=True, **options).features
        seed = options["random_state"]
        of_values = Nystrom(Gaussian(SIGMA), width, landmarks=rule, random_state=seed)
        shaped = make_pipeline(scaled, of_values)
        yield Candidate(f"Gaussian of {rows.name}", width, shaped)
    if is_of_vectors(given.kernel) and n_rows > max(WHOLE, GIVEN):
        yield Candidate("Nystrom", GIVEN, given.map(Nystrom, GIVEN, **options), directed)
    if is_of_vectors(given.kernel) and n_rows >= MANY:
        width, seed = 2 * ranks[-1], options["random_state"]
        waves = given.map(RandomFourier, width, random_state=seed)
        yield Candidate("RandomFourier", width, waves, directed)


def _rows(view: View, width: int, **options: Any) -> Candidate:
    """Return the map whose features are the values of a view."""
    name = view.name or "similarities"
    if view.name and view.is_similar:
        name = f"rows of {view.name}"
    made = view.map(SimilarityFeatures, width, **options)
    return Candidate(name, width, made, is_directed(view.kernel))
