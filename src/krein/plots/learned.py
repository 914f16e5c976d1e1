"""Plots of a learned spectrum (Not-So-Random Features, Fig. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from ..spectral import HarmonicAtoms, NotSoRandomFeatures
from ..spectral.peaks import grid_values
from ._pyplot import GREY, NEGATIVE, POSITIVE, pyplot, two_colours

# Rows below this share of C are drawn as small as rows with this share.
SMALLEST = 0.03
# Points along each axis of the sphere: longitudes and latitudes.
LONGITUDES, LATITUDES = 181, 91


# --- data ---------------------------------------------------------------------------------------


def after_rounds(
    features: NotSoRandomFeatures, X: Any, y: Any, rounds: Sequence[int]
) -> list[NotSoRandomFeatures]:
    """Return maps as they were after some rounds of the game.

    A game does not look ahead, so a short game is the beginning of a long game with the same seed
    and band. Each map is the result of one short game.

    Parameters
    ----------
    features : NotSoRandomFeatures
        A fitted map. Its `random_state` is an integer, and `early_stopping` is False.
    X : array-like of shape (n, d)
        The training rows.
    y : array-like of shape (n,)
        Their classes.
    rounds : sequence of int
        Numbers of rounds; each class plays one frequency per round.

    Returns
    -------
    list of NotSoRandomFeatures

    Examples
    --------
    >>> import numpy as np
    >>> from krein import NotSoRandomFeatures
    >>> from krein.plots import after_rounds
    >>> X = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    >>> y = np.sin(9 * X[:, 0]) > 0
    >>> features = NotSoRandomFeatures(20, random_state=0).fit(X, y)
    >>> early, late = after_rounds(features, X, y, [1, 10])
    >>> bool(np.allclose(late.frequencies_, features.frequencies_))
    True
    """
    _check_map(features)
    if not isinstance(features.random_state, int | np.integer) or features.early_stopping:
        raise ValueError(
            "after_rounds plays the game again, so it needs features with an integer random_state "
            f"and early_stopping=False, got random_state={features.random_state!r} and "
            f"early_stopping={features.early_stopping!r}."
        )
    n_games = features.duals_.shape[1]
    maps = []
    for n in rounds:
        if features.domain == "sphere":
            given: dict[str, Any] = {"n_rounds": n * n_games}
        else:
            given = {"n_components": 2 * n * n_games, "band": features.band_}
            given["standardize"] = bool(np.any(features.scale_ != 1))
        maps.append(clone(features).set_params(**given).fit(X, y))
    return maps


def potential_grid(
    features: NotSoRandomFeatures, X: ArrayLike, y: ArrayLike, n_points: int = 201
) -> tuple[list[NDArray[np.floating]], NDArray[np.floating]]:
    """Return the Fourier potential of the last duals on a grid of frequencies.

    Parameters
    ----------
    features : NotSoRandomFeatures
        A map that was fitted on X and y.
    X : array-like of shape (n, 2)
        The training rows.
    y : array-like of shape (n,)
        The classes of the rows, exactly two.
    n_points : int, default=201
        Number of points along each axis. The grid covers the band.

    Returns
    -------
    axes : list of two ndarrays of shape (n_points,)
        The coordinates of the grid.
    values : ndarray of shape (n_points, n_points)
        ``v(ω) / (Σα)²``, between 0 and 1; the first axis is the first coordinate of ω.
    """
    X, signs = _two_columns("potential_grid", X), _signs(features, y)
    duals = _duals(features, X)
    axes = [np.linspace(-end, end, n_points) for end in features.band_ / features.scale_]
    return axes, grid_values(X, signs * duals, axes) / duals.sum() ** 2


def decision_surface(
    model: Any, X: ArrayLike, n_points: int = 201
) -> tuple[list[NDArray[np.floating]], NDArray[np.floating]]:
    """Return the decision function of a classifier of two classes on a grid around the rows.

    Parameters
    ----------
    model : classifier
        A fitted classifier with a `decision_function`.
    X : array-like of shape (n, 2)
        Rows that the grid covers.
    n_points : int, default=201
        Number of points along each axis.

    Returns
    -------
    axes : list of two ndarrays of shape (n_points,)
        The coordinates of the grid.
    values : ndarray of shape (n_points, n_points)
        The decision function; the first axis is the first column of X.
    """
    X = _two_columns("decision_surface", X)
    axes = [np.linspace(*ends, n_points) for ends in zip(X.min(0), X.max(0), strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    values = np.asarray(model.decision_function(points))
    if values.size != len(points):
        got = f"got {values.shape[1]}: fit it on one class against the rest"
        raise ValueError(f"decision_surface draws a classifier of 2 classes, {got}.")
    return axes, values.reshape(n_points, n_points)


def top_harmonics(features: NotSoRandomFeatures, n: int = 3) -> HarmonicAtoms:
    """Return the harmonics of the largest weights, largest first.

    Parameters
    ----------
    features : NotSoRandomFeatures
        A map that was fitted with ``domain="sphere"``.
    n : int, default=3
        Number of harmonics.
    """
    _check_map(features)
    atoms = features.atoms_
    if not isinstance(atoms, HarmonicAtoms):
        raise ValueError("Frequencies on R^d are not harmonics: fit a map with domain='sphere'.")
    order = np.argsort(-atoms.weights, kind="stable")[:n]
    return HarmonicAtoms(atoms.frequencies[order], atoms.weights[order])


def _two_columns(name: str, X: ArrayLike) -> NDArray[np.floating]:
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"{name} draws rows of 2 columns, got an array of shape {X.shape}.")
    return X


def _signs(features: NotSoRandomFeatures, y: ArrayLike) -> NDArray[np.floating]:
    """Return the labels −1 and +1 of the game."""
    _check_map(features)
    if len(features.classes_) != 2:
        raise ValueError(
            f"Plots of the game draw 2 classes, got {len(features.classes_)}: fit the map on one "
            "class against the rest."
        )
    if not np.isin(y, features.classes_).all():
        raise ValueError(
            f"The map separates {features.classes_.tolist()}, but y has other classes."
        )
    return np.where(np.asarray(y) == features.classes_[1], 1.0, -1.0)


def _duals(features: NotSoRandomFeatures, X: NDArray) -> NDArray[np.floating]:
    """Return the duals of the training rows; rows that were held out have the dual 0."""
    fitted = len(features.duals_), features.n_features_in_
    if X.shape != fitted:
        raise ValueError(
            f"The duals belong to the training data of shape {fitted}, got X of shape {X.shape}: "
            "pass the rows that the map was fitted on."
        )
    return np.nan_to_num(features.duals_[:, 0])


def _check_map(features: Any) -> None:
    """Raise if `features` is not a fitted map whose game can be drawn."""
    if not isinstance(features, NotSoRandomFeatures):
        raise TypeError(
            f"Plots of the game need a NotSoRandomFeatures, got {type(features).__name__}: for a "
            "NotSoRandomClassifier, pass its features_."
        )
    check_is_fitted(features)


# --- plots --------------------------------------------------------------------------------------


def plot_duals(features: NotSoRandomFeatures, X: ArrayLike, y: ArrayLike, ax: Any = None) -> Any:
    """Plot the rows; the area of a row is proportional to its dual.

    Parameters
    ----------
    features : NotSoRandomFeatures
        A map that was fitted on X and y.
    X : array-like of shape (n, 2)
        The training rows.
    y : array-like of shape (n,)
        The classes of the rows, exactly two.
    ax : matplotlib Axes, default=None
        Where to plot; None makes a new figure.

    Returns
    -------
    matplotlib Axes
    """
    X, signs = _two_columns("plot_duals", X), _signs(features, y)
    duals = _duals(features, X)
    ax = _axes(ax)
    shares = np.clip(duals / features.C, SMALLEST, 1)
    colours = np.where(signs > 0, POSITIVE, NEGATIVE)
    ax.scatter(*X.T, s=9 * shares, c=colours, linewidths=0)
    return _bare(ax)


def plot_potential(
    features: NotSoRandomFeatures, X: ArrayLike, y: ArrayLike, ax: Any = None
) -> Any:
    """Plot the Fourier potential of the last duals, the learned frequencies ±ω, and the band.

    Parameters
    ----------
    features : NotSoRandomFeatures
        A map that was fitted on X and y.
    X : array-like of shape (n, 2)
        The training rows.
    y : array-like of shape (n,)
        The classes of the rows, exactly two.
    ax : matplotlib Axes, default=None
        Where to plot; None makes a new figure.

    Returns
    -------
    matplotlib Axes
    """
    axes, values = potential_grid(features, X, y)
    ax = _axes(ax)
    _image(np.sqrt(values), axes, ax, cmap="Blues", vmin=0)
    angle = np.linspace(0, 2 * np.pi, 181)
    band = axes[0][-1] * np.cos(angle), axes[1][-1] * np.sin(angle)
    ax.plot(*band, color=GREY, linewidth=0.6)
    chosen = np.concatenate([features.frequencies_, -features.frequencies_])
    ax.scatter(*chosen.T, s=36, facecolors="none", edgecolors=NEGATIVE, linewidths=0.9)
    return _bare(ax)


def plot_decision(model: Any, X: ArrayLike, ax: Any = None) -> Any:
    """Plot the decision function of a classifier of two classes, and its boundary.

    Parameters
    ----------
    model : classifier
        A fitted classifier with a `decision_function`.
    X : array-like of shape (n, 2)
        Rows that the plot covers.
    ax : matplotlib Axes, default=None
        Where to plot; None makes a new figure.

    Returns
    -------
    matplotlib Axes
    """
    axes, values = decision_surface(model, X)
    ax = _axes(ax)
    # Beyond the margins −1 and 1 the colour does not change.
    _image(values, axes, ax, cmap=two_colours(), vmin=-1, vmax=1)
    ax.contour(*axes, values.T, levels=[0], colors="black", linewidths=0.6)
    return _bare(ax)


def plot_rounds(
    features: NotSoRandomFeatures,
    X: ArrayLike,
    y: ArrayLike,
    rounds: Sequence[int] = (1, 10, 100),
) -> NDArray[Any]:
    """Plot duals, potential and decision function after some rounds of the game.

    The decision function is that of a support vector machine on the features, with the C of the
    game.

    Parameters
    ----------
    features : NotSoRandomFeatures
        A fitted map. Its `random_state` is an integer, and `early_stopping` is False.
    X : array-like of shape (n, 2)
        The training rows.
    y : array-like of shape (n,)
        The classes of the rows, exactly two.
    rounds : sequence of int, default=(1, 10, 100)
        Numbers of rounds, a column of plots for each.

    Returns
    -------
    ndarray of matplotlib Axes of shape (3, len(rounds))
    """
    size = (2.4 * len(rounds) + 0.4, 7.4)
    options = {"squeeze": False, "figsize": size, "layout": "constrained"}
    axes = pyplot().subplots(3, len(rounds), **options)[1]
    for column, n, one in zip(axes.T, rounds, after_rounds(features, X, y, rounds), strict=True):
        machine = SVC(kernel="linear", C=features.C).fit(one.transform(X), y)
        plot_duals(one, X, y, column[0]).set_title(f"after round {n}", fontsize=10)
        plot_potential(one, X, y, column[1])
        plot_decision(make_pipeline(FrozenEstimator(one), machine), X, column[2])
    for ax, name in zip(axes[:, 0], ("duals α", "potential √v(ω)", "decision"), strict=True):
        ax.set_ylabel(name, fontsize=10)
    return axes


def plot_harmonics(
    features: NotSoRandomFeatures, X: ArrayLike, y: ArrayLike, n: int = 3
) -> NDArray[Any]:
    """Plot rows on the sphere, and the harmonics of the largest weights, on maps of equal area.

    Parameters
    ----------
    features : NotSoRandomFeatures
        A map that was fitted with ``domain="sphere"`` on rows of 3 columns.
    X : array-like of shape (n, 3)
        Unit rows.
    y : array-like of shape (n,)
        The classes of the rows, exactly two.
    n : int, default=3
        Number of harmonics.

    Returns
    -------
    ndarray of matplotlib Axes of shape (1 + n,)
    """
    X, signs = np.asarray(X, dtype=float), _signs(features, y)
    columns = {X.shape[-1], features.n_features_in_} - {3}
    if columns or len(X) != len(signs):
        got = f"{columns.pop()} columns" if columns else f"{len(X)} rows and {len(signs)} classes"
        raise ValueError(f"plot_harmonics draws rows of 3 columns with their classes, got {got}.")
    top = top_harmonics(features, n)
    options = {"figsize": (3.0 * (1 + len(top)), 1.9), "layout": "constrained"}
    projection = {"projection": "mollweide"}
    axes = pyplot().subplots(1, 1 + len(top), subplot_kw=projection, squeeze=False, **options)[1][0]
    places = np.arctan2(X[:, 1], X[:, 0]), np.arcsin(np.clip(X[:, 2], -1, 1))
    axes[0].scatter(*places, s=2, c=np.where(signs > 0, POSITIVE, NEGATIVE), linewidths=0)
    _bare(axes[0]).set_title("rows", fontsize=10)
    for j, ax in enumerate(axes[1:]):
        atom = HarmonicAtoms(top.frequencies[j : j + 1], np.ones(1))
        _draw_harmonic(atom, ax)
        degree, place = atom.frequencies[0]
        title = f"degree {degree}, place {place}: weight {top.weights[j]:.2f}"
        ax.set_title(title, fontsize=10)
    return axes


def _draw_harmonic(atom: HarmonicAtoms, ax: Any) -> None:
    longitude, latitude = np.meshgrid(
        np.linspace(-np.pi, np.pi, LONGITUDES), np.linspace(-np.pi / 2, np.pi / 2, LATITUDES)
    )
    flat = np.cos(latitude)
    points = np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)], -1)
    points /= np.linalg.norm(points, axis=-1, keepdims=True)
    values = atom.columns(points.reshape(-1, 3)).reshape(longitude.shape)
    limit = np.abs(values).max()
    options = {"cmap": two_colours(), "vmin": -limit, "vmax": limit, "shading": "gouraud"}
    _bare(ax).pcolormesh(longitude, latitude, values, rasterized=True, **options)


def _image(values: NDArray, axes: list[NDArray], ax: Any, **options: Any) -> None:
    """Draw values on a grid; the first axis is horizontal."""
    extent = (*axes[0][[0, -1]], *axes[1][[0, -1]])
    ax.imshow(values.T, extent=extent, origin="lower", interpolation="bilinear", **options)


def _axes(ax: Any) -> Any:
    return pyplot().subplots(figsize=(4, 4), layout="constrained")[1] if ax is None else ax


def _bare(ax: Any) -> Any:
    """Remove ticks and grid; the plots compare shapes, not coordinates."""
    ax.grid(False)
    ax.set_xticks([])
    ax.set_yticks([])
    if ax.name == "rectilinear":
        ax.set_aspect("equal")
    return ax
