"""Warnings, shown at the line of the user's own program."""

import sys
import warnings


class ResidualWarning(UserWarning):
    """An answer whose residual is above the tolerance that was asked for."""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first caller outside of this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("robustgc."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
