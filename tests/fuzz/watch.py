"""What is tried is watched: exceptions and warnings are judged, findings are kept."""

import traceback
import warnings
from dataclasses import dataclass, field

from tests.fuzz import verdict

FAILED = object()


@dataclass
class Finding:
    """Something that must not be."""

    cause: str  # what and where: findings of one cause are shown once
    text: str


@dataclass
class Watch:
    """Calls things; keeps what was wrong, and how often there was an answer or a refusal."""

    texts: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    answers: int = 0
    refusals: int = 0
    warned: list[type] = field(default_factory=list)  # categories, of the last call

    def __call__(self, what, do, *args, **options):
        """Return what was returned, or FAILED; `what` names the step."""
        result, self.warned = FAILED, []
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda text, category, *_: self._warning(what, text, category)
            try:
                result = do(*args, **options)
                self.answers += 1
            except Exception as error:
                self.refusals += 1
                if reason := verdict.of_error(error, self.texts):
                    self._found(what, error, reason)
        return result

    def _warning(self, what, text, category):
        self.warned.append(category)
        if place := verdict.of_warning(category, traceback.extract_stack()):
            cause = f"{category.__name__} at {place}"
            self.findings.append(Finding(cause, f"{what}: {category.__name__}: {text}"))

    def _found(self, what, error, reason):
        if isinstance(error, verdict.BrokenError):
            self.findings.append(Finding(reason.split(":")[0], f"{what}: {reason}"))
            return
        cause = f"{type(error).__name__} at {verdict.place(error)}"
        if isinstance(error, verdict.KINDS):
            cause += f" ({reason.split(':')[0]})"
        text = f"{what}: {reason}: {type(error).__name__}: {str(error)[:500]}"
        self.findings.append(Finding(cause, text))
