"""Data sets for the tables of the learners: dissimilarities between objects, and class labels.

Matrices, strings and series come from $KREIN_DATA or ../shared/data. Balls and polygons are
generated, because the original sets of Pękalska and Duin are not available. All dissimilarities are
symmetrised by averaging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from measuring import find
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from krein.kernels import DynamicTimeWarping, EditDistance
from krein.proximity import DoubleCentering, symmetrize

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Proximities:
    """A data set: the classes and the dissimilarities of objects.

    Attributes
    ----------
    name, kind : str
        The set and its dissimilarity.
    D : ndarray of shape (n, m)
        The dissimilarities of all n objects to the first m objects, which are the training objects.
        m < n if the source does not contain the other dissimilarities.
    y : ndarray of shape (n,)
        The class labels.
    note : str
        The difference to the published set of the same name.
    """

    name: str
    kind: str
    D: NDArray
    y: NDArray
    note: str = ""

    @property
    def classes(self) -> NDArray:
        return np.unique(self.y)

    def against_rest(self, label: object) -> Proximities:
        """Return the binary problem of one class against the rest."""
        return replace(self, y=(self.y == label).astype(int))

    def folds(self, n_folds: int, key: int) -> Iterator[Split]:
        """Yield stratified training and test rows of the first m objects."""
        y = self.y[: self.D.shape[1]]
        yield from StratifiedKFold(n_folds, shuffle=True, random_state=key).split(y, y)

    @property
    def others(self) -> Split | None:
        """The indices of the first m objects and of the other objects, or None if m = n."""
        n, m = self.D.shape
        return (np.arange(m), np.arange(m, n)) if m < n else None

    def dissimilarities(self, split: Split) -> tuple[NDArray, NDArray]:
        """Return the dissimilarities of training rows, and of test rows to training rows."""
        train, test = split
        return symmetrize(self.D[np.ix_(train, train)]), self.D[np.ix_(test, train)]

    def similarities(self, split: Split) -> tuple[NDArray, NDArray]:
        """Return ``−½ J D² J`` of the training rows, and the test rows centred alike."""
        D, E = self.dissimilarities(split)
        centring = DoubleCentering()
        return symmetrize(centring.fit_transform(D)), centring.transform(E)


# --- files --------------------------------------------------------------------------------------


def _archive(file: str) -> dict[str, NDArray] | None:
    path = find(file)
    if path is None:
        return None
    with np.load(path) as archive:
        return dict(archive)


def _some(y: NDArray, n: int) -> NDArray:
    """Return the indices of n stratified rows, or of all rows if there are at most n."""
    if len(y) <= n:
        return np.arange(len(y))
    chosen, _ = train_test_split(np.arange(len(y)), train_size=n, stratify=y, random_state=0)
    return np.sort(chosen)


def catcortex() -> Proximities | None:
    data = _archive("dissimilarities/catcortex.npz")
    if data is None:
        return None
    return Proximities("catcortex", "connections, ordinal", symmetrize(data["D"]), data["y"])


def chickenpieces() -> Proximities | None:
    data = _archive("dissimilarities/chickenpieces_20_60.npz")
    if data is None:
        return None
    note = "length 20, angle 60; the paper has lengths 10 and 25"
    D = symmetrize(data["D"])
    return Proximities("chickenpieces", "weighted edit distance", D, data["y"], note)


def coilyork() -> Proximities | None:
    """Read coilyork: all pairs of one half, and dissimilarities of the other half to it."""
    data = _archive("dissimilarities/coilyork_iksvmdc.npz")
    if data is None:
        return None
    # The source has one direction of the pairs across the halves, so they are not averaged.
    D = np.vstack([symmetrize(data["D_train"]), data["D_test_train"]])
    y = np.concatenate([data["y_train"], data["y_test"]])
    note = "two classes and half of the objects; the paper has all 288"
    return Proximities("coilyork", "graph matching", D, y, note)


def protein() -> Proximities | None:
    data = _archive("dissimilarities/protein_haasdonk226.npz")
    if data is None:
        return None
    rows = np.flatnonzero(data["y"] != 5)
    D = symmetrize(data["D"][np.ix_(rows, rows)])
    note = "4 families; the 13 others of the fifth class are left out"
    return Proximities("protein", "alignment", D, data["y"][rows], note)


def _strings(file: str, n: int) -> tuple[NDArray, list[str]] | None:
    path = find(file)
    if path is None:
        return None
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line]
    y = np.array([line[0] for line in lines])
    rows = _some(y, n)
    return y[rows], [lines[i][-1].strip() for i in rows]


def splice() -> Proximities | None:
    data = _strings("strings/splice.txt", 400)
    if data is None:
        return None
    y, strings = data
    D = EditDistance()(strings, strings)
    return Proximities("splice", "edit distance", D, y, "400 of 3190 strings")


def promoters() -> Proximities | None:
    data = _strings("strings/promoters.txt", 1000)
    if data is None:
        return None
    y, strings = data
    return Proximities("promoters", "edit distance", EditDistance()(strings, strings), y)


def _series(name: str, n: int) -> Proximities | None:
    data = _archive(f"timeseries/{name}.npz")
    if data is None:
        return None
    X = np.concatenate([data["X_train"], data["X_test"]])
    y = np.concatenate([data["y_train"], data["y_test"]])
    rows = _some(y, n)
    D = symmetrize(DynamicTimeWarping()(X[rows], X[rows]))
    np.fill_diagonal(D, 0.0)
    note = f"training and test part, {len(rows)} of {len(y)} series"
    return Proximities(name, "time warping", D, y[rows], note)


def gunpoint() -> Proximities | None:
    return _series("GunPoint", 400)


def italypower() -> Proximities | None:
    return _series("ItalyPowerDemand", 400)


# --- made sets ----------------------------------------------------------------------------------


def balls3d(n: int = 100, radii: tuple[float, float] = (0.03, 0.05)) -> Proximities:
    """Return the distances between the surfaces of balls of two radii in the unit cube, n of each.

    The centres c do not depend on the class. Only the radii r in ``‖c − c'‖ − r − r'`` do.
    """
    rng = np.random.default_rng(0)
    radius = np.repeat(radii, n)
    centres = np.empty((0, 3))
    for r in radius[::-1]:  # large balls first, while there is room for them
        while True:
            centre = rng.uniform(r, 1 - r, 3)
            gaps = np.linalg.norm(centres - centre, axis=1) - radius[::-1][: len(centres)] - r
            if (gaps > 0).all():
                break
        centres = np.vstack([centres, centre])
    radius = radius[::-1]
    D = np.linalg.norm(centres[:, None] - centres, axis=2) - radius[:, None] - radius
    np.fill_diagonal(D, 0.0)
    y = (radius > radii[0]).astype(int)
    return Proximities("balls3d", "between surfaces", D, y, "made here: radii 0.03 and 0.05")


def polygon(corners: int, convex: bool, rng: np.random.Generator) -> NDArray:
    """Return the corners of a random centred polygon of perimeter 1; shape (corners, 2).

    The corners lie at random angles around the centre. Convex polygons have their corners on an
    ellipse, other polygons at random distances.
    """
    while True:
        angles = np.sort(rng.uniform(0, 2 * np.pi, corners))
        gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
        if gaps.min() > 0.25 and gaps.max() < np.pi:
            break
    if convex:
        axes = np.array([1.0, rng.uniform(0.5, 1.0)])
        turn = rng.uniform(0, 2 * np.pi)
        points = np.stack([np.cos(angles), np.sin(angles)], axis=1) * axes
        points = points @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
    else:
        length = rng.uniform(0.5, 1.0, corners)
        points = np.stack([length * np.cos(angles), length * np.sin(angles)], axis=1)
    points = points - points.mean(axis=0)
    return points / np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1).sum()


def hausdorff(sets: list[NDArray], modified: bool) -> NDArray:
    """Return Hausdorff distances of point sets; modified distances replace maxima by means."""
    points = np.concatenate(sets)
    owner = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    starts = np.searchsorted(owner, np.arange(len(sets)))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    nearest = np.minimum.reduceat(distances, starts, axis=1)
    if modified:
        directed = np.add.reduceat(nearest, starts, axis=0) / np.bincount(owner)[:, None]
    else:
        directed = np.maximum.reduceat(nearest, starts, axis=0)
    return np.maximum(directed, directed.T)


def polygons(
    name: str = "polygons",
    corners: Sequence[int] = (4, 5, 7),
    n: int = 12,
    modified: bool = False,
    note: str = "made",
) -> Proximities:
    """Return distances of n polygons per number of corners; the most corners are not convex."""
    rng = np.random.default_rng(0)
    sets = [polygon(k, k < max(corners), rng) for k in corners for _ in range(n)]
    kind = "modified Hausdorff" if modified else "Hausdorff"
    return Proximities(name, kind, hausdorff(sets, modified), np.repeat(corners, n), note)


# The name contains the numbers of corners.
FIVE_SEVEN = "made here: 200 + 200 polygons, the paper has 2000 + 2000"


def polydish57() -> Proximities:
    return polygons("polydish57", (5, 7), 200, False, FIVE_SEVEN)


def polydism57() -> Proximities:
    return polygons("polydism57", (5, 7), 200, True, FIVE_SEVEN)


SETS: dict[str, Callable[[], Proximities | None]] = {
    "catcortex": catcortex,
    "chickenpieces": chickenpieces,
    "coilyork": coilyork,
    "protein": protein,
    "balls3d": balls3d,
    "polydish57": polydish57,
    "polydism57": polydism57,
    "splice": splice,
    "promoters": promoters,
    "GunPoint": gunpoint,
    "ItalyPowerDemand": italypower,
}
