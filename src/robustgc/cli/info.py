"""`robustgc info`: what a graph is like, and what a fit will cost."""

from collections.abc import Iterator
from typing import Any

from robustgc.cli import options, shared
from robustgc.cli.shared import GraphQuestion, asking


@asking(GraphQuestion)
def info(
    asked: GraphQuestion,
    engine: options.Engine = "local",
    as_json: options.AsJson = False,
) -> None:
    """Show nodes, edges, components, degrees, lambda_1, eigengap, and what a fit will cost.

    With --engine mpi: ranks, and for each its machine, rows, entries and memory.
    """
    shared.check_engine(engine)
    if engine == "mpi":
        from robustgc.cli.spread_info import info as spread

        with shared.guarded(asked.max_size):
            spread(asked, as_json)
        return
    shared.check_graph(asked)
    with shared.guarded(asked.max_size):
        from robustgc.io.writing import print_bytes

        known = asked.graph()
        found = describe(known)
        for note in known.notes:
            shared.say(f"note: {note}")
        if as_json:
            shared.machine(found)
        else:
            print_bytes("".join(f"{line}\n" for line in _lines(found)).encode())


def _lines(found: dict[str, Any]) -> Iterator[str]:
    for name, value in found.items():
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        yield f"{name.replace('_', ' '):<28}{shown}"


def describe(known: Any) -> dict[str, Any]:
    """Return what there is to say of a graph; the spectrum is that of the largest component."""
    import numpy as np

    from robustgc.graph.graph import Graph
    from robustgc.graph.weights import check_weights, components, separated
    from robustgc.io.named import edge_count
    from robustgc.linalg.cost import estimate
    from robustgc.linalg.ladder import SolverOptions
    from robustgc.linalg.modes import find_modes

    W = separated(check_weights(known.W))
    d = np.asarray(W.sum(axis=1)).ravel()
    count, number = components(W)
    sizes = np.bincount(number)
    found = {
        "nodes": W.shape[0],
        "edges": known.n_edges,
        "components": int(count),
        "largest_component": int(sizes.max()),
        "isolated_nodes": int((d == 0).sum()),
        "smallest_degree": float(d.min()),
        "median_degree": float(np.median(d)),
        "largest_degree": float(d.max()),
    }
    if faint := known.n_edges - edge_count(W):
        found["links_too_faint_to_count"] = faint
    nodes = np.flatnonzero(number == sizes.argmax())
    if len(nodes) > 2:
        graph = Graph._trusted(W, None if count == 1 else nodes)
        modes = find_modes(graph, 2, np.zeros((len(nodes), 1)), SolverOptions())
        found["lambda_1"] = float(modes.values[0])
        if len(modes.values) > 1:
            found["lambda_2"] = float(modes.values[1])
            found["eigengap"] = float(modes.values[1] - modes.values[0])
    cost = estimate(known.W)
    found["memory_of_a_fit"] = f"about {cost.memory / 2**20:.0f} MiB"
    found["time_of_a_fit"] = f"about {cost.seconds:.1f} s"
    return found
