"""What a model's manifest and arrays must look like before they are used."""

from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import short
from robustgc.storage.files import MANIFEST
from robustgc.storage.values import decoded


class Checked:
    """A manifest and arrays that are taken one by one; every refusal names the file.

    Parameters
    ----------
    where : Path
    about : dict
        What the manifest says of the model.
    arrays : dict
    """

    def __init__(self, where: Path, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._where, self._about, self._arrays = where, about, dict(arrays)

    def refuse(self, why: str, file: str = MANIFEST) -> NoReturn:
        """Raise, with the file that does not fit the rest of the model."""
        raise ValueError(
            f"{self._where / file} does not fit the model: {why}. Save the model again, or get a "
            "whole copy of it."
        )

    def has(self, name: str) -> bool:
        """Whether an array is there that was not taken yet."""
        return name in self._arrays

    def value(self, key: str, kind: type[Any]) -> Any:
        """Return an entry of the manifest that must be of a type."""
        found = self._about.get(key)
        if type(found) is not kind:
            self.refuse(f"{key!r} is {short(found)}; it must be of type {kind.__name__}")
        return found

    def decoded(self, key: str) -> Any:
        """Return an entry of the manifest that was encoded with its type."""
        try:
            return decoded(self._about.get(key))
        except (ValueError, TypeError, OverflowError) as failure:
            self.refuse(f"{key!r} cannot be read: {short(failure, 300)}")

    def array(
        self,
        name: str,
        types: str,
        shape: tuple[int | None, ...],
        low: float | None = None,
        high: float | None = None,
        *,
        finite: bool = True,
    ) -> NDArray[Any]:
        """Take an array that must have one of the types, a shape (None: any), and a range.

        Floating-point numbers must be finite unless that is for the caller to check.
        """
        file = f"{name}.npy"
        if name not in self._arrays:
            self.refuse("the model needs it, but the manifest does not name it", file)
        found = self._arrays.pop(name)
        if found.dtype.name not in types.split():
            self.refuse(f"it has type {found.dtype}; it must be {types.replace(' ', ' or ')}", file)
        fits = len(shape) == found.ndim and all(
            wanted in (None, length) for wanted, length in zip(shape, found.shape, strict=True)
        )
        if not fits:
            wanted = tuple("any" if length is None else length for length in shape)
            self.refuse(f"it has shape {found.shape}; it must be {wanted}", file)
        if found.size and ((found.dtype.kind == "f" and finite) or low is not None):
            self._check_range(file, found.min(), found.max(), low, high)
        return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))

    def _check_range(
        self, file: str, least: Any, most: Any, low: float | None, high: float | None
    ) -> None:
        for value in (least, most):  # NaN is both
            if not np.isfinite(value):
                self.refuse(f"it has the value {value}; only finite numbers are allowed", file)
        if low is not None and least < low:
            self.refuse(f"it has the value {least}; {low} is the least allowed", file)
        if high is not None and most > high:
            self.refuse(f"it has the value {most}; {high} is the most allowed", file)

    def finish(self) -> None:
        """Refuse what is left: it was not written by this version."""
        if self._arrays:
            name = min(self._arrays)
            self.refuse("it is no array that this version of robustgc knows", f"{name}.npy")
