"""What goes wrong with files and tables of the user's."""


class InputError(ValueError):
    """A file or table that cannot be used; the text says where, why, and what to do."""


class NoRowsError(InputError):
    """A table that has no rows; one part of several may be so."""


class TooLargeError(InputError):
    """More than the limits on size; the text has the numbers, and how to lift them."""
