"""What a model's files hold, value by value: JSON that keeps the types of Python and numpy.

`Checked` takes entries and arrays one by one, and refuses what is not as it must be.
"""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from robustgc.choice.candidates import Candidate
from robustgc.graph.quoting import quoted, short
from robustgc.linalg.ladder import Attempt
from robustgc.storage.files import AGAIN, MANIFEST
from robustgc.transduction.answer import Certificate

_SIZES = {"int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64)}
_SCALARS = ["bool", "str", *(f"{kind}{bits}" for kind in _SIZES for bits in _SIZES[kind])]
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|U[1-9][0-9]{0,6})")
_ROOM = 2**28  # bytes that classes may take: a short file must not ask for all memory
_PARTS = {"history": Attempt, "selection": Candidate}
# The range of every number in a certificate; NaN where there is none to tell, if it says so.
_RANGES = {
    "n_nodes": (1, 2**63, ""),
    "residual": (0, 1e300, ""),
    "n_iter": (0, 2**63, ""),
    "extension": (-2.01, 2.01, "or NaN"),  # below 0: ZhouGC's, where no modes were found
    "lambda_1": (0, 2.01, "or NaN"),
    "gamma": (-2.01, 2.01, "or NaN"),
    "condition_bound": (0, math.inf, "or NaN"),
    "eigen_residual": (0, math.inf, "or NaN"),
    "seconds": (0, 1e300, ""),
    "n_modes": (0, 2**63, ""),
    "eta": (-math.inf, 1, ""),  # below 0: ZhouGC among the candidates
    "constant": (-1e300, 1e300, ""),
    "accuracy": (-1e-9, 1 + 1e-9, "or NaN"),
    "evidence": (-math.inf, 1e300, "or NaN"),
    "weight": (0, 1 + 1e-9, ""),
    "ridge": (0, 1e300, ""),
}
_LATER = {"ridge", "features"}  # fields that models of earlier versions do not have
_WHERE_USED = {"features"}  # fields that are written where they are not 0
_FORMER = {"balanced"}  # fields that only they have
_KINDS: dict[Any, Any] = {
    int: Integral,
    float: Real,
    bool: bool | np.bool_,
    str: str,
    float | None: Real | None,
}


def encoded(value: Any, what: str) -> Any:
    """Return a value in a form that JSON holds, or refuse it by the name of `what` it is."""
    if type(value) is list:
        return [encoded(item, what) for item in value]
    if type(value) is tuple:
        return {"tuple": [encoded(item, what) for item in value]}
    if type(value) is dict:
        return {"dict": [[encoded(key, what), encoded(value[key], what)] for key in value]}
    if isinstance(value, np.ndarray) and value.ndim == 1 and _DTYPE.fullmatch(value.dtype.str):
        return {"array": value.dtype.str, "values": encoded(value.tolist(), what)}
    return _encoded_scalar(value, what)


def _encoded_scalar(value: Any, what: str) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic):
        name = "str" if isinstance(value, np.str_) else value.dtype.name
        if name in _SCALARS:
            return {"numpy": name, "value": encoded(value.item(), what)}
    raise ValueError(
        f"{what} is {quoted(value)} of type {type(value).__name__}, which a saved model cannot "
        "hold; it must be None, text, a number or a boolean, or a list, tuple, dictionary or "
        "array of them. Fit with such a value."
    )


def decoded(value: Any) -> Any:
    """Return what was encoded; a ValueError says what no encoding gives.

    The manifest is not deep, which is checked when it is read, so this cannot recurse far.
    """
    if isinstance(value, list):
        return [decoded(item) for item in value]
    return _tagged(value) if isinstance(value, dict) else value


def _tagged(value: dict[str, Any]) -> Any:
    match sorted(value):
        case ["float"] if value["float"] in ("nan", "inf", "-inf"):
            return float(value["float"])
        case ["numpy", "value"] if value["numpy"] in _SCALARS:
            return _numpy_scalar(value["numpy"], decoded(value["value"]))
        case ["tuple"] if isinstance(value["tuple"], list):
            return tuple(decoded(value["tuple"]))
        case ["dict"] if isinstance(value["dict"], list):
            return {_decoded_key(key): decoded(item) for key, item in value["dict"]}
        case ["array", "values"]:
            return decoded_array(value)
    raise ValueError(f"{short(value)} is no value that save writes")


def _numpy_scalar(name: str, value: Any) -> Any:
    """Return a scalar of a type of numpy that holds the value as it is."""
    kinds = {"bool": bool, "str": str, "int": int, "uint": int, "float": float}
    if type(value) is not kinds[name.rstrip("0123456789")]:
        raise ValueError(f"{short(value)} is no value of the type {name}")
    if isinstance(value, int) and not isinstance(value, bool):
        room = np.iinfo(name)
        if not room.min <= value <= room.max:
            raise ValueError(f"{short(value)} does not fit the type {name}")
    with np.errstate(over="ignore"):  # to infinity, in half precision
        return np.array(value).astype(name)[()]


def _decoded_key(value: Any) -> Any:
    key = decoded(value)
    if isinstance(key, list | dict | np.ndarray):
        raise ValueError(f"{short(value)} cannot be a key")
    return key


