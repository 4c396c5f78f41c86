"""What a model has in place of the internals of its fit where these are not at hand.

It was loaded, or its nodes are spread over processes: the report of wrong labels is there.
"""

from collections.abc import Callable
from typing import Any

from robustgc.audit.issues import LabelIssues
from robustgc.audit.task import Task
from robustgc.linalg.ladder import Options

LOADED = (
    "This model was loaded: a saved model holds its answers, not the modes of the graph that "
    "update and suggest_queries start from. Fit again to use them."
)


class Kept(Task):
    """The stand-in for a `Task` that is not here.

    Parameters
    ----------
    report : LabelIssues, callable or str
        The report of wrong labels by the nodes of the graph, as that of a `Task`, or what makes it;
        or why there was none when the model was saved.
    why : str
        Why there is no more.
    """

    def __init__(
        self, report: LabelIssues | Callable[[], LabelIssues] | str, why: str = LOADED
    ) -> None:
        # Task's own is not called: without its attributes, `__getattr__` answers for them.
        self._report, self._why = report, why

    def issues(self, options: Options) -> LabelIssues:
        """Return the report of wrong labels."""
        if isinstance(self._report, str):
            raise ValueError(
                "The report of wrong labels could not be made when this model was saved: "
                f"{self._report} Fit again to make it."
            )
        return self._report() if callable(self._report) else self._report

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what copy and its like ask for
            raise AttributeError(name)
        raise ValueError(self._why)
