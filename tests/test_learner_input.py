"""What learners take, through scikit-learn's tools, and what they say of input they cannot take."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from rounding import assert_rounded, assert_same_outputs, clear_rows
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from krein import (
    KreinClassifier,
    KreinRegressor,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    Nystrom,
    VarianceConstrainedClassifier,
    VarianceConstrainedRegressor,
)
from krein.kernels import DeltaGaussian, EditDistance, Gaussian, Similarity, Tanimoto

rng = np.random.default_rng(1)
X = rng.normal(size=(90, 3))
VALUES = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=90)
LABELS = np.where(VALUES > 0, "yes", "no")
WORDS = ["".join(rng.choice(list("abcd"), rng.integers(3, 9))) for _ in range(80)]
KINDS = np.array(["many" if word.count("a") > 1 else "few" for word in WORDS])
SETS = [set(word) for word in WORDS]
SET_KINDS = np.array([int("a" in s) for s in SETS])

FEW = {"n_components": 10, "random_state": 0}
KERNEL = DeltaGaussian(1.0, 5.0)
REGRESSORS = [KreinRidge, VarianceConstrainedRegressor]
CLASSIFIERS = [KreinRidgeClassifier, VarianceConstrainedClassifier, KreinSVC]
LEARNERS = [*REGRESSORS, *CLASSIFIERS]
AUTO = [KreinClassifier, KreinRegressor]


def _target(made):
    return VALUES if made in (*REGRESSORS, KreinRegressor) else LABELS


def _make(made, kernel=KERNEL, **settings):
    alpha = {} if made in AUTO else {"alpha": 1e-2}
    return made(kernel, **{**FEW, **alpha, **settings})


# --- objects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [*CLASSIFIERS, KreinClassifier])
@pytest.mark.parametrize(
    ("objects", "labels", "kernel"),
    [(WORDS, KINDS, Similarity(EditDistance(), gamma=0.3)), (SETS, SET_KINDS, Tanimoto())],
    ids=["words", "sets"],
)
def test_objects_are_learned_from_as_they_are(made, objects, labels, kernel):
    model = _make(made, kernel).fit(objects, labels)
    predicted = model.predict(objects)
    assert np.mean(predicted == labels) > 0.8
    assert model.score(objects, labels) == pytest.approx(np.mean(predicted == labels))
    outputs = model.decision_function(objects)
    assert_rounded(model.decision_function(objects[:3]), outputs[:3])
    clear = clear_rows(outputs)[:3]
    np.testing.assert_array_equal(model.predict(objects[:3])[clear], predicted[:3][clear])


@pytest.mark.parametrize("made", [KreinRidgeClassifier, KreinSVC])
def test_objects_pass_a_pipeline_of_objects(made):
    shout = FunctionTransformer(lambda words: [word.upper() for word in words])
    kernel = Similarity(EditDistance(), gamma=0.3)
    model = make_pipeline(shout, _make(made, kernel)).fit(WORDS, KINDS)
    direct = _make(made, kernel).fit([word.upper() for word in WORDS], KINDS)
    np.testing.assert_array_equal(model.predict(WORDS), direct.predict([w.upper() for w in WORDS]))


@pytest.mark.parametrize("made", [KreinRidgeClassifier, KreinSVC])
def test_grid_search_over_objects_is_explicit_refits(made):
    model, folds = _make(made, Similarity(EditDistance())), StratifiedKFold(3)
    grid = {"kernel__gamma": [0.05, 0.5], "alpha": [1e-3, 1.0]}
    search = GridSearchCV(model, grid, cv=folds).fit(WORDS, KINDS)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        explicit = []
        for train, test in folds.split(WORDS, KINDS):
            kernel = Similarity(EditDistance(), gamma=params["kernel__gamma"])
            one = _make(made, kernel, alpha=params["alpha"])
            one.fit([WORDS[i] for i in train], KINDS[train])
            explicit.append(one.score([WORDS[i] for i in test], KINDS[test]))
        assert score == pytest.approx(np.mean(explicit))


# --- precomputed kernels -------------------------------------------------------------------------


@pytest.mark.parametrize("made", LEARNERS)
def test_a_precomputed_kernel_in_cross_validation_is_sliced_on_both_sides(made):
    y, K = _target(made), KERNEL(X)
    model = _make(made, "precomputed", n_components=15)
    folds = list(StratifiedKFold(3).split(X, LABELS))
    expected = [
        clone(model).fit(K[np.ix_(a, a)], y[a]).score(K[np.ix_(b, a)], y[b]) for a, b in folds
    ]
    np.testing.assert_allclose(cross_val_score(model, K, y, cv=folds), expected, rtol=1e-12)


@pytest.mark.parametrize("made", LEARNERS)
def test_a_precomputed_kernel_is_the_kernel(made):
    """All rows as landmarks and all directions: then both are the kernel itself."""
    y, K = _target(made), Gaussian(1.0)(X)
    every = {"landmarks": "all", "random_state": 0}
    # Folds are drawn by content, which is not the same: nothing may be tuned.
    fixed = {"spread": 0.8} if hasattr(made(), "spread") else {}
    model = _make(made, None, features=Nystrom("precomputed", 90, **every), **fixed).fit(K, y)
    direct = _make(made, None, features=Nystrom(Gaussian(1.0), 90, **every), **fixed).fit(X, y)
    T = np.random.default_rng(2).normal(size=(20, 3))
    values = Gaussian(1.0)(T, X)
    mine, theirs = (
        getattr(m, "decision_function", m.predict)(rows)
        for m, rows in ((model, values), (direct, T))
    )
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("made", [*LEARNERS, *AUTO])
def test_the_pairwise_tag_says_whether_the_kernel_is_precomputed(made):
    assert get_tags(made("precomputed")).input_tags.pairwise
    assert not get_tags(made()).input_tags.pairwise


@pytest.mark.parametrize("made", LEARNERS)
def test_the_pairwise_tag_is_that_of_the_map(made):
    def pairwise(features):
        return get_tags(made(features=features)).input_tags.pairwise

    assert pairwise(Nystrom("precomputed"))
    assert pairwise(make_pipeline(Nystrom("precomputed"), StandardScaler()))
    assert not pairwise(Nystrom(KERNEL))
    assert not pairwise(make_pipeline(StandardScaler(), Nystrom(KERNEL)))


# --- scikit-learn's manners ----------------------------------------------------------------------


@pytest.mark.parametrize("made", [*LEARNERS, *AUTO])
def test_feature_names_are_kept_and_compared(made):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = _make(made).fit(frame, _target(made))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("made", LEARNERS)
def test_the_output_container_of_the_map_does_not_matter(made):
    plain, framed = Nystrom(KERNEL, **FEW), Nystrom(KERNEL, **FEW).set_output(transform="pandas")
    y = _target(made)
    model = _make(made, None, features=framed).fit(X, y)
    assert type(model.predict(X)) is np.ndarray
    assert_same_outputs(model, _make(made, None, features=plain).fit(X, y), X)
    assert framed._sklearn_output_config == {"transform": "pandas"}
    assert not hasattr(framed, "landmarks_")  # the map given is not the one fitted


@pytest.mark.parametrize("made", [*LEARNERS, *AUTO])
def test_pickles_and_clones(made):
    model = _make(made).fit(X, _target(made))
    again = pickle.loads(pickle.dumps(model))
    assert_same_outputs(again, model, X)
    twin = clone(model)
    with pytest.raises(NotFittedError):
        twin.predict(X)
    params = {k: v for k, v in model.get_params(deep=False).items() if k != "kernel"}
    assert params == {k: v for k, v in twin.get_params(deep=False).items() if k != "kernel"}
    assert model.get_params()["kernel__sigma_neg"] == 5.0
    assert_same_outputs(twin.fit(X, _target(made)), model, X)


# --- bad input -----------------------------------------------------------------------------------


def _state(model):
    return {k: v for k, v in vars(model).items() if k not in model.get_params(deep=False)}


@functools.cache
def _fitted(made):
    return pickle.dumps(_make(made).fit(X, _target(made)))


def _refuses(model, sentence, *args, error=ValueError, **kwargs):
    """`fit` raises a sentence; neither a fresh estimator nor a fitted one has changed."""
    fresh, fitted = clone(model), pickle.loads(_fitted(type(model)))
    before, predictions = _state(fitted), fitted.predict(X)
    fitted.set_params(**model.get_params(deep=False))
    for one in (fresh, fitted):
        with pytest.raises(error, match=sentence) as caught:
            one.fit(*args, **kwargs)
        assert "\n" not in str(caught.value).strip()
    assert not [name for name in vars(fresh) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    after = _state(fitted)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    np.testing.assert_array_equal(fitted.predict(X), predictions)


def _stream(made):
    return list(zip(np.split(X, 9), np.split(_target(made), 9), strict=True))


EVERY = pytest.mark.parametrize("made", [*LEARNERS, *AUTO])
EACH = pytest.mark.parametrize("made", LEARNERS)


@EVERY
def test_a_bad_block_among_many_is_named(made):
    blocks = _stream(made)
    A, y = blocks[4]
    holed = np.where(np.arange(30).reshape(10, 3) == 10, np.nan, A)
    for bad, sentence in ((holed, r"nan.*row 3 of block 4"), (A[:, :2], r"Block 4 has 2 col.*3")):
        _refuses(_make(made), sentence, [*blocks[:4], (bad, y), *blocks[5:]])


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv.gz"])
@EVERY
def test_a_file_cut_off_in_the_middle_is_named(made, suffix, tmp_path):
    path, y = tmp_path / f"data{suffix}", _target(made)
    if suffix == ".npy":
        np.save(path, X)
    elif suffix == ".npz":
        np.savez_compressed(path, X=X, y=y)
    else:
        pd.DataFrame(X).assign(y=y).to_csv(path, index=False)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    target = {".npy": y, ".npz": None, ".csv.gz": "y"}[suffix]
    _refuses(_make(made), rf"data\{suffix}.*cut off", str(path), target)


@EVERY
def test_a_mistyped_file_name_gets_a_suggestion(made, tmp_path):
    np.savez(tmp_path / "letters.npz", X=X, y=_target(made))
    sentence = r"leters\.npz.*letters\.npz"
    _refuses(_make(made), sentence, tmp_path / "leters.npz", error=FileNotFoundError)


@EVERY
def test_folds_of_groups_are_passed_as_a_list(made):
    model, groups = made(Gaussian(), 5, cv=GroupKFold(3), random_state=0), np.arange(len(X)) % 6
    with pytest.raises(ValueError, match=r"needs the group of each row.*cv=list\(splitter\.split"):
        model.fit(X, _target(made))
    folds = list(GroupKFold(3).split(X, groups=groups))
    assert model.set_params(cv=folds).fit(X, _target(made)).cv is folds


def test_splits_that_an_earlier_fit_has_read_are_missed():
    model = _make(KreinRidge, alpha="cv", cv=KFold(3).split(X)).fit(X, VALUES)
    with pytest.raises(ValueError, match=r"cv yields no test rows.*cv=list\(splitter\.split"):
        model.fit(X, VALUES)


@EVERY
def test_blocks_of_frames_have_their_columns_in_one_order(made):
    frame, y, model = pd.DataFrame(X, columns=["a", "b", "c"]), _target(made), _make(made)
    turned, sentence = frame[["c", "b", "a"]], r"columns of {} are 'c', 'b', 'a', but 'a', 'b', 'c'"
    _refuses(model, sentence.format("block 1"), [(frame[:60], y[:60]), (turned[60:], y[60:])])
    model.fit([(frame[:60], y[:60]), (frame[60:], y[60:])])
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert len(model.predict([frame[:5], X[5:]])) == len(X)
    with pytest.raises(ValueError, match="names should match"):
        model.predict(turned)
    for rows in ([turned], [(turned, y)], lambda: iter([turned])):
        with pytest.raises(ValueError, match=sentence.format("block 0")):
            model.predict(rows)
    with pytest.raises(ValueError, match=sentence.format("block 1")):
        model.predict([frame[:5], turned[5:]])


@EVERY
def test_a_one_shot_iterator_is_refused_with_the_cure(made):
    _refuses(_make(made), r"generator.*once.*callable", (block for block in _stream(made)))


@EVERY
def test_targets_are_needed_for_every_row(made):
    _refuses(_make(made), rf"{made.__name__}.*requires y", X)
    _refuses(_make(made), rf"{made.__name__}.*requires y", lambda: iter(np.split(X, 9)))


@EVERY
def test_targets_of_another_length_are_counted(made):
    _refuses(_make(made), r"90, 80", X, _target(made)[:80])
    blocks = _stream(made)
    blocks[2] = (blocks[2][0], blocks[2][1][:-1])
    _refuses(_make(made), r"Block 2 has 10 rows.*9", lambda: iter(blocks))


@pytest.mark.parametrize("made", [*CLASSIFIERS, KreinClassifier])
def test_one_class_is_no_classification(made):
    _refuses(_make(made), r"one class|1 class|single class", X, np.full(90, "yes"))


@EVERY
def test_weights_must_be_numbers_from_zero_with_one_above(made):
    y = _target(made)
    negative = np.r_[np.ones(40), -2.0, np.ones(49)]
    for weight, sentence in (
        (np.zeros(90), r"(?i)weights.*zero"),
        (negative, r"(?i)negative.*sample_weight"),
        (np.ones(50), r"weight.*50.*90"),
        (np.where(negative < 0, np.nan, 1), r"sample_weight.*NaN"),
    ):
        _refuses(_make(made), sentence, X, y, sample_weight=weight)
    for weight, sentence in ((np.zeros(90), r"(?i)weights.*zero"), (negative, r"-2 .*row 0 .* 4")):
        weighted = zip(_stream(made), np.split(weight, 9), strict=True)
        _refuses(_make(made), sentence, [(*block, w) for block, w in weighted])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alpha": 0.0}, r"alpha.*0"),
        ({"alpha": -1.0}, r"alpha.*-1"),
        ({"alpha": np.nan}, r"alpha.*nan"),
        ({"alpha": "grid"}, r"alpha(?=.*'cv')(?=.*'gradient').*'grid'"),
        ({"alpha_neg": -1.0}, r"alpha_neg.*-1"),
        ({"alpha_neg": "same"}, r"alpha_neg.*equal.*'same'"),
        ({"alpha": "cv", "alphas": [1e-3, -2.0]}, r"alphas.*-2"),
        ({"alpha": "cv", "alphas": []}, r"alphas"),
        ({"alpha": "cv", "alphas_neg": [-3.0]}, r"alphas_neg.*-3"),
        ({"alpha": "cv", "cv": 1}, r"cv.*1"),
        ({"kernel": "rbf"}, r"kernel.*'rbf'"),
        ({"n_components": 0}, r"n_components.*0"),
        ({"features": 3}, r"features.*(3|int)"),
        ({"features": LinearRegression()}, r"features.*LinearRegression"),
        ({"features": Nystrom}, r"features.*(class|instance).*Nystrom|Nystrom.*(class|instance)"),
    ],
    ids=str,
)
@EACH
def test_settings_that_make_no_sense_are_named(made, settings, sentence):
    model = _make(made).set_params(**settings)
    if isinstance(settings.get("features"), type):  # which clone cannot copy
        with pytest.raises((ValueError, TypeError), match=sentence):
            model.fit(X, _target(made))
        assert not _state(model)
        return
    _refuses(model, sentence, X, _target(made), error=(ValueError, TypeError))


@EACH
def test_a_precomputed_kernel_is_no_stream(made):
    blocks = list(zip(np.split(KERNEL(X), 9), np.split(_target(made), 9), strict=True))
    _refuses(_make(made, "precomputed"), r"precomputed", blocks)


@EACH
def test_a_precomputed_kernel_is_square(made):
    _refuses(_make(made, "precomputed"), r"square", KERNEL(X)[:, :50], _target(made))


@EVERY
def test_predicting_on_other_columns_is_refused(made):
    model = _make(made).fit(X, _target(made))
    for rows in (X[:, :2], np.hstack([X, X])):
        with pytest.raises(ValueError, match=rf"{rows.shape[1]} features.*{made.__name__}.*3"):
            model.predict(rows)
    with pytest.raises(ValueError, match=r"2 columns, but 3 are expected"):
        model.predict(lambda: iter([X[:, :2]] * 2))