def decoded_array(value: Any) -> NDArray[Any]:
    """Return a short array that was encoded with its type."""
    if not isinstance(value, dict) or not isinstance(value.get("values"), list):
        raise ValueError(f"{short(value)} is no array that save writes")
    kind, items = str(value.get("array")), decoded(value["values"])
    if not _DTYPE.fullmatch(kind):
        raise ValueError(f"{quoted(kind)} is no type of booleans, numbers or text")
    wanted = {"b": bool, "i": int, "u": int, "f": float, "U": str}[kind[1]]
    dtype = np.dtype(kind)
    if not all(type(item) is wanted for item in items):
        raise ValueError(f"the values of an array of type {kind} must all be {wanted.__name__}")
    if dtype.itemsize * len(items) > _ROOM:
        raise ValueError(f"{len(items)} values of type {kind} take more than {_ROOM} bytes")
    if kind[1] == "U" and max(map(len, items), default=0) > dtype.itemsize // 4:
        raise ValueError(f"a text is longer than its type {kind}")
    if kind[1] == "f" and not all(map(math.isfinite, items)):
        raise ValueError("the values of an array must be finite")
    return np.array(items, dtype=dtype)


def encoded_record(record: Certificate | Attempt | Candidate) -> dict[str, Any]:
    """Return a certificate, with its history and selection, as JSON objects."""
    return {
        field.name: [encoded_record(part) for part in getattr(record, field.name)]
        if field.name in _PARTS
        else encoded(getattr(record, field.name), f"{type(record).__name__}.{field.name}")
        for field in fields(record)
        if field.name not in _WHERE_USED or getattr(record, field.name)
    }


def decoded_record(kind: type[Any], record: Any) -> Any:
    """Return a certificate or a part of it, after checking that every field has its type."""
    types = {field.name: field.type for field in fields(kind)}
    if isinstance(record, dict) and kind is Candidate:
        record = {name: value for name, value in record.items() if name not in _FORMER}
    if not isinstance(record, dict) or {*record, *(_LATER & {*types})} != {*types}:
        raise ValueError(f"a {kind.__name__} must have the fields {', '.join(types)}")
    return kind(**{
        name: _field(f"{name} of a {kind.__name__}", name, types[name], value)
        for name, value in record.items()
    })  # fmt: skip


def _field(what: str, name: str, wanted: Any, value: Any) -> Any:
    """Return the value of one field of a record after checking its type and range."""
    if name in _PARTS:
        if not isinstance(value, list):
            raise ValueError(f"{what} must be a list")
        return tuple(decoded_record(_PARTS[name], part) for part in value)
    value = decoded(value)
    if not isinstance(value, _KINDS[wanted]):
        raise ValueError(f"{what} is {short(value)}")
    if name in _RANGES and value is not None:
        low, high, nan = _RANGES[name]
        if not (low <= value <= high or (nan and math.isnan(value))):
            raise ValueError(f"{what} is {value}; it must be from {low} to {high} {nan}")
    return value


class Checked:
    """A manifest and arrays that are taken one by one; every refusal names the file."""

    def __init__(self, where: Path, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._where, self.about, self._arrays = where, about, dict(arrays)

    def refuse(self, why: str, file: str = MANIFEST) -> NoReturn:
        """Raise, with the file that does not fit the rest of the model."""
        raise ValueError(f"{self._where / file} does not fit the model: {why}. {AGAIN}")

    @contextmanager
    def refusing(self, what: str, file: str = MANIFEST) -> Iterator[None]:
        """Refuse where the code inside fails, with the reason."""
        try:
            yield
        except (ValueError, TypeError, OverflowError) as failure:
            self.refuse(f"{what}: {short(failure, 300)}", file)

    def has(self, name: str) -> bool:
        """Whether an array is there that was not taken yet."""
        return name in self._arrays

    def value(self, key: str, kind: type[Any]) -> Any:
        """Return an entry of the manifest that must be of a type."""
        value = self.about.get(key)
        if type(value) is not kind:
            self.refuse(f"{key!r} is {short(value)}; it must be of type {kind.__name__}")
        return value

    def scalar(self, key: str) -> Any:
        """Return an entry of the manifest that was encoded with its type and is one value."""
        with self.refusing(f"{key!r} cannot be read"):
            value = decoded(self.about.get(key))
        if isinstance(value, list | tuple | dict | np.ndarray):
            self.refuse(f"{key!r} is {short(value)}; it must be one value")
        return value

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
        values = self._arrays.pop(name)
        if values.dtype.name not in types.split():
            allowed = types.replace(" ", " or ")
            self.refuse(f"it has type {values.dtype}; it must be {allowed}", file)
        fits = len(shape) == values.ndim and all(
            wanted in (None, length) for wanted, length in zip(shape, values.shape, strict=True)
        )
        if not fits:
            wanted = tuple("any" if length is None else length for length in shape)
            self.refuse(f"it has shape {values.shape}; it must be {wanted}", file)
        if values.size and ((values.dtype.kind == "f" and finite) or low is not None):
            least, most = values.min(), values.max()
            for value in (least, most):  # NaN is both
                if not np.isfinite(value):
                    self.refuse(f"it has the value {value}; only finite numbers are allowed", file)
            if low is not None and least < low:
                self.refuse(f"it has the value {least}; {low} is the least allowed", file)
            if high is not None and most > high:
                self.refuse(f"it has the value {most}; {high} is the most allowed", file)
        return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))

    def finish(self) -> None:
        """Refuse what is left: it was not written by this version."""
        if self._arrays:
            name = min(self._arrays)
            self.refuse("it is no array that this version of robustgc knows", f"{name}.npy")
