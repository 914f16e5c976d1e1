"""One model whatever holds the data: blocks, files, memory maps, arrays, several calls."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from rounding import assert_rounded, clear_rows
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from streaming_cases import (
    LABELS,
    LEARNERS,
    MAPS,
    TUNED,
    VALUES,
    WEIGHTS,
    D,
    N,
    T,
    X,
    _assert_same_model,
    _blocks,
    _data_set,
    _make,
    _output,
    _target,
)

from krein import (
    KreinClassifier,
    KreinRidgeClassifier,
    KreinSVC,
    VarianceConstrainedClassifier,
)
from krein.kernels import DynamicTimeWarping, EditDistance, Gaussian, Similarity
from krein.streaming import InMemory, Moments, Reservoir


class Restarting:
    """Blocks without a length, from the beginning in every pass."""

    def __init__(self, blocks):
        self.blocks = blocks

    def __iter__(self):
        return (block for block in self.blocks)


def _csv(path, y, weight=None):
    columns = [X, y] if weight is None else [X, weight, y]
    np.savetxt(path, np.column_stack(columns), delimiter=",", fmt="%.17g")
    return path


def _parquet(path, y):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    columns = {f"x{j}": X[:, j] for j in range(D)} | {"y": y}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=64)
    return path


def _npz(path, y):
    np.savez_compressed(path, X=X, y=y)
    return path


def _libsvm(path, y):
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return path


def _mapped(path):
    np.save(path, X)
    return np.load(path, mmap_mode="r")


CONTAINERS = {
    "1 block": lambda y, p: (_blocks(1, X, y),),
    "7 blocks": lambda y, p: (_blocks(7, X, y),),
    "300 blocks": lambda y, p: (_blocks(300, X, y),),
    "a callable": lambda y, p: (lambda: iter(_blocks(7, X, y)),),
    "an object": lambda y, p: (Restarting(_blocks(7, X, y)),),
    "a container": lambda y, p: (InMemory(X, y, rows=37),),
    "npy": lambda y, p: (_mapped(p / "X.npy") is None or p / "X.npy", y),
    "npz": lambda y, p: (_npz(p / "d.npz", y),),
    "csv": lambda y, p: (str(_csv(p / "d.csv", y)), -1),
    "parquet": lambda y, p: (_parquet(p / "d.parquet", y), "y"),
    "libsvm": lambda y, p: (_libsvm(p / "d.svm", y),),
    "memmap": lambda y, p: (_mapped(p / "m.npy"), y),
    "csr": lambda y, p: (sparse.csr_array(X), y),
    "csr blocks": lambda y, p: ([(sparse.csr_array(A), b) for A, b in _blocks(7, X, y)],),
    "lists": lambda y, p: (X.tolist(), y.tolist()),
}
SPARSE = ("csr", "csr blocks", "libsvm")  # which StandardScaler does not centre
CASES = [(f, c) for f in MAPS for c in CONTAINERS if f != "pipeline" or c not in SPARSE]


@pytest.fixture(scope="module")
def reference():
    """Fitted on the array, one per learner and map."""
    made = {}

    def fitted(learner, features):
        if (learner, features) not in made:
            model = _make(learner, features)
            made[learner, features] = model.fit(X, _target(learner))
        return made[learner, features]

    return fitted


# The columns of the Parquet file have names, those of the array have none.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.parametrize(("features", "container"), CASES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_container_changes_no_coefficient(learner, features, container, reference, tmp_path):
    arguments = CONTAINERS[container](_target(learner), tmp_path)
    model = _make(learner, features).fit(*arguments)
    expected = reference(learner, features)
    _assert_same_model(model, expected)
    np.testing.assert_allclose(_output(model), _output(expected), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("container", ["300 blocks", "csv", "csr", "memmap"])
@pytest.mark.parametrize("learner", TUNED)
def test_the_container_changes_no_tuned_penalty(learner, container, tmp_path):
    y = _target(learner)
    expected = _make(learner, table=TUNED).fit(X, y)
    model = _make(learner, table=TUNED).fit(*CONTAINERS[container](y, tmp_path))
    assert model.alpha_ == pytest.approx(expected.alpha_, rel=1e-10)
    assert model.alpha_neg_ == pytest.approx(expected.alpha_neg_, rel=1e-10)
    _assert_same_model(model, expected)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("container", ["7 blocks", "a callable", "csv", "npz", "libsvm"])
def test_predictions_on_a_stream_are_those_on_the_array(learner, container, reference, tmp_path):
    model = reference(learner, "nystrom")
    stream, *_ = CONTAINERS[container](_target(learner), tmp_path)
    np.testing.assert_allclose(model.predict(stream), model.predict(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("learner", ["ridge", "svc"])
def test_predictions_need_no_targets(learner, reference, tmp_path):
    model = reference(learner, "fourier")
    np.save(tmp_path / "T.npy", T)
    for rows in (np.array_split(T, 3), lambda: iter(np.array_split(T, 3)), tmp_path / "T.npy"):
        source = Restarting([(block,) for block in rows]) if isinstance(rows, list) else rows
        np.testing.assert_allclose(_output(model, source), _output(model), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_a_list_of_matrices_is_a_list_of_blocks_to_predict_for(form, reference):
    automatic = KreinClassifier(Gaussian(1.5), 10, max_seconds=1e-9, random_state=0)
    for model in (reference("ridge", "nystrom"), automatic.fit(X, LABELS)):
        blocks = [form(rows) for rows in np.array_split(T, 3)]
        np.testing.assert_allclose(_output(model, blocks), _output(model), rtol=1e-10, atol=1e-12)
        with pytest.raises(ValueError, match=f"Block 1 has 2 columns, but {X.shape[1]} are"):
            model.predict([T, T[:, :2]])


def test_a_kernel_of_matrices_takes_each_matrix_as_an_object():
    series = [rows.T for rows in np.random.default_rng(0).normal(size=(20, 6, 2))]
    kernel = Similarity(DynamicTimeWarping(), gamma=0.3)
    model = KreinRidgeClassifier(kernel, 5, alpha=0.1, random_state=0).fit(series, [0, 1] * 10)
    assert len(model.predict(series[:3])) == 3


@pytest.mark.parametrize("features", MAPS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_weights_in_blocks_are_the_weights_of_the_array(learner, features, tmp_path):
    y = _target(learner)
    expected = _make(learner, features).fit(X, y, sample_weight=WEIGHTS)
    plain = _make(learner, features).fit(X, y)
    assert np.abs(_output(expected) - _output(plain)).max() > 1e-3  # weights are seen at all
    np.savez(tmp_path / "d.npz", X=X, y=y, sample_weight=WEIGHTS)
    for stream in (_blocks(7, X, y, WEIGHTS), tmp_path / "d.npz"):
        _assert_same_model(_make(learner, features).fit(stream), expected)
    path = _csv(tmp_path / "d.csv", y, WEIGHTS)
    model = _make(learner, features).fit(path, y=-1, sample_weight=-2)
    _assert_same_model(model, expected)


@pytest.mark.parametrize("learner", LEARNERS)
def test_row_permutations_across_blocks_change_no_prediction(learner, reference):
    order = np.random.default_rng(3).permutation(N)
    y = _target(learner)
    model = _make(learner).fit(_blocks(7, X[order], y[order]))
    expected = _output(reference(learner, "nystrom"))
    np.testing.assert_allclose(_output(model), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("features", ["nystrom", "pipeline"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_more_rows_than_the_map_takes(learner, features, monkeypatch, tmp_path):
    """The rows for the map are drawn by content, wherever and in whatever order they come."""
    monkeypatch.setattr("krein.streaming.survey.MAP_ROWS", 1000)
    monkeypatch.setattr("krein.streaming.data.MAP_ROWS", 1000)
    many, *targets = _data_set(1600)
    y = targets[learner in ("ridge_classifier", "svc")]
    np.save(tmp_path / "X.npy", many)
    np.savetxt(tmp_path / "d.csv", np.column_stack([many, y]), delimiter=",", fmt="%.17g")
    order = np.random.default_rng(4).permutation(len(y))
    expected = _make(learner, features).fit(many, y)
    if features == "pipeline":
        assert expected.features_[0].n_samples_seen_ <= 1000
    for same in (
        (_blocks(7, many, y),),
        (tmp_path / "d.csv", -1),
        (np.load(tmp_path / "X.npy", mmap_mode="r"), y),
        (many[order], y[order]),
        (_blocks(11, many[order], y[order]),),
        *([(sparse.csr_array(many), y)] if features == "nystrom" else []),
    ):
        _assert_same_model(_make(learner, features).fit(*same), expected)


def test_a_seeded_map_makes_the_fit_repeatable():
    model = _make("ridge", "pipeline").set_params(random_state=None)
    first, second = clone(model).fit(X, VALUES), clone(model).fit(X, VALUES)
    np.testing.assert_array_equal(_output(first), _output(second))


# --- objects and whole estimators ----------------------------------------------------------------


@pytest.mark.parametrize("made", [KreinRidgeClassifier, KreinSVC, VarianceConstrainedClassifier])
def test_blocks_of_objects_are_a_list_of_objects(made):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), rng.integers(3, 9))) for _ in range(60)]
    labels = np.array(["many" if w.count("a") > 1 else "few" for w in words])
    settings = {"alpha": 1e-2, "random_state": 0, "kernel": Similarity(EditDistance(), gamma=0.3)}
    expected = made(n_components=10, **settings).fit(words, labels)
    cuts = [(words[i : i + 13], labels[i : i + 13]) for i in range(0, 60, 13)]
    for stream in (lambda: iter(cuts), Restarting(cuts)):
        model = made(n_components=10, **settings).fit(stream)
        _assert_same_model(model, expected)
    outputs = model.decision_function(words)
    assert_rounded(model.decision_function(lambda: (b[:1] for b in cuts)), outputs, 1e-10)
    labels, clear = model.predict(lambda: (b[:1] for b in cuts)), clear_rows(outputs)
    np.testing.assert_array_equal(labels[clear], model.predict(words)[clear])


def test_the_automatic_learner_takes_a_stream(tmp_path):
    y = (LABELS > 0).astype(float)
    for kernel in (Gaussian(1.5), None):
        expected = KreinClassifier(kernel, 10, random_state=0).fit(X, y)
        for name in ("7 blocks", "csv"):
            model = KreinClassifier(kernel, 10, random_state=0).fit(*CONTAINERS[name](y, tmp_path))
            assert model.report_.reason == expected.report_.reason
            found, wanted = model.decision_function(T), expected.decision_function(T)
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)


def test_statistics_of_other_widths_do_not_merge():
    with pytest.raises(ValueError, match=r"4 columns.*2"):
        Moments.of(X).merge(Moments.of(X[:, :2]))
    whole, narrow = (Reservoir.zero(5, 0).update(rows) for rows in (X, X[:, :2]))
    with pytest.raises(ValueError, match=r"width 4.*width 2"):
        whole.merge(narrow)
