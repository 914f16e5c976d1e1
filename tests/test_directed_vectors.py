"""Conditional probabilities and attention: kernels of vectors that are not symmetric."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from relation_twins import neighbour_law
from rounding import assert_rounded
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from krein import Nystrom
from krein.kernels import (
    Attention,
    ConditionalProbability,
    UnresolvedError,
)
from krein.kernels._perplexity import Neighbourhoods
from krein.testing import check_kernel

# --- conditional probabilities ------------------------------------------------------------------

# Rows that float32 holds exactly, so that a row in single precision is the same row.
ROWS = np.random.default_rng(3).standard_normal((50, 3)) * np.linspace(0.2, 3, 50)[:, None]
ROWS, FRESH = (np.round(1024 * A) / 1024 for A in (ROWS, np.random.default_rng(4).random((12, 3))))


@pytest.mark.parametrize("perplexity", [1.5, 5, 30])
def test_probabilities_are_those_of_their_twin(perplexity):
    kernel = ConditionalProbability(perplexity, rows=ROWS)
    twin = lambda x, y: neighbour_law(x, ROWS, perplexity)(y)  # noqa: E731  # a twin in one line
    check_kernel(kernel, twin, FRESH[:7], FRESH[7:])
    check_kernel(kernel, twin, ROWS[:7], FRESH)
    check_kernel(kernel, twin, FRESH[:7], ROWS[20:30])
    assert_array_equal(np.diagonal(kernel(ROWS)), 0)


def test_rows_sum_to_one_and_have_the_perplexity():
    kernel = ConditionalProbability(7).resolved(ROWS)
    P = kernel(np.concatenate([ROWS, FRESH]), ROWS)
    assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    entropy = -np.where(P > 0, P * np.log(np.where(P > 0, P, 1)), 0).sum(axis=1)
    assert_allclose(np.exp(entropy), 7, rtol=1e-9)
    assert_array_equal(ConditionalProbability(7)(ROWS), kernel(ROWS))


def test_equal_rows_are_one_row_and_new_rows_change_nothing():
    kernel = ConditionalProbability(5, rows=np.concatenate([ROWS, ROWS[:3]]))
    P = kernel(ROWS, ROWS)
    assert_array_equal(np.diagonal(P), 0)
    copies = np.where(np.arange(50) < 3, 2, 1)
    assert_allclose(P @ copies, 1, rtol=1e-12)
    assert_allclose(kernel(ROWS[:2], np.concatenate([FRESH, ROWS]))[:, 12:], P[:2], rtol=1e-12)
    turned = ConditionalProbability(5, rows=np.concatenate([ROWS, ROWS[:3]])[::-1])
    assert_rounded(turned(ROWS, ROWS), P)


def test_a_row_with_few_neighbours_has_the_uniform_law_and_equidistant_rows_too():
    rows = np.array([[0.0]] * 6 + [[1.0], [2.0], [4.0]])
    P = ConditionalProbability(5, rows=rows)([[0.0]], rows)[0]
    assert_allclose(P, [0] * 6 + [1 / 3] * 3, rtol=1e-9)
    corners = np.eye(8)
    P = ConditionalProbability(3, rows=corners)(corners)
    assert_allclose(P, (1 - corners) / 7, rtol=1e-9)
    # A new row that is closer than all training rows has the probability 1.
    assert ConditionalProbability(3, rows=corners)(corners[:1], 0.9 * corners[:1]) == 1


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e-8, 1e8, 1e150, 1e300])
def test_probabilities_do_not_depend_on_the_unit(factor):
    X = np.concatenate([ROWS, FRESH])
    expected = ConditionalProbability(7, rows=ROWS)(X)
    found = ConditionalProbability(7, rows=ROWS * factor)(X * factor)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_the_search_of_the_bandwidth_ends_for_any_distances():
    rng = np.random.default_rng(0)
    z = 10.0 ** rng.uniform(-150, 150, (40, 30))
    z[3:6] = 1.0
    found = Neighbourhoods.of(z, np.ones_like(z, dtype=bool), 3.0)
    P = found.probabilities(z)
    assert np.isfinite(P).all()
    assert_allclose(P.sum(axis=1), 1, rtol=1e-6)


def test_training_rows_are_taken_in_fit_and_kept():
    X = ROWS.copy()
    features = Nystrom(ConditionalProbability(5), 50, landmarks="all", random_state=0).fit(X)
    before = features.approximate_kernel(FRESH)
    X[:] = 0
    assert_array_equal(features.approximate_kernel(FRESH), before)
    assert features.kernel.rows is None
    assert_allclose(features.approximate_kernel(ROWS), features.kernel_(ROWS), atol=1e-8)
    assert_array_equal(features.kernel_.rows, ROWS)
    y = (np.linalg.norm(ROWS, axis=1) > 1).astype(int)
    pipeline = make_pipeline(Nystrom(ConditionalProbability(), 20), LogisticRegression())
    grid = GridSearchCV(pipeline, {"nystrom__kernel__perplexity": [3, 10]}, cv=3).fit(ROWS, y)
    assert grid.best_score_ > 0.6


@pytest.mark.parametrize("kernel", [ConditionalProbability(5), 2 * ConditionalProbability(5) + 1])
def test_an_unresolved_kernel_takes_no_second_argument(kernel):
    with pytest.raises(UnresolvedError, match=r"\(rows=None\), and new rows must not change it"):
        kernel(ROWS, FRESH)
    assert kernel.resolved(ROWS).is_resolved
    assert_array_equal(kernel.resolved(ROWS)(ROWS), kernel(ROWS))


# --- attention ----------------------------------------------------------------------------------

QUERY, KEY = np.random.default_rng(5).standard_normal((2, 4, 3)) / 2


def test_attention_is_its_formula():
    twin = lambda x, y: np.exp((QUERY @ x) @ (KEY @ y) / 2)  # noqa: E731  # a twin in one line
    check_kernel(Attention(QUERY, KEY), twin, FRESH[:7], FRESH[7:])
    check_kernel(Attention(QUERY.tolist(), KEY.tolist()), twin, FRESH[:7], FRESH[7:])


def test_attention_of_one_matrix_is_symmetric_and_positive_definite():
    kernel = Attention(KEY, KEY.copy())
    twin = lambda x, y: np.exp((KEY @ x) @ (KEY @ y) / 2)  # noqa: E731  # a twin in one line
    check_kernel(kernel, twin, FRESH[:7], FRESH[7:])
    assert np.linalg.eigvalsh(kernel(FRESH)).min() > -1e-12


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_attention_that_overflows_says_so(dtype):
    X = np.ones((3, 3), dtype=dtype)
    limit = np.log(np.finfo(dtype).max)
    weights = np.ones((1, 3)) / 3
    kernel = Attention(weights, 0.999 * limit * weights)
    assert np.isfinite(kernel(X)).all()
    for factor in (1.001 * limit, 1e30, 1e300):
        large = Attention(weights * factor**0.5, weights * factor**0.5)
        for call in (lambda k=large: k(X), lambda k=large: k.diag(X), lambda k=large: k(X, X[:1])):
            with pytest.raises(
                ValueError, match=rf"more than {limit:.4g} exceeds .*divide W_query"
            ):
                call()
    assert (Attention(weights * -1e100, weights * 1e100)(X) == 0).all()
    for rows in (X * dtype(1e38), X * dtype(1e38) * [1, -1, 1]):
        with pytest.raises(ValueError, match="Attention overflows"):
            Attention(KEY, KEY)(rows.astype(dtype))
        with pytest.raises(ValueError, match="Attention overflows"):
            Attention(1e300 * KEY, 1e300 * KEY).diag(rows.astype(dtype))


# --- parameters and bad input -------------------------------------------------------------------

KERNELS = [ConditionalProbability(5, rows=ROWS), Attention(QUERY, KEY)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_clones_and_pickles_are_equal_and_have_the_same_values(kernel):
    K = kernel(FRESH)
    for twin in (clone(kernel), pickle.loads(pickle.dumps(kernel)), clone(2.0 * kernel).kernel):
        assert twin == kernel
        assert twin is not kernel
        assert hash(twin) == hash(kernel)
        assert_array_equal(twin(FRESH), K)
    assert clone(KERNELS[0]).rows is ROWS
    assert KERNELS[0] != ConditionalProbability(5, rows=FRESH)
    assert KERNELS[1] != Attention(KEY, QUERY)


REFUSED = {
    "perplexity": (
        ConditionalProbability(50),
        ROWS,
        "perplexity to be above 1 and at most 49, the number of training rows minus one, got 50",
    ),
    "perplexity of 1": (ConditionalProbability(1), ROWS, "above 1 and at most 49, .* got 1"),
    "named perplexity": (ConditionalProbability("a"), ROWS, "perplexity to be above 1 .* got 'a'"),
    "equal rows": (ConditionalProbability(2), np.ones((5, 2)), "all 5 of them equal one row"),
    "other columns": (
        ConditionalProbability(5, rows=ROWS),
        ROWS[:, :2],
        "training rows of 3 columns, but X has 2",
    ),
    "shapes": (Attention(QUERY, KEY[:3]), FRESH, r"one shape, .* got \(4, 3\) and \(3, 3\)"),
    "columns": (Attention(QUERY[:, :2], KEY[:, :2]), FRESH, "of 2 columns, but X has 3 columns"),
    "nan weights": (Attention(QUERY, KEY * np.nan), FRESH, "W_key to be a matrix of finite num"),
    "vector weights": (Attention(QUERY[0], KEY), FRESH, "W_query to be a matrix of finite numbers"),
    "ragged weights": (
        Attention([[1], [1, 2]], KEY),
        FRESH,
        "W_query to be a matrix of finite num",
    ),
    "text weights": (Attention("a", KEY), FRESH, "W_query to be a matrix of finite .* got 'a'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_gets_one_sentence(name):
    kernel, X, sentence = REFUSED[name]
    for call in (kernel, Nystrom(kernel, 1).fit):
        with pytest.raises(ValueError, match=sentence) as caught:
            call(X)
        assert str(caught.value).count("\n") == 0
        assert str(caught.value).endswith(".")
