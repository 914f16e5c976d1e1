"""Corrections of indefinite spectra, and symmetrisation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from proximity_cases import METHODS, dissimilarities, exact, similarities

from krein.proximity import DoubleCentering, SpectrumCorrector, symmetrize

# --- spectrum correction --------------------------------------------------------------------------

SPECTRA = {
    "flip": np.abs,
    "clip": lambda values: np.maximum(values, 0),
    "shift": lambda values: values - values.min(),
    "square": np.square,
}


@pytest.mark.parametrize("method", METHODS)
def test_corrected_spectrum(method):
    K = similarities(20)
    values, U = np.linalg.eigh(K)
    corrector = SpectrumCorrector(method).fit(K)
    exact(corrector.transform(K), (U * SPECTRA[method](values)) @ U.T)
    exact(np.sort(corrector.eigenvalues_), values)
    exact(corrector.negative_mass_, -values[values < 0].sum() / np.abs(values).sum())


@pytest.mark.parametrize("method", METHODS)
def test_new_rows_go_through_one_matrix(method):
    K = similarities(30)
    train, new = K[:20, :20], K[20:, :20]
    values, U = np.linalg.eigh(train)
    P = (U * (SPECTRA[method](values) / values)) @ U.T
    corrector = SpectrumCorrector(method).fit(train)
    exact(corrector.correction_, P)
    exact(corrector.transform(new), new @ P)


def test_shift_enlarges_self_similarities_only():
    K = similarities(15)
    shifted = SpectrumCorrector("shift").fit_transform(K)
    exact(shifted - K, -np.linalg.eigvalsh(K)[0] * np.eye(15))


def test_square_is_k_times_k():
    K = similarities(25)
    corrector = SpectrumCorrector("square").fit(K[:18, :18])
    exact(corrector.transform(K[:, :18]), K[:, :18] @ K[:18, :18])


@pytest.mark.parametrize("method", ["flip", "clip", "shift"])
@pytest.mark.parametrize("width", [2, 40], ids=["rank deficient", "full rank"])
def test_a_semi_definite_matrix_is_left_as_it_is_and_so_are_new_rows(method, width, rng):
    A = rng.standard_normal((30, width))
    K = A @ A.T
    corrector = SpectrumCorrector(method).fit(K[:20, :20])
    assert corrector.negative_mass_ == 0
    assert_array_equal(corrector.transform(K[:20, :20]), K[:20, :20])
    assert_array_equal(corrector.transform(K[20:, :20]), K[20:, :20])


@pytest.mark.parametrize("method", ["flip", "clip", "shift"])
def test_a_zero_eigenvalue_has_no_sign_and_is_dropped(method):
    S = DoubleCentering().fit_transform(dissimilarities(20))  # S 1 = 0
    corrector = SpectrumCorrector(method).fit(S)
    exact(corrector.correction_ @ np.ones(20), 0)
    exact(corrector.transform(np.ones((1, 20))), 0)


@pytest.mark.parametrize("method", ["flip", "clip", "shift"])
def test_corrected_matrix_is_semi_definite(method, load):
    D, _ = load("dissimilarities/catcortex", "D", "y")
    S = DoubleCentering().fit_transform(D)
    values = np.linalg.eigvalsh(S)
    assert values[0] < -0.05 * values[-1]  # there is something to correct
    corrected = SpectrumCorrector(method).fit_transform(S)
    exact(corrected, corrected.T)
    assert np.linalg.eigvalsh((corrected + corrected.T) / 2)[0] > -1e-10 * values[-1]


@pytest.mark.parametrize("method", METHODS)
def test_all_zero_similarities_stay_zero(method):
    assert_array_equal(SpectrumCorrector(method).fit_transform(np.zeros((4, 4))), np.zeros((4, 4)))


# --- symmetrisation -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "rule"), [("average", lambda a, b: (a + b) / 2), ("min", min), ("max", max)]
)
def test_symmetrize_pair_by_pair(how, rule, rng):
    D = rng.random((5, 5))
    expected = [[rule(D[i, j], D[j, i]) for j in range(5)] for i in range(5)]
    assert_array_equal(symmetrize(D, how), expected)
    # Rows of new objects, of which both directions are known, agree with the whole.
    assert_array_equal(symmetrize(D[3:, :3], how, D[:3, 3:]), symmetrize(D, how)[3:, :3])
    assert symmetrize(D.astype(np.float32), how).dtype == np.float32


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([[0, 1], [2, 0]], "mean"), r"how to be \"average\", \"min\" or \"max\", got 'mean'"),
        (([[0, 1, 2]],), r"square matrix .* shape \(1, 3\)"),
        (([[0, 1, 2]], "min", [[0, 1, 2]]), r"reverse .* \(3, 1\), got \(1, 3\)"),
        (([[np.nan]],), "D contains NaN"),
    ],
)
def test_symmetrize_refuses(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        symmetrize(*arguments)
