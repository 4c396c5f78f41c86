"""pyarrow, which is loaded when something of it is first used: `import robustgc` does not wait."""

from importlib import import_module
from typing import Any


class _Later:
    """A module that is imported when it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


pa: Any = _Later("pyarrow")
pa_csv: Any = _Later("pyarrow.csv")
pa_json: Any = _Later("pyarrow.json")
pc: Any = _Later("pyarrow.compute")
pq: Any = _Later("pyarrow.parquet")
