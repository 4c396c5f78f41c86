"""What a loaded model has in place of the internals of its fit: the report of wrong labels."""

from typing import Any

from robustgc.audit import LabelIssues
from robustgc.engines import Options
from robustgc.task import Task


class Kept(Task):
    """The stand-in for a `Task` that was not saved.

    Parameters
    ----------
    report : LabelIssues or str
        The report of wrong labels; or why there was none when the model was saved.
    """

    def __init__(self, report: LabelIssues | str) -> None:
        # Task's own is not called: without its attributes, `__getattr__` answers for them.
        self._report = report

    def issues(self, options: Options) -> LabelIssues:
        """Return the report of wrong labels."""
        if isinstance(self._report, str):
            raise ValueError(
                "The report of wrong labels could not be made when this model was saved: "
                f"{self._report} Fit again to make it."
            )
        return self._report

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what copy and its like ask for
            raise AttributeError(name)
        raise ValueError(
            "This model was loaded: a saved model holds its answers, not the modes of the graph "
            "that update and suggest_queries start from. Fit again to use them."
        )
