"""Wrong labels on many graphs: who still answers right, and who finds the wrong ones.

`run` fills the records, `summary` reads them.
"""

import argparse
import os
import sys

for library in ("OPENBLAS", "OMP", "MKL", "NUMBA"):  # before they are loaded: processes share cores
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def main() -> None:
    from benchmarks.noise.data import LOADERS
    from benchmarks.noise.trials import ALL

    parser = argparse.ArgumentParser(prog="python -m benchmarks noise", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run the trials that the records lack")
    run.add_argument("--repeats", type=int, default=20)
    run.add_argument("--jobs", type=int, default=1)
    run.add_argument("--data", nargs="+", choices=list(LOADERS), default=list(LOADERS))
    run.add_argument("--columns", nargs="+", choices=ALL, default=ALL)
    run.add_argument("--fresh", action="store_true", help="forget these data and columns first")
    commands.add_parser("summary", help="write NOISE.md and noise.png from the records")
    chances = commands.add_parser("probabilities", help="whether predict_proba is calibrated")
    chances.add_argument("--repeats", type=int, default=3)
    chances.add_argument("--jobs", type=int, default=1)
    chances.add_argument("--data", nargs="+", choices=list(LOADERS), default=list(LOADERS))
    chosen = parser.parse_args()
    if chosen.command == "run":
        _run(chosen)
    elif chosen.command == "probabilities":
        from benchmarks.noise.probabilities import main as probabilities

        sys.exit(0 if probabilities(chosen.data, chosen.repeats, chosen.jobs) else 1)
    else:
        from benchmarks.noise.summary import main as summary

        sys.exit(0 if summary() else 1)


def _run(chosen: argparse.Namespace) -> None:
    from benchmarks.noise import records, trials

    columns = trials.ready(chosen.columns)
    if chosen.fresh:
        records.forget(chosen.data, columns)  # not what could not be run again
    wanted = trials.plan(chosen.data, chosen.repeats)
    tasks = trials.missing(wanted, columns, records.read(records.ROWS))
    if not tasks:
        print("Nothing to run: the records have it all. --fresh runs it again.", file=sys.stderr)
        return
    try:
        trials.run(tasks, chosen.jobs)
    except KeyboardInterrupt:
        sys.exit("Stopped. What was done is kept: the same command goes on from there.")


if __name__ == "__main__":
    main()
