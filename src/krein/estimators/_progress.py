"""Progress of a fit: scikit-learn's callbacks where they are installed (1.9), else a rich bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]  # stands in for it
        """Nothing to support."""

    def with_callbacks(method: Callable) -> Callable:
        return method


class Progressing(CallbackSupportMixin):
    """A fit in named stages, each of which is reported when it begins and ends.

    ``model.set_callbacks(sklearn.callback.ProgressBar())`` follows them, or any other callback;
    `show_progress` does so without naming one.
    """

    def show_progress(self, show: bool = True) -> Self:
        """Show a bar during `fit`; needs rich (``pip install "krein[cli]"``).

        Parameters
        ----------
        show : bool, default=True

        Returns
        -------
        self
        """
        try:
            import rich  # noqa: F401  # both bars are drawn by it
        except ImportError as error:
            raise ImportError(
                "show_progress needs rich: install it with  pip install 'krein[cli]'."
            ) from error
        if hasattr(self, "set_callbacks"):
            from sklearn.callback import ProgressBar

            return self.set_callbacks(*([ProgressBar()] if show else []))
        self._bar = show
        return self

    @contextmanager
    def _reporting(self, n_stages: int | None) -> Iterator[None]:
        """Around a fit of so many stages (None: not known before)."""
        if hasattr(self, "_init_callback_context"):
            context = self._init_callback_context(max_subtasks=n_stages)
            context.call_on_fit_task_begin(estimator=self)
            yield
            context.call_on_fit_task_end(estimator=self)
        elif getattr(self, "_bar", False):
            from rich.progress import Progress

            with Progress(transient=True) as bar:
                self._task = bar, bar.add_task(type(self).__name__, total=n_stages)
                try:
                    yield
                finally:
                    del self._task
        else:
            yield

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        """Around one stage."""
        context: Any = getattr(self, "_callback_fit_ctx", None)
        task = getattr(self, "_task", None)
        if context is not None:
            part = context.subcontext(task_name=name)
            part.call_on_fit_task_begin(estimator=self)
            yield
            part.call_on_fit_task_end(estimator=self)
            return
        if task is not None:
            task[0].update(task[1], description=name)
        yield
        if task is not None:
            task[0].advance(task[1])
