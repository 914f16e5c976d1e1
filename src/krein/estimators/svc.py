"""The support vector machine on features with signs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions

from .._hashing import Draws, Salt
from .._validation import outside_level
from ..kernels import Kernel
from ..learning import Hinge, Split, SquaredHinge, solver_for
from ..learning.newton import NewtonState, warm_start
from ..learning.selection import best
from ._errors import NoFoldsError
from ._hinge_search import CenteredRows, Search
from ._learner import Learner
from ._parameters import shared, store
from ._penalties import Wanted, as_table
from ._task import Task

Array = NDArray[np.floating]

# Penalties of the negative part to try, as multiples of the best penalty of the positive part.
RATIOS = (1e-4, 1e-2, 1e2, 1e4, np.inf)
# The losses by name.
LOSSES = {"squared_hinge": SquaredHinge(), "hinge": Hinge()}


@shared(loss=[StrOptions(set(LOSSES))], criterion=[StrOptions({"error", *LOSSES})])
class KreinSVC(Learner, ClassifierMixin, BaseEstimator):
    """Support vector machine with an indefinite kernel (SH-SVM).

    The learner minimises ``(1/Σs) Σ s_i ℓ(y_i f(x_i)) + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` with
    ``f = wᵀZ + b``, the weights s_i, and the squared hinge ``ℓ(m) = max(0, 1 − m)²`` or the hinge
    ``ℓ(m) = max(0, 1 − m)``. It solves one problem per class against the rest, by Newton's method
    on the active rows with an exact line search. The problem is convex for every kernel, so the
    order of the rows changes nothing. ``LinearSVC`` with the same loss on the features has
    ``alpha = 1/(2 C n)``; for the hinge, so does ``SVC``.

    Parameters
    ----------
    {kernel}
    {n_components}
    {features}
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss ℓ of the margin. The corner of "hinge" is rounded: ``ℓ(m) = (1 + h − m)²/(4h)`` for
        |1 − m| ≤ h with h = 0.1, which is at most 0.025 more than the hinge. The solver begins with
        h = 2 and about halves h in each stage.
    alpha : float, "cv" or "gradient", default="cv"
        The penalty of the features of the kernel's positive part. "cv" searches by cross-validated
        error along warm starts: over all pairs if `alphas` is given, otherwise over equal penalties
        first and then over the penalty of the negative part. "gradient" tunes both penalties by
        implicit differentiation of the loss on the folds.
    {alpha_neg}
    {fit_intercept}
    {alphas}
    alphas_neg : array-like, default=None
        The grid of alpha_neg. None means the grid `alphas`; if `alphas` is None too, multiples of
        the best alpha from 1e-4 to 1e4, and ``inf``.
    {cv}
    {nested}
    criterion : {"error", "squared_hinge", "hinge"}, default="error"
        What "cv" minimises on the rows left out: the share of wrong rows, which is coarse on few
        rows, or a loss of the margin, which may differ from `loss`. Among equal errors the smallest
        `loss` wins. "gradient" minimises the criterion, or `loss` if the criterion is "error".
    {calibrate}
    tol : float, default=1e-6
        The solver stops when a step lowers the objective by less than this share of it.
    max_iter : int, default=100
        The largest number of Newton steps per problem, all stages together. If they do not suffice,
        or after Ctrl-C, the best iterate is kept with a ConvergenceWarning. Ctrl-C while penalties
        are searched ends the fit and leaves the estimator unchanged.
    {class_weight}
    {random_state}

    Attributes
    ----------
    {classes_}
    {coef_}
    {intercept_}
    n_iter_ : int
        The largest number of Newton steps of the final fit.
    objective_ : ndarray of shape (1,) or (k,)
        The objective of each problem, with the rounded corner if the loss is the hinge.
    {alpha_}
    {alpha_neg_}
    {features_}
    {kernel_}
    {cv_results_}
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    D. Oglic, T. Gärtner. Scalable Learning in Reproducing Kernel Kreĭn Spaces. ICML 2019. §2.5.

    S. Keerthi, D. DeCoste. A Modified Finite Newton Method. JMLR 2005.

    O. Chapelle et al. Choosing Multiple Parameters for Support Vector Machines. 2002.

    O. Chapelle. Training a Support Vector Machine in the Primal. Neural Computation 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinSVC
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = np.hypot(*X.T) > 1
    >>> model = KreinSVC(DeltaGaussian(1.0, 5.0), 30, alpha=1e-4, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    # The parameter of the penalty, and what helps if the solver does not converge.
    _tuned, _cure = "alpha", "increase max_iter, tol or alpha"

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        features: Any = None,
        loss: str = "squared_hinge",
        alpha: float | str = "cv",
        alpha_neg: float | str = "auto",
        fit_intercept: bool = True,
        alphas: ArrayLike | None = None,
        alphas_neg: ArrayLike | None = None,
        cv: Any = 5,
        nested: bool = False,
        criterion: str = "error",
        calibrate: bool | str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        class_weight: Any = None,
        random_state: Any = None,
    ):
        store(self, locals())

    def _solve(self, task: Task) -> None:
        search = self._kept_search = self._search_on(task)
        wanted = self._wanted(task, search.rows)
        if not wanted.is_tuned:
            penalty = wanted.given()
        elif not any(True for _ in search.folds()):
            raise NoFoldsError(self._name, task.survey.n_rows, wanted.alpha, self._tuned)
        elif wanted.alpha == "gradient":
            penalty = self._descend(wanted, search)
        else:
            penalty = self._search(wanted, search)
        self._finish(search, penalty)

    def _wanted(self, task: Task, rows: CenteredRows) -> Wanted:
        """Return the penalties that the parameters ask for."""
        return Wanted.of(self)

    def _search_on(self, task: Task) -> Search:
        loss = LOSSES[self.loss]
        made = solver_for(type(loss), Split, derivatives=getattr(self, self._tuned) == "gradient")
        solver = made(task.representation.form, loss, self.fit_intercept, self.tol, self.max_iter)
        rows = CenteredRows(task.blocks, self.fit_intercept)
        return Search(solver, rows, task, self._nests(task), LOSSES[self._judged])

    def _finish(self, search: Search, penalty: Split) -> None:
        clocks = Draws(search.rows.hashes, 0).clocks(Salt.WARM_START)
        solver, rows, weight = search.solver, search.rows, search.rows.weight
        states: list[NewtonState] = []
        # Every class gets a first solution before any class gets its last one, so that an
        # interruption leaves a solution for every class.
        for y in rows.targets:
            if any(state.interrupted for state in states):
                states.append(NewtonState.zero(rows))
            else:
                states.append(warm_start(solver, rows, y, weight, penalty, clocks))
        for y, state in zip(rows.targets, states, strict=True):
            if not any(other.interrupted for other in states):
                solver.solve(rows, y, weight, penalty, state)
        coef = np.stack([state.coef for state in states], axis=1)
        self._store(coef[:-1], coef[-1] - rows.mean @ coef[:-1])
        self.alpha_, self.alpha_neg_ = penalty.alpha, penalty.alpha_neg
        self.n_iter_ = max(1, *(state.n_iter for state in states))
        self.objective_ = np.array([state.objective for state in states])
        self._warn(states)

    def _fold_models(self, task: Task) -> Iterator[tuple[int, tuple[Array, Array]]]:
        if found := vars(self).get("_kept_folds"):
            yield from found.items()
            return
        penalty = Split(self.alpha_, self.alpha_neg_)
        search = vars(self).get("_kept_search") or self._search_on(task)
        for part in search.folds():
            # With the same map, the solution of all rows is near.
            start = None if search.nested else self._centered(part.rows)
            yield part.number, part.uncentered(part.solutions(penalty, start))

    def _centered(self, rows: CenteredRows) -> Array:
        """Return the fitted coefficients, (p + 1, q), the intercepts of centred features last."""
        coef = np.atleast_2d(self.coef_).T
        return np.vstack([coef, np.atleast_1d(self.intercept_) + rows.mean @ coef])

    def _forget(self) -> None:
        del self._kept_search

    def _forget_folds(self) -> None:
        self.__dict__.pop("_kept_folds", None)

    def _warn(self, states: list[NewtonState]) -> None:
        if any(state.interrupted for state in states):
            said = f"{self._name} was interrupted: the best iterate so far is kept."
        elif not all(state.converged for state in states):
            said = (
                f"{self._name} did not converge in max_iter={self.max_iter} Newton steps: "
                f"{self._cure}."
            )
        else:
            return
        warnings.warn(said, ConvergenceWarning, stacklevel=outside_level())

    # --- tuning ---------------------------------------------------------------------------------

    @property
    def _judged(self) -> str:
        """The name of the loss that is computed on the rows left out."""
        return str(self.loss if self.criterion == "error" else self.criterion)

    def _search(self, wanted: Wanted, search: Search) -> Split:
        """Choose a penalty by cross-validation along warm starts."""
        tried: list[Split] = []
        scores: list[tuple[float, ...]] = []

        def attempt(pairs: list[tuple[float, float]]) -> Split:
            candidates = [Split(float(a), float(b)) for a, b in pairs]
            scores.extend(search.scores(candidates))
            tried.extend(candidates)
            errors, losses, *_ = np.array(scores).T
            keys = (errors, losses) if self.criterion == "error" else (losses,)
            return tried[best(*keys)]

        form = search.solver.form
        alphas = wanted.first(search.rows.variance)
        seconds = wanted.alphas if wanted.alphas_neg is None else wanted.alphas_neg
        if not isinstance(self.alpha_neg, str):
            found = attempt([(a, self.alpha_neg) for a in alphas])
        elif wanted.is_second_free(form) and seconds is not None:
            found = attempt([(a, b) for b in seconds for a in alphas])
        else:
            found = attempt([(a, a) for a in alphas])
            if wanted.is_second_free(form):
                found = attempt([(found.alpha, found.alpha * ratio) for ratio in RATIOS])
        names = ("error", self._judged, "squared_error", "brier")
        self.cv_results_ = as_table(tried, **dict(zip(names, np.array(scores).T, strict=True)))
        self.cv_results_["chosen"] = tried.index(found)
        self._kept_folds = search.solved(found)
        return found

    def _descend(self, wanted: Wanted, search: Search) -> Split:
        """Follow the gradient of the folds' loss."""
        scale, form = search.rows.variance, search.solver.form
        alpha = 1e-4 * scale
        fixed = not isinstance(self.alpha_neg, str)
        start = Split(alpha, float(self.alpha_neg) if fixed else alpha)
        found, lost, n = wanted.descend(search.loss_and_gradient, start, form, scale, max_iter=20)
        self.cv_results_ = as_table([start, found], n_evaluations=n, **{self._judged: lost})
        return found
