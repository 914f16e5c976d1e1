"""The support vector machine on features whose spectrum is learned from its labels."""

from __future__ import annotations

from inspect import cleandoc
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils._param_validation import Interval, StrOptions

from ..spectral import NotSoRandomFeatures, Search
from ..spectral.not_so_random import check_sphere
from ..streaming import Data, Survey
from ._hinge_search import CenteredRows
from ._parameters import shared, store
from ._penalties import Wanted
from ._representation import Recipe
from ._targets import Classes, Targets
from ._task import Task
from .svc import KreinSVC

# The values of C that cross-validation compares. The learned kernel has mass 1.
GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
# Parameters that the map takes as they are.
OF_MAP = (
    "n_components",
    "domain",
    "n_rounds",
    "loss",
    "step",
    "band",
    "standardize",
    "search",
    "n_starts",
    "peaks_per_search",
    "max_degree",
    "game",
    "early_stopping",
)


@shared(
    cleandoc(NotSoRandomFeatures.__doc__ or ""),
    **{name: NotSoRandomFeatures._parameter_constraints[name] for name in OF_MAP},
    C=[StrOptions({"cv"}), Interval(Real, 0, None, closed="neither")],
)
class NotSoRandomClassifier(KreinSVC):
    """Support vector machine with a kernel that is learned from the labels (NSRF).

    `NotSoRandomFeatures` learns frequencies, or harmonics on the sphere, that separate the classes.
    A support vector machine on these features then minimises
    ``½‖w‖² + C Σ_i s_i max(0, 1 − y_i f(x_i))`` with ``f = wᵀZ + b`` and the weights s_i. More than
    two classes share the features; each class has a machine against all other classes.

    The class is ``KreinSVC(features=NotSoRandomFeatures(…), loss="hinge", alpha=1/(2 C n))``, with
    C in place of alpha.

    Parameters
    ----------
    {n_components}
    {domain}
    {n_rounds}
    C : float or "cv", default="cv"
        Inverse strength of the penalty, as in ``SVC``, and the upper bound of the duals in the
        game. "cv" compares 0.01, 0.1, … 1000 by cross-validation: for each fold a map is learned
        without the rows of the fold, so learning takes `cv` + 1 times as long. The game hardly
        depends on C, so with "cv" its duals are bounded by 1.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss of the margin, in the game and in the machine, as in `KreinSVC`. The corner of
        "hinge" is rounded.
    {step}
    {band}
    standardize : bool or "auto", default="auto"
        True measures each column in units of its standard deviation while the spectrum is learned,
        the band included; the frequencies are stored in the units of X. "auto" chooses together
        with ``band="auto"``, and means False if the band is given. The parameter has no effect on
        the sphere.
    {search}
    {n_starts}
    {peaks_per_search}
    {max_degree}
    {game}
    {early_stopping}
    cv : int, splitter or iterable of (train, test), default=5
        The folds that choose C, as in `KreinSVC`.
    tol : float, default=1e-4
        The solver stops when a step lowers the objective by less than this share of it.
    max_iter : int, default=100
        The largest number of Newton steps per class.
    class_weight : dict, "balanced" or None, default=None
        Factors of the rows' weights by class. They do not change the features.
    calibrate : bool or "auto", default="auto"
        True if rows are held out for `predict_proba`: the rows of a fold get the outputs of a model
        whose features are learned without these rows. "auto" means True if ``C="cv"``, because the
        features are then learned anew for each fold anyway.
    {random_state}

    Attributes
    ----------
    {classes_}
    coef_ : ndarray of shape (p,) or (k, p)
        The coefficients of the features: one row per class, or a vector for two classes.
    intercept_ : float or ndarray of shape (k,)
        The intercepts.
    C_ : float
        The value of C that was used.
    features_ : NotSoRandomFeatures
        The fitted map with its frequencies, duals and potentials.
    {kernel_}
    cv_results_ : dict
        Arrays of the values of C that were tried and of their cross-validated errors and losses,
        and "chosen", the index of the best value; absent if C was given.
    n_iter_ : int
        The largest number of Newton steps of the final fit.
    objective_ : ndarray of shape (1,) or (k,)
        The objective of `KreinSVC` for each class.
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    NotSoRandomFeatures : The map alone, for other learners.

    Notes
    -----
    The features are learned from the distinct rows of positive weight, at most 100,000 of them;
    weights act on the machine. Rows of equal content count once, with the label of the largest
    total weight (from a stream, the smallest label).

    References
    ----------
    B. Bullins, C. Zhang, Y. Zhang. Not-So-Random Features. ICLR 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import NotSoRandomClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, (600, 2))
    >>> y = np.sin(9 * X[:, 0]) * np.sin(9 * X[:, 1]) > 0  # a checkerboard
    >>> model = NotSoRandomClassifier(40, C=10.0, random_state=0).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.9
    True
    """

    # Parameters of `KreinSVC` that this class fixes.
    kernel = features = alphas = alphas_neg = None
    alpha_neg, fit_intercept, nested, criterion = "equal", True, False, "error"
    _tuned, _cure = "C", "increase max_iter or tol, or decrease C"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        domain: str = "euclidean",
        n_rounds: int | None = None,
        C: float | str = "cv",
        loss: str = "hinge",
        step: float = 0.1,
        band: float | str = "auto",
        standardize: bool | str = "auto",
        search: str | Search = "momentum",
        n_starts: int = 24,
        peaks_per_search: int = 5,
        max_degree: int | str = "auto",
        game: bool = True,
        early_stopping: bool = False,
        cv: Any = 5,
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: Any = None,
        calibrate: bool | str = "auto",
        random_state: Any = None,
    ):
        store(self, locals())

    @property
    def _tunes(self) -> bool:
        return isinstance(self.C, str)

    @property
    def _recipe(self) -> Recipe:
        bound = 1.0 if isinstance(self.C, str) else self.C
        features = NotSoRandomFeatures(C=bound, **{name: getattr(self, name) for name in OF_MAP})
        return Recipe(self._name, None, 1, features, self.random_state)

    def _validated(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray]:
        X, y = super()._validated(X, y, reset)
        # The map sees the rows in another order, so its error would name another row.
        if self.domain == "sphere" and not issparse(X):
            check_sphere(self, X)
        return X, y

    def _survey(self, data: Data, key: int) -> Survey:
        if isinstance(self.C, str) and not data.in_memory:
            raise ValueError(
                f"{self._name}(C={self.C!r}) learns the features anew for each fold, which needs "
                "data in memory: pass arrays, or give C a number."
            )
        return super()._survey(data, key)

    def _targets_of(self, survey: Survey) -> Targets:
        targets, labels = super()._targets_of(survey), np.asarray(survey.sample.y)
        if not isinstance(targets, Classes):
            raise ValueError(
                f"{self._name} takes one label per row, but y has {survey.n_outputs} columns: use "
                "sklearn.multioutput.MultiOutputClassifier around it."
            )
        if len(labels) < 3:
            raise ValueError(
                f"{self._name} needs at least 3 distinct rows, got {len(labels)}: every wave "
                "separates two rows."
            )
        if len(np.unique(labels)) < 2:
            raise ValueError(
                f"{self._name} needs rows that differ between the classes, but at each distinct "
                f"row the class {str(labels[0])!r} is the most frequent one."
            )
        if isinstance(self.C, str):
            self._check_folds(labels)
        return targets

    def _wanted(self, task: Task, rows: CenteredRows) -> Wanted:
        # The objective of `KreinSVC` is a mean over the rows, and C belongs to a sum.
        self._scale = 1 / (2 * float(rows.weight.sum()))
        alphas = self._scale / np.array(GRID)
        alpha = self.C if isinstance(self.C, str) else self._scale / self.C
        return Wanted(alpha, self.alpha_neg, alphas, None)

    def _check_folds(self, labels: NDArray) -> None:
        """Raise if a fold would leave too few rows, or one class, to learn features from."""
        n_rows, n_folds = len(labels), int(self.cv) if isinstance(self.cv, Integral) else 2**31
        sizes = np.unique(labels, return_counts=True)[1]
        if np.sum(sizes > 1) < 2 or n_rows - -(-n_rows // n_folds) < 3:
            raise ValueError(
                f"{self._name}(C={self.C!r}) learns the features anew without the rows of each "
                "fold, which needs at least two classes of at least two distinct rows and three "
                f"rows outside each fold, got {n_rows} distinct rows in classes of "
                f"{', '.join(map(str, sizes))}: give C a number, e.g. C=1.0."
            )

    def _forget(self) -> None:
        """Put C in place of the penalties."""
        super()._forget()
        scale = self.__dict__.pop("_scale")
        self.C_ = float(scale / self.__dict__.pop("alpha_"))
        del self.alpha_neg_
        if hasattr(self, "cv_results_"):
            self.cv_results_ = {"C": scale / self.cv_results_.pop("alpha"), **self.cv_results_}
            self.cv_results_.pop("alpha_neg", None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.classifier_tags.multi_label = False
        return tags
