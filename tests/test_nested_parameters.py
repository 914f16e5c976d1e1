"""Parameters of a parameter that is not there: a sentence that says what to give."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from krein import (
    KreinClassifier,
    KreinPCA,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    Nystrom,
    RandomFourier,
    RandomGegenbauer,
    SimilarityFeatures,
)
from krein.estimators import CorrectedSVC, VarianceConstrainedRegressor
from krein.kernels import DeltaGaussian, Gaussian, Similarity

WITH_KERNELS = [
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    KreinClassifier,
    VarianceConstrainedRegressor,
    CorrectedSVC,
    Nystrom,
    RandomFourier,
    RandomGegenbauer,
    SimilarityFeatures,
]


@pytest.mark.parametrize("kind", WITH_KERNELS)
def test_a_width_of_no_kernel_names_the_cure(kind):
    message = (
        rf"{kind.__name__} has kernel=None.*no parameter 'sigma'.*kernel=krein.kernels.Gaussian"
    )
    with pytest.raises(ValueError, match=message):
        kind().set_params(kernel__sigma=2.0)
    both = kind().set_params(kernel=Gaussian(), kernel__sigma=2.0)
    assert both.kernel.sigma == 2.0
    assert both.set_params(kernel__sigma=3.0).kernel.sigma == 3.0


@pytest.mark.parametrize("kind", [KreinPCA, Nystrom, KreinRidge])
def test_a_name_has_no_parameters(kind):
    with pytest.raises(
        ValueError, match=r"has kernel='precomputed', which has no parameter 'sigma'"
    ):
        kind(kernel="precomputed").set_params(kernel__sigma=2.0)


def test_maps_and_distances_that_are_not_there():
    with pytest.raises(ValueError, match=r"features=None.*pass features=krein.Nystrom\(\)"):
        KreinRidge().set_params(features__n_components=7)
    with pytest.raises(ValueError, match=r"no parameter 'metric': pass an object as distance"):
        Similarity(np.subtract.outer).set_params(distance__metric="lcs")


def test_other_bad_names_keep_the_sentence_of_scikit_learn():
    with pytest.raises(ValueError, match="Invalid parameter 'kernle' for estimator"):
        KreinRidge().set_params(kernle__sigma=2.0)
    with pytest.raises(ValueError, match="Invalid parameter 'width' for estimator Gaussian"):
        KreinRidge(Gaussian()).set_params(kernel__width=2.0)


def test_a_grid_search_says_it_too(rng):
    X = rng.normal(size=(20, 2))
    grid = {"kernel__sigma": [0.5, 1.0]}
    with pytest.raises(ValueError, match=r"KreinRidge has kernel=None.*Gaussian\(\)"):
        GridSearchCV(KreinRidge(n_components=5), grid, cv=2).fit(X, X[:, 0])
    found = GridSearchCV(KreinRidge(DeltaGaussian(), 5, alpha=0.1), grid, cv=2).fit(X, X[:, 0])
    assert found.best_params_["kernel__sigma"] in (0.5, 1.0)
