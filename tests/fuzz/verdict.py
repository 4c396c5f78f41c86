"""Which exceptions, messages and warnings are fine; everything else is a finding."""

import re
import traceback
from pathlib import Path

import robustgc
from robustgc import NotConvergedError

LONGEST = 2000
QUOTED = 200
HOME = Path(robustgc.__file__).parent
KINDS = (ValueError, TypeError, NotConvergedError, MemoryError, OSError, NotImplementedError)
_END = re.compile(r"[.!?][)'\"\]]*\s*$")
_HOMES = ("builtins", "robustgc", "sklearn.exceptions")


class BrokenError(Exception):
    """Something that must hold of an answer does not."""


def of_error(error, texts=()):
    """Return what is wrong with an exception, or None.

    `texts` are the inputs that its message must not quote at length.
    """
    if isinstance(error, BrokenError):
        return str(error)
    ours = type(error).__module__.startswith(_HOMES)
    if not isinstance(error, KINDS) or isinstance(error, UnicodeError) or not ours:
        return f"{type(error).__name__} is no kind of exception that is documented"
    if "sklearn" in Path(innermost(error)).parts:
        return None  # scikit-learn's own words for its own rules
    if isinstance(error, OSError) and error.filename is not None:
        return None
    if isinstance(error, TypeError) and "got an unexpected keyword" in str(error):
        return None  # Python's own words for an argument that there is not
    return of_message(str(error), texts)


def of_message(message, texts=()):
    """Return what is wrong with a message, or None."""
    if not message.strip():
        return "an empty message"
    if len(message) > LONGEST:
        return f"a message of {len(message)} characters"
    if message.startswith("Unable to allocate"):
        return "memory was asked for without a look at how much there is"
    for text in texts:
        if len(text) > QUOTED and (found := _quoted(message, text)):
            return f"more than {QUOTED} characters of input in the message: {found[:60]!r}..."
    return None if _END.search(message) else "a message that does not end as a sentence"


def _quoted(message, text):
    windows = (message[k : k + QUOTED + 1] for k in range(len(message) - QUOTED))
    return next((window for window in windows if window in text), None)


def of_warning(category, stack):
    """Return where a warning came from if it is no fine one, else None."""
    inside = _inside(stack)
    fine = category is UserWarning or category.__module__.startswith(("robustgc", "sklearn"))
    # What is deprecated is told by a FutureWarning of our own; one of a library is a finding.
    ours = bool(inside) and Path(inside[-1].filename).name == "alerts.py"
    fine = fine or (category is FutureWarning and ours)
    return None if fine or not inside else f"{Path(inside[-1].filename).name}:{inside[-1].lineno}"


def innermost(error):
    """Return the file where an exception came from."""
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1].filename if frames else ""


def place(error):
    """Return the last place in the package that an exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    last = (_inside(frames) or frames)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def _inside(frames):
    return [frame for frame in frames if frame.filename.startswith(str(HOME))]
