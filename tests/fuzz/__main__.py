"""The command: `python -m tests.fuzz --help`."""

import argparse
import sys

from tests.fuzz import runner, worker


def main(arguments=None):
    options = _parsed(arguments)
    kinds = worker.KINDS if options.kind is None else [options.kind]
    if options.case is not None:
        if options.kind is None:
            sys.exit("--case needs --kind: cases are numbered by kind.")
        print(worker.made(options.kind, options.seed, options.case).program())
        tally = runner.run_one(options.kind, options.seed, options.case, _tell(options.seed))
    else:
        tally = runner.run(kinds, options.seed, 60 * options.minutes, _tell(options.seed))
    for kind, count in tally.cases.items():
        rate = count / max(tally.seconds[kind], 1e-9)
        print(f"{kind}: {count} cases, {rate:.0f} per second")
    print(f"{tally.answers} answers, {tally.refusals} refusals, {len(tally.found)} findings.")
    for found in sorted(tally.found.values(), key=lambda found: -found.count):
        print(f"  {found.count:5} x {found.cause} (first: case {found.number})")
    return 1 if tally.found else 0


def _parsed(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long to run")
    parser.add_argument("--seed", type=int, default=20_260_101, help="what the cases are made of")
    parser.add_argument("--kind", choices=worker.KINDS, help="one kind only")
    parser.add_argument("--case", type=int, help="run this one again and print it")
    return parser.parse_args(arguments)


def _tell(seed):
    def tell(found):
        print(f"\nFOUND {found.cause}\n{found.text}\n", flush=True)
        print(f"python -m tests.fuzz --kind {found.kind} --seed {seed} --case {found.number}")
        print(f"{found.program}\n", flush=True)

    return tell


if __name__ == "__main__":
    sys.exit(main())
