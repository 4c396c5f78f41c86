"""One of the ranks that another process has started: ``python -m robustgc.mpi.worker JOB``."""

import sys
from pathlib import Path

from robustgc.mpi.failures import write_error
from robustgc.mpi.stop import FailureBarrier
from robustgc.mpi.world import MissingMPIError, world


def main(folder: Path) -> None:
    """Read the question, answer it together with the other ranks, write the answers."""
    try:
        ending = FailureBarrier(world())
    except MissingMPIError as error:
        write_error(folder, 0, error)
        return
    try:
        _work(folder, ending)
    except Exception as error:
        write_error(folder, ending.comm.rank, error)
        if not ending.all_ranks_arrive():
            ending.stop_all(f"{type(error).__name__}: {error}")


def _work(folder: Path, ending: FailureBarrier) -> None:
    # Imported here, so that what is missing is told as an error too.
    from robustgc.mpi import jobs
    from robustgc.mpi.fit import fit_problem
    from robustgc.mpi.reading import read_share
    from robustgc.mpi.world import collective_errors

    comm = ending.comm
    with collective_errors(comm):
        job = jobs.read_job(folder)
    share = read_share(folder / jobs.GRAPH, comm).share
    jobs.write_answers(folder, fit_problem(share, job.problem, job.options))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
