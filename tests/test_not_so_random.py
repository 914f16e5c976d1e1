"""The spectral game, and the features that it learns."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.svm import SVC
from spectral_cases import checkerboard, learner, spherical, windmill
from threadpoolctl import threadpool_limits

import krein
from krein import RandomFourier
from krein.spectral import FewPeaksWarning, FromAtoms, Langevin, Momentum, players
from krein.spectral.domains import Harmonics, Waves, default_degree
from krein.spectral.game import Game
from krein.spectral.peaks import Grid
from krein.spectral.players import MarginPlayer, svm_value
from krein.spectral.validation import HeldOut, band_candidates, best_prefix
from krein.spherical import area, degrees, harmonics
from krein.testing import check_feature_map, check_kernel


@pytest.fixture
def flat(rng):
    return windmill(300, rng)


@pytest.fixture
def round_(rng):
    return checkerboard(300, rng)


# --- the map --------------------------------------------------------------------------------------


def test_the_map_on_r_d_keeps_the_contract(flat):
    X, y = flat
    features = learner().fit(X, y)
    check_feature_map(features, X[:20], X[20:40])
    assert features.form_.is_identity
    assert features.transform(X).shape == (300, 20)
    assert features.frequencies_.shape == (10, 2)
    assert_allclose(features.weights_.sum(), 1)
    assert_allclose(features.kernel_.diag(X), 1)
    assert np.all(np.linalg.norm(features.frequencies_, axis=1) <= 25 * (1 + 1e-6))
    assert krein.approximation_error(features, X) < 1e-12
    differences = (X[:, None] - X[None]).reshape(-1, 2)
    expected = features.atoms_(differences).reshape(300, 300)
    assert_allclose(features.approximate_kernel(X), expected, atol=1e-10)


def test_the_map_on_the_sphere_keeps_the_contract(round_):
    X, y = round_
    features = spherical().fit(X, y)
    check_feature_map(features, X[:20], X[20:40])
    assert features.transform(X).shape[1] == len(features.harmonics_) <= 30
    assert_allclose(features.weights_.sum(), 1)
    assert krein.approximation_error(features, X) < 1e-12
    every, which = harmonics(X, 8), degrees(3, 8)
    K = np.zeros((300, 300))
    for (degree, place), weight in zip(features.harmonics_, features.weights_, strict=True):
        column = every[:, which == degree][:, place]
        K += area(3) * weight * np.outer(column, column)
    assert_allclose(features.approximate_kernel(X), K, atol=1e-10)


def test_the_learned_kernel_is_a_kernel(flat, round_):
    X, y = flat
    kernel = learner().fit(X, y).kernel_
    check_kernel(kernel, lambda x, z: float(kernel.atoms((x - z)[None])[0]), X[:10], X[10:18])
    assert kernel == FromAtoms(kernel.atoms)
    with pytest.raises(ValueError, match="has no atoms"):
        FromAtoms()(X)
    with pytest.raises(TypeError, match="functions of two points"):
        spherical().fit(*round_).atoms_(X)


@pytest.mark.parametrize("make", [learner, spherical])
def test_learned_features_separate_what_they_were_learned_for(make, rng):
    on_sphere = make is spherical
    X, y = checkerboard(1600, rng) if on_sphere else windmill(1600, rng)
    train, test = slice(0, 800), slice(800, None)
    features = make(**({} if on_sphere else {"n_components": 120})).fit(X[train], y[train])
    Z, other = features.transform(X[train]), features.transform(X[test])
    learned = SVC(kernel="linear").fit(Z, y[train]).score(other, y[test])
    width = 2 * -(-Z.shape[1] // 2)
    drawn = RandomFourier(krein.kernels.Gaussian(0.3), width, random_state=0).fit(X[train])
    model = SVC(kernel="linear").fit(drawn.transform(X[train]), y[train])
    assert learned > 0.93
    assert learned > model.score(drawn.transform(X[test]), y[test]) + 0.03


def test_several_classes_share_the_frequencies(rng):
    X = rng.uniform(-1, 1, (600, 2))
    y = np.digitize(np.sin(9 * X[:, 0]), [-0.5, 0.5])
    features = learner(n_components=32).fit(X, y)
    assert features.duals_.shape == (600, 3)
    assert features.duality_gap_.shape == features.regret_.shape == (3,)
    assert features.frequencies_.shape == (16, 2)
    assert features.potential_path_.shape == (16,)
    Z = features.transform(X)
    assert SVC(kernel="linear").fit(Z[:400], y[:400]).score(Z[400:], y[400:]) > 0.9
    assert np.isnan(learner(n_components=2).fit(X, y).duality_gap_).sum() == 2


# --- reproducible ---------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"band": "auto"}, {"early_stopping": True}])
def test_the_order_of_the_rows_and_the_threads_change_nothing(options, flat, rng):
    X, y = flat
    features = learner(**options).fit(X, y)
    order = rng.permutation(len(X))
    turned = learner(**options).fit(X[order], y[order])
    assert_allclose(turned.frequencies_, features.frequencies_, atol=1e-9)
    assert_allclose(turned.duals_, features.duals_[order], atol=1e-9)
    with threadpool_limits(2):
        threaded = learner(**options).fit(X, y)
    assert_allclose(threaded.frequencies_, features.frequencies_, atol=1e-3)


def test_the_order_of_the_rows_changes_no_harmonic(round_, rng):
    X, y = round_
    features, order = spherical().fit(X, y), rng.permutation(len(X))
    turned = spherical().fit(X[order], y[order])
    assert_array_equal(turned.harmonics_, features.harmonics_)
    assert_allclose(turned.duals_, features.duals_[order], atol=1e-9)


def test_a_seed_gives_the_same_frequencies(flat):
    first, second, other = (learner(random_state=seed).fit(*flat) for seed in (1, 1, 2))
    assert_array_equal(first.frequencies_, second.frequencies_)
    assert not np.array_equal(first.frequencies_, other.frequencies_)


# --- the game -------------------------------------------------------------------------------------


def test_duals_are_feasible_and_the_first_peak_is_that_of_the_paper(flat):
    X, y = flat
    features = learner(C=2.0, search="grid").fit(X, y)
    signs = np.where(y == "out", 1.0, -1.0)
    alpha = features.duals_[:, 0]
    assert np.all((alpha >= 0) & (alpha <= 2))
    assert abs(signs @ alpha) < 1e-9
    # One peak alone is the best aligned wave of balanced rows; the game starts with it.
    alone = learner(C=2.0, search="grid", game=False, n_components=2).fit(X, y)
    assert_allclose(alone.frequencies_[0], features.frequencies_[0])
    assert_allclose(alone.potential_path_[0], features.potential_path_[0])


def test_alignment_alone_takes_peaks_of_one_search(flat):
    X, y = flat
    features = learner(game=False, n_components=8).fit(X, y)
    assert len(features.frequencies_) == 4
    assert np.all(np.diff(features.potential_path_) <= 1e-6)
    assert len(np.unique(features.duals_.round(9))) <= 4  # the duals did not move
    with pytest.warns(FewPeaksWarning, match="increase n_starts or band"):
        few = learner(game=False, n_components=400, band=3.0, n_starts=4).fit(X, y)
    assert few.transform(X).shape[1] < 400


def _equilibrium(B, y, C):
    """The value of the game on finitely many harmonics: max 1ᵀα − s²/2 with |b_jᵀα| ≤ s."""
    cvxpy = pytest.importorskip("cvxpy")
    alpha, s = cvxpy.Variable(len(y)), cvxpy.Variable()
    limits = [alpha >= 0, alpha <= C, y @ alpha == 0, cvxpy.abs(B.T @ alpha) <= s]
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(alpha) - cvxpy.square(s) / 2), limits)
    return problem.solve(solver="CLARABEL")


def test_the_game_on_the_sphere_approaches_its_equilibrium(rng):
    X, y = checkerboard(60, rng)
    signs, C = np.where(y, 1.0, -1.0), 0.5
    domain = Harmonics(X, 3)
    value = _equilibrium(signs[:, None] * domain.values, signs, C)
    gaps = []
    for n_rounds in (20, 1600):
        game = Game(domain, signs[:, None], MarginPlayer(C, 0.3))
        game.play(n_rounds, 1, rng)
        (gap,), (regret,) = game.gaps(rng)
        record = game.records[0]
        Z = game._columns(record)
        best = svm_value(Z @ Z.T, signs, C)
        # The two sides of the gap enclose the value of the game.
        assert best - gap - 1e-3 * value <= value <= best + 1e-3 * value
        # Zinkevich's bound with mass 1, per round.
        assert regret <= 1.5 * C * 60 * (1 + C * 60) / np.sqrt(n_rounds)
        gaps.append(gap)
    assert 0 <= gaps[1] < gaps[0] / 2
    assert gaps[1] < 0.1 * value


def test_the_svm_value_is_the_optimum_of_its_programme(rng):
    cvxpy = pytest.importorskip("cvxpy")
    Z, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.4, 1.0, -1.0)
    alpha = cvxpy.Variable(40)
    objective = cvxpy.sum(alpha) - cvxpy.sum_squares((Z * y[:, None]).T @ alpha) / 2
    limits = [alpha >= 0, alpha <= 0.7, y @ alpha == 0]
    expected = cvxpy.Problem(cvxpy.Maximize(objective), limits).solve(solver="CLARABEL")
    assert_allclose(svm_value(Z @ Z.T, y, 0.7), expected, rtol=1e-3)


@pytest.mark.parametrize("search", [Momentum(), Langevin(), Grid()])
@pytest.mark.parametrize("size", [2.0**-60, 2.0**60])
def test_peaks_do_not_depend_on_the_size_of_the_duals(flat, search, size):
    X, y = flat
    B = np.where(y == y[0], 1.0, -1.0)[:, None]
    found = [
        Waves(X, search, 20.0, 24).peaks(duals, 3, np.random.default_rng(0))[0]
        for duals in (B, size * B)
    ]
    assert_allclose(*found)


def test_the_svm_value_of_a_large_C_is_a_lower_bound_and_ends(rng, monkeypatch):
    Z, y = rng.standard_normal((60, 3)), np.where(rng.random(60) < 0.4, 1.0, -1.0)
    best = svm_value(Z @ Z.T, y, 100.0)
    monkeypatch.setattr(players, "SVM_STEPS", 300)
    assert 0 < svm_value(Z @ Z.T, y, 100.0) < best
    assert np.isfinite(svm_value(Z @ Z.T, y, 1e12))


def test_gaps_are_monitored_on_request_and_left_out_for_many_rows(flat, monkeypatch):
    X, y = flat
    features = learner(monitor=True).fit(X, y)
    assert features.gap_path_.shape == (10, 1)
    assert_allclose(features.gap_path_[-1], features.duality_gap_)
    assert_allclose(features.regret_path_[-1], features.regret_)
    assert features.gap_path_[-1] < features.gap_path_[0]
    assert not hasattr(learner().fit(X, y), "gap_path_")
    plain = learner().fit(X, y)
    assert_array_equal(plain.frequencies_, features.frequencies_)
    monkeypatch.setattr("krein.spectral.game.MOST_SVM_ROWS", 100)
    many = learner().fit(X, y)
    assert np.isnan(many.duality_gap_).all()
    assert np.isnan(many.regret_).all()
    assert_array_equal(many.frequencies_, features.frequencies_)


def test_every_search_serves_the_map(flat):
    X, y = flat
    for search in ("grid", "langevin", Momentum(n_steps=10)):
        assert learner(search=search).fit(X, y).frequencies_.shape == (10, 2)


# --- choices by held-out rows ---------------------------------------------------------------------


def test_the_band_is_chosen_so_that_it_contains_the_waves(rng):
    X, y = windmill(500, rng)
    features = learner(band="auto", n_components=40).fit(X, y)
    assert features.band_ > 12  # the length of the frequencies that made the classes
    bands = band_candidates(X)
    assert np.isclose(features.band_, bands).sum() == 1
    assert bands == sorted(bands)
    assert 3 <= len(bands) <= 8
    # The unit of the data does not matter.
    assert_allclose(band_candidates(10 * X), np.array(bands) / 10)


def test_early_stopping_narrows_the_map_and_holds_rows_out(rng):
    X = rng.uniform(-1, 1, (300, 2))
    y = np.sin(9 * X[:, 0]) > 0  # one wave; further peaks are noise
    flip = rng.random(300) < 0.2
    features = learner(n_components=80, early_stopping=True).fit(X, y ^ flip)
    assert np.isnan(features.duals_).sum() == 60
    assert features.transform(X).shape[1] < 80
    check_feature_map(features, X[:20], X[20:40])
    assert best_prefix(40, lambda n: abs(n - 9)) == 10
    assert best_prefix(1, float) == 1


def test_the_loss_on_held_out_rows_is_that_of_ridge_regression(flat):
    X, y = flat
    Y = np.where(y == "in", 1.0, -1.0)[:, None]
    atoms, held = learner().fit(X, y).atoms_, HeldOut(X, Y)
    for C in (0.1, 10.0):
        ridge = Ridge(alpha=1 / C).fit(atoms.columns(X[60:]), Y[60:])
        expected = np.mean((ridge.predict(atoms.columns(X[:60])) - Y[:60, 0]) ** 2)
        assert_allclose(held.loss(atoms, C), expected, rtol=1e-6)


def test_early_stopping_and_several_classes_on_the_sphere(rng):
    X, _ = checkerboard(400, rng)
    y = np.digitize(X[:, 2], [-0.4, 0.4])
    features = spherical(early_stopping=True, monitor=True, n_rounds=20).fit(X, y)
    assert np.isnan(features.duals_).any(axis=1).sum() == 80
    assert features.gap_path_.shape == (7, 3)
    check_feature_map(features, X[:20], X[20:40])
    Z = features.transform(X)
    assert SVC(kernel="linear", C=100).fit(Z[:300], y[:300]).score(Z[300:], y[300:]) > 0.9


def test_few_rows_do_not_judge(rng):
    X, Y = rng.random((60, 2)), np.where(np.arange(60) % 2, 1.0, -1.0)[:, None]
    assert HeldOut(X, Y).can_judge
    assert not HeldOut(X[:20], Y[:20]).can_judge
    assert not HeldOut(X, np.sort(Y, axis=0)).can_judge
    assert learner(band="auto").fit(X[:9], Y[:9, 0]).band_ in band_candidates(X[:9])


def test_default_degrees_have_about_a_thousand_harmonics():
    assert [default_degree(dim) for dim in (3, 4, 5, 10, 2000)] == [31, 13, 8, 4, 1]


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "change", "sentence"),
    [
        ({"n_components": 7}, {}, "n_components must be even.*use 8"),
        ({"n_rounds": 7}, {}, "needs n_rounds to be None on R.d"),
        ({}, {"y": None}, "requires y to be passed"),
        ({}, {"y": np.zeros(300)}, "at least 2 classes in y, got 1 class"),
        ({}, {"y": np.linspace(0, 1, 300)}, "Unknown label type"),
        ({}, {"y": np.where(np.arange(300) % 2, 1.0, np.nan)}, "Input y contains NaN"),
        ({}, {"y": np.array(["a", None] * 150)}, "Labels must be of one type"),
        ({}, {"X": np.ones((300, 2))}, "all columns of X are constant"),
        ({}, {"X": 1e200 * np.random.default_rng(0).random((300, 2))}, "spread between 1e-30 and"),
        ({}, {"X": 1e-200 * np.random.default_rng(0).random((300, 2))}, "divide the data by"),
        ({}, {"rows": [0, -1]}, "needs at least 3 rows, got 2"),
        ({"search": "grid"}, {"X": np.random.default_rng(0).random((300, 3))}, "at most 2"),
    ],
)
def test_bad_input_gets_a_sentence(options, change, sentence, flat):
    X, y = change.get("X", flat[0]), change.get("y", flat[1])
    if "rows" in change:
        order = np.argsort(y)
        X, y = X[order][change["rows"]], y[order][change["rows"]]
    features = learner(**options)
    with pytest.raises(ValueError, match=sentence):
        features.fit(X, y)
    assert not hasattr(features, "classes_")


def test_bad_input_of_the_sphere_gets_a_sentence(round_):
    X, y = round_
    for options, rows, sentence in (
        ({"n_components": 8}, X, "n_components to be None on the sphere"),
        ({}, 2 * X, "row 0 has norm 2"),
        ({}, X[:, :2], "at least 3 columns"),
        ({"max_degree": 3000}, X, "needs max_degree to be so small"),
    ):
        with pytest.raises(ValueError, match=sentence):
            spherical(**options).fit(rows, y)
    with pytest.raises(ValueError, match="row 0 has norm 2"):
        spherical().fit(X, y).transform(2 * X)
    with pytest.warns(FewPeaksWarning, match="increase max_degree"):
        spherical(game=False, max_degree=2, n_rounds=30).fit(X, y)


def test_sparse_rows_and_weights_are_refused_by_name(flat):
    X, y = flat
    with pytest.raises(TypeError, match="dense data is required"):
        learner().fit(sparse.csr_array(X), y)
    with pytest.raises(TypeError, match="sample_weight"):
        learner().fit(X, y, sample_weight=np.ones(len(X)))


def test_rows_with_opposite_labels(flat):
    X, y = flat
    both = np.concatenate([X, X]), np.repeat([0, 1], len(X))
    with pytest.raises(ValueError, match="no wave that separates the classes"):
        learner().fit(*both)
    # A few contradictions are no obstacle.
    other = np.where(y == "in", "out", "in")
    X, y = np.concatenate([X, X[:5]]), np.concatenate([y, other[:5]])
    assert learner().fit(X, y).frequencies_.shape == (10, 2)


def test_constant_columns_are_harmless_and_a_width_of_one_is_a_constant(flat):
    X, y = flat
    wide = np.column_stack([X, np.full(len(X), 7.0)])
    assert learner(search="momentum").fit(wide, y).transform(wide).shape == (300, 20)
    one = learner(n_components=1).fit(X, y)
    assert_array_equal(one.transform(X), np.ones((300, 1)))
    assert krein.approximation_error(one, X) == 0


def test_single_precision_is_kept(flat):
    X, y = flat
    features = learner().fit(X.astype(np.float32), y)
    assert features.transform(X.astype(np.float32)).dtype == np.float32
    assert features.transform(X).dtype == np.float64


def test_waves_of_a_domain_are_the_columns_of_its_atoms(flat):
    domain = Waves(flat[0], Grid(), 9.0, 1)
    action = np.array([3.0, -2.0])
    assert_allclose(domain.columns(action), domain.atoms([action]).columns(flat[0]), atol=1e-12)
