"""The commands: what each returns, says and writes."""

import os
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.same_answers.digests import Run, cleaned, content
from benchmarks.same_answers.inputs import write_files
from benchmarks.same_answers.results import STORED

ROOT = Path(__file__).parents[2]
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}


def command(words: str) -> dict[str, Any]:
    """Run `robustgc` where the files are, as pyproject.toml says that it is started."""
    write_files()
    shutil.copy(STORED / "points_auto.zip", "model.zip")
    before = set(os.listdir())
    with (ROOT / "pyproject.toml").open("rb") as file:
        module, name = tomllib.load(file)["project"]["scripts"]["robustgc"].split(":")
    start = f"import sys; sys.argv[0] = 'robustgc'; from {module} import {name}; {name}()"
    done = subprocess.run(
        [sys.executable, "-c", start, *words.split()],
        input=Path("edges.csv").read_bytes(),
        capture_output=True,
        check=False,
        env=os.environ | PLAIN,
    )
    made = {name: content(Path(name)) for name in set(os.listdir()) - before}
    said = {"out": cleaned(done.stdout), "err": cleaned(done.stderr)}
    return {"code": done.returncode, "files": made, **said}


GRAPH = "edges.csv --labels labels.csv"
POINTS = "--points points.csv --id flower --label-column species"
WORDS = (
    "--help",
    "reproduce --list",
    "demo --labels 20 --wrong 4 --seed 7",
    f"classify {GRAPH}",
    f"classify {GRAPH} -o out.csv --report page.html --save model_of_graph.zip",
    f"classify {GRAPH} --json -q --eta 0.9 --n-modes 1",
    f"classify {GRAPH} -o out.xlsx --excel",
    "classify - --labels labels.csv",
    "classify graph.graphml --labels kind -o out.parquet -q",
    "classify weighted.txt --labels labels.csv --symmetrise max",
    f"classify {POINTS} -k 8 -o out.tsv --save model_of_points",
    f"classify {POINTS} --affinity rbf --scale none --json",
    f"classify {POINTS} --metric cosine --columns length,width",
    "classify nothing.csv --labels labels.csv",
    f"audit {GRAPH} --above 0 --json",
    f"audit {GRAPH} -o issues.csv --report page.html",
    "audit edges.csv",
    "apply decisions.csv --labels labels.csv -o cleaned.csv",
    "apply decisions.csv --labels labels.csv -o cleaned.tsv --new-class --json",
    "predict new.csv --model model.zip",
    "info edges.csv --json",
    "info weighted.txt --symmetrise sum",
    "convert edges.csv graph.npz",
    "convert weighted.txt folder --symmetrise mean",
    "compare edges.csv --labels truth.csv --sizes 10,20 --noise 0,30 --repeats 2 "
    "--models RobustGC,ZhouGC,PoissonGC",
)
COMMANDS: dict[str, Run] = {words: partial(command, words) for words in WORDS}
