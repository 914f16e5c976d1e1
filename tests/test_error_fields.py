"""Errors carry fields; whoever knows the whole raises them again with the right places."""

import pickle

import numpy as np
import pytest

from krein import KreinClassifier, KreinRidge, KreinRidgeClassifier
from krein._validation import ArgumentError
from krein.kernels import EditDistance, Gaussian, Kernel, Similarity, UnresolvedError
from krein.kernels.errors import BadPairError
from krein.proximity import DissimilarityToSimilarity
from krein.proximity.errors import AsymmetryError, DiagonalError, NegativeError
from krein.streaming.raw import FileError

ERRORS = [
    ArgumentError("Gaussian", "sigma", "a finite number above 0", -1),
    BadPairError("k", np.nan, 1, 2),
    BadPairError("k", np.inf, None, None),
    UnresolvedError(Similarity(EditDistance())),
    NegativeError("Map", (1, 2), -1.0),
    DiagonalError("Map", None, 1.0),
    AsymmetryError("Map", (1, 2), 1.0, 2.0),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_pickled_error_says_the_same(error):
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_an_argument_error_has_its_parts():
    with pytest.raises(ArgumentError, match="Gaussian needs sigma") as caught:
        Gaussian(sigma=-1)([[0.0]])
    error = caught.value
    assert (error.owner, error.argument, error.value) == ("Gaussian", "sigma", -1)


def test_a_bad_pair_has_its_places_in_the_whole():
    bad = BadPairError("k", np.nan, 1, 2)
    assert "object 7 of X and object 9 of Y" in str(bad.among([3, 7], [0, 0, 9]))
    assert "object 11 of X" in str(bad.after(10))
    assert "for a pair" in str(bad.nowhere())
    assert bad.nowhere().among([3, 7], [0, 0, 9]).row is None
    final = BadPairError("k", np.nan, 1, 2, final=True)
    assert final.among([3, 7], [0, 0, 9]) is final.after(10) is final.nowhere() is final


def test_a_bad_entry_has_its_place_and_its_owner_in_the_whole():
    D = np.ones((3, 3)) - np.eye(3)
    D[1, 2] = -1
    with pytest.raises(NegativeError) as caught:
        DissimilarityToSimilarity("exp").fit(D)
    error = caught.value
    assert (error.owner, error.place, error.value) == ("DissimilarityToSimilarity", (1, 2), -1)
    whole = error.within("Learner", [0, 4, 8], "pass similarities")
    assert "passed to Learner: X[4, 8] = -1," in str(whole)
    assert str(whole).endswith("If X holds similarities, pass similarities.")


class Holed(Kernel):
    """A distance of vectors with NaN for one row."""

    def _block(self, X, Y):
        return np.where(X[:, :1] == 7, np.nan, abs(X[:, :1] - Y[:, :1].T))


def test_a_kernel_of_dissimilarities_that_is_not_finite_is_named():
    X = np.random.default_rng(0).random((60, 2))
    X[33, 0] = 7
    with pytest.raises(BadPairError, match=r"Holed\(\) returned nan for a pair\."):
        KreinClassifier(Holed(), dissimilarity=True).fit(X, np.arange(60) % 2)


def test_an_error_about_a_file_names_the_file_once(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,2\nnan,3\n", encoding="utf-8")
    with pytest.raises(FileError) as caught:
        KreinRidge().fit(path, "y")
    assert str(caught.value).count(str(path)) == 1


@pytest.mark.parametrize("learner", [KreinRidge, KreinRidgeClassifier])
def test_a_score_needs_targets(learner):
    X = np.random.default_rng(0).random((40, 2))
    model = learner(n_components=5, random_state=0).fit(X, np.arange(40) % 2)
    with pytest.raises(ValueError, match=r"score needs targets, but y is None"):
        model.score(X)
