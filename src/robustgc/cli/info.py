"""`robustgc info`: what a graph is like, and what a fit will cost."""

from typing import Any

from robustgc.cli import shared
from robustgc.cli.messages import guarded, print_json, say_notes
from robustgc.cli.options import AsJson, Engine, GraphOptions, grouped


@grouped
def info(
    graph: GraphOptions,
    engine: Engine = "local",
    as_json: AsJson = False,
) -> None:
    """Show nodes, edges, components, degrees, lambda_1, eigengap, and what a fit will cost.

    With --engine mpi: ranks, and for each its machine, rows, entries and memory.
    """
    shared.check_choice("engine", engine, "local", "mpi")
    if engine == "mpi":
        from robustgc.cli.mpi import info_on_ranks

        with guarded(graph.max_size):
            info_on_ranks(graph, as_json)
        return
    shared.check_graph(graph)
    with guarded(graph.max_size):
        from robustgc.io.writing import print_bytes

        named = graph.graph()
        facts = describe(named)
        say_notes(named.notes)
        if as_json:
            print_json(facts)
        else:
            texts = {
                name: f"{value:.6g}" if isinstance(value, float) else value
                for name, value in facts.items()
            }
            lines = [f"{name.replace('_', ' '):<28}{text}\n" for name, text in texts.items()]
            print_bytes("".join(lines).encode())


def describe(named: Any) -> dict[str, Any]:
    """Return what there is to say of a graph; the spectrum is that of the largest component."""
    import numpy as np

    from robustgc.graph.graph import Graph
    from robustgc.graph.weights import check_weights, components, separated
    from robustgc.io.named import edge_count
    from robustgc.linalg.cost import estimate
    from robustgc.linalg.ladder import SolverOptions
    from robustgc.linalg.modes import find_modes

    W = separated(check_weights(named.W))
    d = np.asarray(W.sum(axis=1)).ravel()
    count, number = components(W)
    sizes = np.bincount(number)
    facts = {
        "nodes": W.shape[0],
        "edges": named.n_edges,
        "components": int(count),
        "largest_component": int(sizes.max()),
        "isolated_nodes": int((d == 0).sum()),
        "smallest_degree": float(d.min()),
        "median_degree": float(np.median(d)),
        "largest_degree": float(d.max()),
    }
    if faint := named.n_edges - edge_count(W):
        facts["links_too_faint_to_count"] = faint
    nodes = np.flatnonzero(number == sizes.argmax())
    if len(nodes) > 2:
        graph = Graph._trusted(W, None if count == 1 else nodes)
        modes = find_modes(graph, 2, np.zeros((len(nodes), 1)), SolverOptions())
        facts["lambda_1"] = float(modes.values[0])
        if len(modes.values) > 1:
            facts["lambda_2"] = float(modes.values[1])
            facts["eigengap"] = float(modes.values[1] - modes.values[0])
    cost = estimate(named.W)
    mebibytes = cost.memory / 2**20
    facts["memory_of_a_fit"] = f"about {mebibytes:.0f} MiB" if mebibytes >= 1 else "below 1 MiB"
    facts["time_of_a_fit"] = f"about {cost.seconds:.1f} s"
    return facts
