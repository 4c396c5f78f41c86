"""Files of every new kind with random damage: a graph or a sentence with the file, nothing else."""

import io
import json
import random
import zipfile

import networkx as nx
import pandas as pd
import pyarrow as pa
import pytest

from robustgc.io.errors import InputError
from robustgc.io.graph_files import read_graph

GRAPH = nx.relabel_nodes(nx.cycle_graph(6), "n{}".format)
nx.set_edge_attributes(GRAPH, 2.5, "weight")
TABLE = pd.DataFrame(
    [(u, v, 2.5) for u, v in GRAPH.edges()], columns=["source", "target", "weight"]
)
PIECES = [b'"', b"{", b"<", b"\0", b"\n", b"*", b"-1 ", b"nan", b"1e999", b"\xff", b"]", b"PK"]


def stream(path):
    table = pa.Table.from_pandas(TABLE, preserve_index=False)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table)


def archive(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a.csv", TABLE.to_csv(index=False))


WRITERS = {
    "a.gexf": lambda path: nx.write_gexf(GRAPH, path),
    "a.net": lambda path: nx.write_pajek(GRAPH, path),
    "a.edgelist": lambda path: nx.write_edgelist(GRAPH, path),
    "a.adjlist": lambda path: nx.write_adjlist(GRAPH, path),
    "a.json": lambda path: path.write_text(json.dumps(nx.node_link_data(GRAPH, edges="links"))),
    "packed.feather": TABLE.to_feather,
    "plain.feather": lambda path: TABLE.to_feather(path, compression="uncompressed"),
    "stream.arrow": stream,
    "a.jsonl": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "a.xlsx": lambda path: TABLE.to_excel(path, index=False),
    "a.csv.zip": archive,
}


def damaged(data, rng):
    """Cut, change, repeat or insert bytes."""
    data = bytearray(data)
    place = rng.randrange(len(data))
    match rng.randrange(4):
        case 0:
            return bytes(data[:place])
        case 1:
            for _ in range(rng.randrange(1, 6)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case 2:
            end = place + rng.randrange(1, 40)
            data[place:end] = data[place:end] * rng.choice([0, 2])
        case 3:
            data[place:place] = rng.choice(PIECES)
    return bytes(data)


def damaged_inside(data, rng):
    """Damage one of the files of an archive, and pack them again."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    name = rng.choice(sorted(parts))
    parts[name] = damaged(parts[name], rng)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name, part in parts.items():
            new.writestr(name, part)
    return made.getvalue()


@pytest.mark.parametrize("name", WRITERS)
def test_damage_ends_in_a_sentence(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    data, rng, refused = path.read_bytes(), random.Random(f"{name} 1811"), []
    for number in range(60):
        inside = name.endswith((".xlsx", ".zip")) and number % 2
        path.write_bytes((damaged_inside if inside else damaged)(data, rng) or b"\n")
        try:
            read_graph(path)
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 10
    assert all(str(path) in text and len(text) < 900 + len(str(path)) for text in refused)
