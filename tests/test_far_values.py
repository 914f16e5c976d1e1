"""Values far from the centre of their column: moved, or kept if that serves left-out rows."""

from __future__ import annotations

import numpy as np

from krein import KreinRegressor


def test_the_report_says_which_values_are_moved():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    plain = KreinRegressor(random_state=0).fit(X, X[:, 0])
    assert "Moved" not in str(plain.report_)
    X[[4, 7], 1] = 1e3
    X[7, 2] = -1e3
    model = KreinRegressor(random_state=0).fit(X, X[:, 0])
    assert "Moved: values of 2 of 300 rows" in str(model.report_)
    assert "(columns 1, 2)" in str(model.report_)


def test_values_far_away_are_kept_if_left_out_rows_are_predicted_better():
    rng = np.random.default_rng(0)
    X = rng.standard_t(1.5, size=(1300, 6))
    y = X.sum(axis=1) + rng.normal(size=len(X))
    model = KreinRegressor(random_state=0).fit(X[:300], y[:300])
    assert "Kept: values of 11 of 300 rows" in str(model.report_)
    limits = {option.columns.limit for option in model.report_.kernel.options}
    assert limits == {np.inf}
    # Values that no training row exceeds. With values moved to ten units the score is 0.7.
    inside = (np.abs(X[300:]) <= np.abs(X[:300]).max(axis=0)).all(axis=1)
    assert model.score(X[300:][inside], y[300:][inside]) > 0.95
