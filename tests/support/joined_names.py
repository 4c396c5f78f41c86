"""Names that a cell of a table has, joined with semicolons."""

import csv


def split_names(text):
    """Return the names that `robustgc.io.frames.join_names` has joined."""
    return next(csv.reader([text], delimiter=";", strict=True)) if text else []
