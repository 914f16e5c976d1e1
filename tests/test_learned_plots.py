"""The plots of a learned spectrum show the numbers of the fitted map."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from krein import NotSoRandomClassifier, NotSoRandomFeatures, plots
from krein.spherical import harmonics

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def no_window():
    import matplotlib.pyplot as plt

    with plt.ioff(), plt.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


@pytest.fixture(scope="module")
def board():
    """Rows of a checkerboard and a map of 6 frequencies."""
    X = np.random.default_rng(0).uniform(-1, 1, (150, 2))
    y = np.where(np.sin(5 * X[:, 0]) * np.sin(5 * X[:, 1]) > 0, "odd", "even")
    return X, y, NotSoRandomFeatures(12, band=12.0, search="grid", random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def ball():
    """Unit rows, and a map of harmonics."""
    X = np.random.default_rng(0).standard_normal((200, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = X[:, 0] * X[:, 1] * X[:, 2] > 0
    options = {"domain": "sphere", "n_rounds": 12, "max_degree": 5, "random_state": 0}
    return X, y, NotSoRandomFeatures(**options).fit(X, y)


def test_a_map_after_some_rounds_is_the_beginning_of_the_map(board):
    X, y, features = board
    early, late = plots.after_rounds(features, X, y, [2, 6])
    np.testing.assert_allclose(early.frequencies_, features.frequencies_[:2])
    np.testing.assert_allclose(late.duals_, features.duals_)
    assert np.abs(early.duals_ - late.duals_).max() > 1e-3


def test_rounds_count_each_game_and_work_on_the_sphere(board, ball):
    X, _, features = board
    thirds = np.digitize(X[:, 0], [-0.3, 0.3])
    several = NotSoRandomFeatures(12, search="grid", random_state=0).fit(X, thirds)
    (first,) = plots.after_rounds(several, X, thirds, [1])
    assert len(first.frequencies_) == 3
    assert first.band_ == several.band_  # chosen once
    X, y, features = ball
    (all_of_them,) = plots.after_rounds(features, X, y, [12])
    np.testing.assert_array_equal(all_of_them.harmonics_, features.harmonics_)


def test_units_of_the_columns_are_those_of_the_rows(board):
    X, y, _ = board
    X = X * [1.0, 10.0]
    features = NotSoRandomFeatures(6, standardize=True, search="grid", random_state=0).fit(X, y)
    np.testing.assert_allclose(
        plots.after_rounds(features, X, y, [2])[0].frequencies_, features.frequencies_[:2]
    )
    axes, _ = plots.potential_grid(features, X, y, n_points=3)
    np.testing.assert_allclose([axis[-1] for axis in axes], features.band_ / X.std(axis=0))


@pytest.mark.parametrize("change", [{"random_state": None}, {"early_stopping": True}])
def test_a_game_that_cannot_be_repeated_is_refused(board, change):
    X, y, _ = board
    features = NotSoRandomFeatures(4, band=12.0, random_state=0).set_params(**change).fit(X, y)
    with pytest.raises(ValueError, match=r"integer random_state and early_stopping=False"):
        plots.after_rounds(features, X, y, [1])


def test_the_potential_on_the_grid_is_that_of_the_duals(board):
    X, y, features = board
    axes, values = plots.potential_grid(features, X, y, n_points=9)
    assert axes[0][0] == -12.0
    signed = np.where(y == "odd", 1, -1) * features.duals_[:, 0]
    for i, j in [(0, 0), (2, 7), (8, 4)]:
        wave = np.exp(1j * X @ [axes[0][i], axes[1][j]])
        expected = abs(signed @ wave) ** 2 / features.duals_.sum() ** 2
        assert values[i, j] == pytest.approx(expected)
    np.testing.assert_allclose(values, values[::-1, ::-1])  # v(−ω) = v(ω)


def test_the_area_of_a_row_is_proportional_to_its_dual(board):
    X, y, features = board
    (points,) = plots.plot_duals(features, X, y).collections
    np.testing.assert_array_equal(points.get_offsets(), X)
    sizes, duals = points.get_sizes(), features.duals_[:, 0]
    large = duals > 0.1
    assert np.ptp(sizes[large] / duals[large]) < 1e-9
    colours = points.get_facecolors()
    assert len(np.unique(colours[y == "odd"], axis=0)) == 1
    assert not np.array_equal(colours[y == "odd"][0], colours[y == "even"][0])


def test_both_signs_of_each_frequency_are_marked(board):
    X, y, features = board
    ax = plots.plot_potential(features, X, y)
    marked = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_allclose(marked[:6], features.frequencies_)
    np.testing.assert_allclose(marked[6:], -features.frequencies_)
    (image,) = ax.images
    shown = np.asarray(image.get_array())
    np.testing.assert_allclose(shown**2, plots.potential_grid(features, X, y)[1].T, atol=1e-12)


def test_the_surface_is_the_decision_function(board):
    X, y, _ = board
    model = SVC().fit(X, y)
    axes, values = plots.decision_surface(model, X, n_points=5)
    assert [axes[0][0], axes[1][-1]] == [X[:, 0].min(), X[:, 1].max()]
    assert values[0, 4] == pytest.approx(model.decision_function([[axes[0][0], axes[1][4]]])[0])
    (image,) = plots.plot_decision(model, X).images
    np.testing.assert_allclose(image.get_extent(), [*axes[0][[0, -1]], *axes[1][[0, -1]]])


def test_rounds_have_a_column_each(board):
    X, y, features = board
    axes = plots.plot_rounds(features, X, y, (1, 4))
    assert axes.shape == (3, 2)
    assert [ax.get_title() for ax in axes[0]] == ["after round 1", "after round 4"]
    assert [len(ax.collections[0].get_offsets()) for ax in axes[1]] == [2, 8]
    # The last row shows the machine on the features of these rounds.
    early = plots.after_rounds(features, X, y, [1])[0]
    model = make_pipeline(early, SVC(kernel="linear")).fit(X, y)
    shown = np.asarray(axes[2, 0].images[0].get_array())
    np.testing.assert_allclose(shown, plots.decision_surface(model, X)[1].T, atol=1e-6)


def test_the_top_harmonics_have_the_largest_weights(ball):
    _, _, features = ball
    top = plots.top_harmonics(features, 2)
    assert list(top.weights) == sorted(features.weights_)[::-1][:2]
    assert top.frequencies[0, 0] == 3  # x y z is a harmonic of degree 3


def test_harmonics_are_drawn_on_the_whole_sphere(ball):
    X, y, features = ball
    axes = plots.plot_harmonics(features, X, y, n=1)
    assert len(axes) == 2
    offsets = np.asarray(axes[0].collections[0].get_offsets())
    x, z = np.cos(offsets[:, 1]) * np.cos(offsets[:, 0]), np.sin(offsets[:, 1])
    np.testing.assert_allclose(np.column_stack([x, z]), X[:, [0, 2]], atol=1e-12)
    mesh = axes[1].collections[0]
    values = np.asarray(mesh.get_array()).reshape(91, 181)
    degree, place = plots.top_harmonics(features, 1).frequencies[0]
    # Latitude 0 and longitude −π, π/2.
    at = harmonics([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], int(degree))[:, degree**2 + place]
    np.testing.assert_allclose(values[45, [0, 135]], np.sqrt(4 * np.pi) * at, atol=1e-9)
    assert f"degree {degree}, place {place}" in axes[1].get_title()


def test_what_cannot_be_drawn_is_refused(board, ball):
    X, y, features = board
    wide = np.hstack([X, X])
    for draw in (plots.plot_duals, plots.plot_potential):
        with pytest.raises(
            ValueError, match=r"rows of 2 columns, got an array of shape \(150, 4\)"
        ):
            draw(features, wide, y)
    with pytest.raises(ValueError, match="rows of 2 columns"):
        plots.plot_decision(SVC(), wide)
    with pytest.raises(ValueError, match="domain='sphere'"):
        plots.top_harmonics(features)
    thirds = np.digitize(X[:, 0], [-0.3, 0.3])
    several = NotSoRandomFeatures(6, band=12.0, search="grid", random_state=0).fit(X, thirds)
    with pytest.raises(ValueError, match="draw 2 classes, got 3"):
        plots.plot_duals(several, X, thirds)
    with pytest.raises(ValueError, match="classifier of 2 classes, got 3: fit"):
        plots.plot_decision(make_pipeline(several, SVC()).fit(X, thirds), X)
    X, y, features = ball
    with pytest.raises(ValueError, match=r"rows of 3 columns with their classes, got 2 columns"):
        plots.plot_harmonics(features, X[:, :2], y)
    with pytest.raises(ValueError, match="got 9 rows and 200 classes"):
        plots.plot_harmonics(features, X[:9], y)
    far = np.hstack([X, X]) / np.sqrt(2)
    with pytest.raises(ValueError, match="got 6 columns"):
        plots.plot_harmonics(NotSoRandomFeatures(domain="sphere", n_rounds=3).fit(far, y), X, y)


@pytest.mark.parametrize("draw", [plots.plot_duals, plots.plot_potential, plots.plot_rounds])
def test_plots_of_the_game_need_the_map_and_its_training_data(board, draw):
    X, y, features = board
    with pytest.raises(ValueError, match=r"shape \(150, 2\), got X of shape \(10, 2\)"):
        plots.plot_duals(features, X[:10], y[:10])
    with pytest.raises(ValueError, match=r"separates \['even', 'odd'\], but y has other classes"):
        plots.plot_duals(features, X, np.where(X[:, 0] > 0, "odd", "other"))
    with pytest.raises(NotFittedError):
        draw(NotSoRandomFeatures(), X, y)
    with pytest.raises(TypeError, match=r"got NotSoRandomClassifier: .* pass its features_"):
        draw(NotSoRandomClassifier(12, band=12.0, C=1.0, random_state=0).fit(X, y), X, y)
