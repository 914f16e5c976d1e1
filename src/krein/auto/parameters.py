"""The parameters that the automatic learners share."""

from __future__ import annotations

from sklearn.utils._param_validation import StrOptions

from ..estimators._parameters import COUNT, POSITIVE, shared
from ..features.base import N_JOBS
from ..kernels import Kernel

TEXTS = """
kernel : Kernel, "precomputed", "auto" or None, default=None
    None and "auto" choose a kernel for a table of numbers: the columns are standardised robustly,
    and the family, the width and, where it pays, a width for each column are chosen. A kernel with
    ``sigma="median"`` or ``gamma="median"`` keeps its formula, and its width is chosen. A width
    that is a number is kept. The values of a kernel of objects are computed once for all trials on
    up to 2000 rows.
n_components : int or "auto", default="auto"
    The rank of Nyström maps. A number leaves out all other maps. If the learner chooses the kernel,
    or if it is a `Gaussian`, `Laplacian` or `Matern` on a table, "auto" means the exact kernel with
    up to 3400 rows, else the widest map that fits the budget of operations and memory. With any
    other kernel, "auto" tries the ranks 25, 100, 300 and, with up to 1500 rows, all rows.
dissimilarity : bool, default=False
    True if the kernel's values, or the entries of a precomputed matrix, are dissimilarities: zero
    for the same object, and larger the less alike two objects are. The learner then also chooses
    how to turn dissimilarities into similarities.
n_models : int or "auto", default="auto"
    The largest number of trials that are averaged. "auto" is all trials with up to 100 rows, 6
    with up to 2000 rows, else 1. If the learner chooses the kernel of a table, the few trials are
    mixed with weights that held-out rows choose, and 1 keeps the trial of the largest weight.
max_seconds : float, default=None
    The time limit of the fit; None means no limit. A trial that is expected to end later is not
    started, and the search for a kernel ends after half of this time. With a limit that is never
    reached the model is the same as with None, and the report also lists narrower maps that were
    fitted first.
max_megabytes : float, default=1024
    Maps whose matrices need more memory are not tried.
cv : int, splitter, iterable of (train, test) or "auto", default="auto"
    The cross-validation that judges trials and chooses their penalties. "auto" is 10 folds with
    up to 100 rows, else 5. For ridge on the exact kernel of a table, "auto" leaves out every row in
    turn. A row is held out together with its copies. If nearly all rows of a table are copies of a
    few categories, "auto" divides the copies among the folds.
n_jobs : int, default=None
    Number of processes that evaluate a kernel of objects; None means the current process and −1 all
    cores. Kernels of vectors and matrix products use threads instead.
random_state : int, RandomState, Generator or None, default=None
    The seed of the folds, samples and maps.
best_estimator_ : learner
    The learner of the best trial. If the learner chose the kernel of a table, the learner with the
    largest weight.
estimators_ : list
    The learners whose outputs are averaged, the best one first. With 101 to 200 rows each trial is
    fitted and judged three times, with different folds; ridge that leaves out every row in turn is
    fitted once.
report_ : Report
    What was tried and why; printing it shows a table and a sentence.
kernel_ : Kernel or "precomputed"
    The kernel of all trials. Its width is a number, also if "median" was passed. If the learner
    chose kernels, the kernel of `best_estimator_`, which takes the standardised columns and not the
    rows of X.
n_features_in_ : int
    The number of columns of X.
feature_names_in_ : ndarray of shape (n_features_in_,)
    The names of the columns of X or of the file; absent if they are not all strings.
"""

with_parameters = shared(
    TEXTS,
    kernel=[Kernel, StrOptions({"auto", "precomputed"}), None],
    n_components=[COUNT, StrOptions({"auto"})],
    n_models=[COUNT, StrOptions({"auto"})],
    dissimilarity=["boolean"],
    max_seconds=[POSITIVE, None],
    max_megabytes=[POSITIVE],
    n_jobs=[*N_JOBS, None],
    cv=["cv_object", StrOptions({"auto"})],
)
