"""Progress of a fit: scikit-learn's callbacks where they are installed (1.9), else a rich bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]  # stands in for it
        """Nothing to support."""

    def with_callbacks(method: Callable) -> Callable:
        return method


__all__ = ["CallbackSupportMixin", "reporting", "show", "stage", "with_callbacks"]


def show(estimator: Any, wanted: bool) -> Any:
    """Switch the progress bar of `fit` on or off; return the estimator."""
    try:
        import rich  # noqa: F401  # both bars are drawn by it
    except ImportError as error:
        raise ImportError(
            "show_progress needs rich: install it with  pip install 'krein[cli]'."
        ) from error
    if hasattr(estimator, "set_callbacks"):
        from sklearn.callback import ProgressBar

        return estimator.set_callbacks(*([ProgressBar()] if wanted else []))
    estimator._bar = wanted
    return estimator


@contextmanager
def reporting(estimator: Any, n_stages: int | None) -> Iterator[None]:
    """Report a fit of `n_stages` stages; None if the number is not known in advance."""
    if hasattr(estimator, "_init_callback_context"):
        context = estimator._init_callback_context(max_subtasks=n_stages)
        context.call_on_fit_task_begin(estimator=estimator)
        yield
        context.call_on_fit_task_end(estimator=estimator)
    elif getattr(estimator, "_bar", False):
        from rich.progress import Progress

        with Progress(transient=True) as bar:
            estimator._task = bar, bar.add_task(type(estimator).__name__, total=n_stages)
            try:
                yield
            finally:
                del estimator._task
    else:
        yield


@contextmanager
def stage(estimator: Any, name: str) -> Iterator[None]:
    """Report the start and the end of one stage of a fit."""
    context: Any = getattr(estimator, "_callback_fit_ctx", None)
    task = getattr(estimator, "_task", None)
    if context is not None:
        part = context.subcontext(task_name=name)
        part.call_on_fit_task_begin(estimator=estimator)
        yield
        part.call_on_fit_task_end(estimator=estimator)
        return
    if task is not None:
        task[0].update(task[1], description=name)
    yield
    if task is not None:
        task[0].advance(task[1])
