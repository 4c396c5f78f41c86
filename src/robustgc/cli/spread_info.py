"""`robustgc info --engine mpi`: what every rank has to hold."""

import socket
from typing import Any

import typer

from robustgc.cli import shared
from robustgc.cli.ranks import on_ranks
from robustgc.cli.shared import GraphQuestion
from robustgc.cli.spread import check_files

_MIB = 2**20


def info(
    asked: GraphQuestion,
    as_json: bool,
) -> None:
    """Show the ranks, and for each its machine, rows, entries and memory."""
    with on_ranks(quiet=False) as ranks:
        with ranks.once():
            shared.check_graph(asked)
            check_files(asked)
        from robustgc.mpi.reading import read_share

        assert asked.edges is not None
        columns = {"source": asked.source, "target": asked.target, "weight": asked.weight}
        known = read_share(
            asked.edges,
            ranks.comm,
            **columns,
            symmetrise=asked.symmetrise,
            dialect=asked.dialect(),
        )
        for note in known.notes:
            ranks.say(f"note: {note}")
        found = describe(known.share)
        if not ranks.first:
            return
        if as_json:
            shared.machine(found)
        else:
            _show(found)


def describe(share: Any) -> dict[str, Any]:
    """Return what there is to say of the ranks. All of them call this together."""
    from robustgc.graph import resources
    from robustgc.mpi.world import need_per_rank

    comm, host = share.comm, socket.gethostname()
    hosts = comm.allgather(host)
    entries = comm.allreduce(len(share.indices))
    own = {
        "rank": comm.rank,
        "machine": host,
        "rows": share.rows,
        "entries": len(share.indices),
        "share": share.nbytes,
        # Ranks beside each other divide what their machine has.
        "available": resources.available() / hosts.count(host),
    }
    peak = need_per_rank(share.n, entries, share.data is not None, comm.size)
    return {
        "ranks": comm.size,
        "machines": len(set(hosts)),
        "nodes": share.n,
        "entries": entries,
        "estimated_peak": peak,
        "per_rank": comm.allgather(own),
    }


def _show(found: dict[str, Any]) -> None:
    for name in ("ranks", "machines", "nodes", "entries"):
        typer.echo(f"{name:<28}{found[name]}")
    typer.echo("\nGrids, roads and neighbour graphs take about ten times this peak (multigrid).")
    wide = max(len(row["machine"]) for row in found["per_rank"]) + 2
    typer.echo(
        f"\n{'rank':>5}  {'machine':<{wide}}{'rows':>13}{'entries':>15}{'share':>12}"
        f"{'peak, about':>15}{'available':>13}"
    )
    for row in found["per_rank"]:
        sizes = (row["share"], found["estimated_peak"], row["available"])
        share, peak, free = (f"{size / _MIB:.0f} MiB" for size in sizes)
        typer.echo(
            f"{row['rank']:>5}  {row['machine']:<{wide}}{row['rows']:>13}{row['entries']:>15}"
            f"{share:>12}{peak:>15}{free:>13}"
        )
