"""Run a benchmark by name: `python -m benchmarks NAME [ARGUMENTS]`, or list them: `--list`."""

import ast
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    found = {}
    for path in sorted([*HERE.glob("[a-z]*.py"), *HERE.glob("*/__main__.py")]):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        name = path.parent.name if path.name == "__main__.py" else path.stem
        found[name] = text.splitlines()[0] if text else ""
    if len(sys.argv) < 2 or sys.argv[1] not in found:
        for name, text in found.items():
            print(f"{name:<17} {text}")
        sys.exit(0 if sys.argv[1:] == ["--list"] else 2)
    sys.argv = sys.argv[1:]
    runpy.run_module(f"benchmarks.{sys.argv[0]}", run_name="__main__", alter_sys=False)


if __name__ == "__main__":
    main()
