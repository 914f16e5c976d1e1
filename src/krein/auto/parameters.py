"""The parameters that the automatic learners share."""

from __future__ import annotations

from sklearn.utils._param_validation import StrOptions

from ..estimators._parameters import COUNT, POSITIVE, shared

TEXTS = """
kernel : Kernel, "precomputed" or None, default=None
    None is a Gaussian as wide as the data. The values of a kernel of objects are computed once
    for all trials on up to 2000 rows.
n_components : int or "auto", default="auto"
    The rank of Nyström maps; other maps are then left out. "auto" tries 25, 100, 300 and, with
    up to 1500 rows, all rows.
dissimilarity : bool, default=False
    True if the kernel's values, or the entries of a precomputed matrix, are dissimilarities:
    zero for the same object, and larger the less alike two objects are. The learner then also
    chooses how to make similarities of them.
n_models : int or "auto", default="auto"
    The largest number of trials that are averaged. "auto" is all trials with up to 100 rows, 6
    with up to 2000 rows, else 1.
max_seconds : float, default=None
    A trial that is expected to end later is not begun.
max_megabytes : float, default=1024
    Maps whose matrices need more memory are not tried.
cv : int, splitter, iterable of (train, test) or "auto", default="auto"
    The cross-validation that judges trials and chooses their penalties. "auto" is 10 folds with
    up to 100 rows, else 5.
random_state : int, RandomState, Generator or None, default=None
    The seed of the folds, samples and maps.
best_estimator_ : learner
    The best fitted learner.
estimators_ : list
    The learners whose outputs are averaged, the best one first. With 101 to 200 rows each trial
    is fitted and judged three times, with other folds.
report_ : Report
    What was tried and why; printing it shows a table and a sentence.
kernel_ : Kernel or "precomputed"
    A copy of the kernel of all trials. A rate ``gamma="median"`` is a number there, taken once
    from all rows.
n_features_in_ : int
    The number of columns of X.
"""

with_parameters = shared(
    TEXTS,
    n_components=[COUNT, StrOptions({"auto"})],
    n_models=[COUNT, StrOptions({"auto"})],
    dissimilarity=["boolean"],
    max_seconds=[POSITIVE, None],
    max_megabytes=[POSITIVE],
    cv=["cv_object", StrOptions({"auto"})],
)
