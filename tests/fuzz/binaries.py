"""Graphs and points in the formats of others: arrays, matrices, XML, JSON, Parquet, folders."""

import io
import json
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from tests.fuzz.draw import chance, pick


def npy(values, *, shape=None, descr=None, version=1):
    """Return an array as a file; its header may promise another shape or type."""
    values = np.asarray(values)
    out = io.BytesIO()
    if values.dtype.hasobject:
        np.save(out, values, allow_pickle=True)
        return out.getvalue()
    about = {
        "descr": descr or values.dtype.str,
        "fortran_order": False,
        "shape": shape or values.shape,
    }
    np.lib.format.write_array_header_1_0(out, about)
    content = bytearray(out.getvalue())
    content[6] = version
    return bytes(content) + values.tobytes()


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as bundle:
        for name, content in members.items():
            member = zipfile.ZipInfo(name)  # without a date: the same case, the same bytes
            member.compress_type = compression
            bundle.writestr(member, content)
    return out.getvalue()


def _matrix(pairs, weight, n):
    rows, columns = np.array(pairs, dtype=int).reshape(-1, 2).T
    W = sp.coo_array((weight, (rows, columns)), shape=(n, n)).tocsr()
    return sp.csr_array(W + sp.triu(W.T, 1) + sp.tril(W.T, -1))


def _wrong_member(rng, parts):
    """Change one of the arrays that a sparse matrix is stored as."""
    name = pick(rng, "indices", "indices", "indptr", "indptr", "data", "shape", "format")
    values = parts[name]
    at = int(rng.integers(max(1, values.size)))
    if name in ("indices", "indptr") and values.size:
        values = values.copy()
        values[at] = pick(rng, -1, 10**6, 2**31 - 1, -(2**31), 0)
        return {name: pick(rng, values, values, values[:-1], values[::-1], values.astype(float))}
    if name == "shape":
        return {
            name: np.array(pick(rng, (3, 3), (10**9, 10**9), (-1, -1), (0, 0), (2,), (2**62, 1)))
        }
    if name == "format":
        return {name: np.array(pick(rng, b"csr", b"coo", b"dia", b"bsr", b"evil", "csr", 7))}
    odd = np.array([None, _Evil()], dtype=object)
    return {name: pick(rng, values[:-1], values * np.nan, -values, values.astype("S"), odd)}


class _Evil:
    """Would leave a trace, were it ever unpickled."""

    def __reduce__(self):
        return (exec, ("open('pickle-was-run', 'w').close()",))


def npz_graph(rng, nodes, pairs, weight):
    W = _matrix(pairs, weight, len(nodes))
    parts = {
        "indices": W.indices, "indptr": W.indptr, "format": np.array(b"csr"),
        "shape": np.array(W.shape), "data": W.data,
    }  # fmt: skip
    if chance(rng, 0.5):
        parts |= _wrong_member(rng, parts)
    members = {f"{name}.npy": npy(values) for name, values in parts.items()}
    if chance(rng, 0.1):
        name = pick(rng, *members)
        lie = pick(rng, (10**9,), (10**15,), (-1,), (2, 2), (0,))
        members[name] = pick(rng, npy(parts[name[:-4]], shape=lie), b"", members[name][:40])
    if chance(rng, 0.05):
        members.pop(pick(rng, *members))
    return zipped(members), ".npz"


def mtx(rng, nodes, pairs, weight):
    kind = pick(
        rng, "real symmetric", "pattern symmetric", "integer symmetric", "real general", "odd"
    )
    n, count = len(nodes), len(pairs)
    if chance(rng, 0.1):
        n, count = pick(
            rng, (10**9, count), (n, 10**9), (-1, count), (n, 0), (2**63, 1), (10**7, count)
        )
    lines = [f"%%MatrixMarket matrix coordinate {kind}", f"{n} {n} {count}"]
    for (i, j), w in zip(pairs, weight, strict=True):
        value = (
            ""
            if "pattern" in kind
            else f" {int(np.nan_to_num(min(w, 1e9)))}"
            if "integer" in kind
            else f" {w!r}"
        )
        lines.append(f"{max(i, j) + 1} {min(i, j) + 1}{value}")
    return ("\n".join(lines) + "\n").encode(), ".mtx"


def gml(rng, nodes, pairs, weight):
    lines = ["graph [", *(f'  node [ id {i} label "{name}" ]' for i, name in enumerate(nodes))]
    for (i, j), w in zip(pairs, weight, strict=True):
        lines.append(f"  edge [ source {i} target {j} weight {w!r} ]")
    return ("\n".join([*lines, "]"]) + "\n").encode("utf-8"), ".gml"


def graphml(rng, nodes, pairs, weight):
    head = pick(rng, "", '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>')
    lines = [
        "<?xml version='1.0' encoding='utf-8'?>", head,
        "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>",
        "<key id='w' for='edge' attr.name='weight' attr.type='double'/>",
        f"<graph edgedefault='{pick(rng, 'undirected', 'undirected', 'directed', 'odd')}'>",
        *(f"<node id='{i}'/>" for i in range(len(nodes))),
    ]  # fmt: skip
    for (i, j), w in zip(pairs, weight, strict=True):
        lines.append(f"<edge source='{i}' target='{j}'><data key='w'>{w!r}</data></edge>")
    return ("\n".join([*lines, "</graph></graphml>"])).encode("utf-8"), ".graphml"


def node_link(rng, nodes, pairs, weight):
    group = [{"id": name, "group": pick(rng, "x", "y", None)} for name in nodes]
    links = [
        {"source": nodes[i], "target": nodes[j], "weight": w}
        for (i, j), w in zip(pairs, weight, strict=True)
    ]
    if chance(rng, 0.15) and links:
        deep = json.loads("[" * 900 + "]" * 900)
        links[0]["weight"] = pick(rng, "1", None, [], {}, True, 10**400, deep, "x" * 5000)
    if chance(rng, 0.1):
        group[0]["id"] = pick(rng, None, [], 1.5, True, "\ud800", "x" * 5000, {})
    return json.dumps({"nodes": group, "links": links}).encode(), ".json"


def parquet_of(columns):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def parquet(rng, nodes, pairs, weight):
    source, target = [nodes[i] for i, _ in pairs], [nodes[j] for _, j in pairs]
    columns = {"source": source, "target": target, "weight": weight}
    if chance(rng, 0.3):
        odd = [None] * len(pairs), [[1]] * len(pairs), [b"\xff"] * len(pairs), ["x"] * len(pairs)
        columns[pick(rng, *columns)] = pick(rng, *odd)
    return parquet_of(columns), ".parquet"


def folder(rng, nodes, pairs, weight):
    """Return the files of a graph folder, by name."""
    W = _matrix(pairs, weight, len(nodes))
    parts = {"indptr": W.indptr.astype(np.int64), "indices": W.indices, "data": W.data}
    about = {
        "format": "robustgc-csr", "version": 1, "nodes": len(nodes), "entries": int(W.nnz),
        "weights": "float64",
    }  # fmt: skip
    if chance(rng, 0.3):
        wrong = _wrong_member(rng, {**parts, "shape": W.indptr, "format": W.indptr})
        parts |= {name: values for name, values in wrong.items() if name in parts}
    if chance(rng, 0.2):
        key = pick(rng, *about)
        about[key] = pick(rng, None, -1, "x", 10**12, [], {}, 1.5)
        if chance(rng, 0.3):
            about.pop(key)
    named = json.dumps(
        pick(rng, nodes, nodes, nodes, nodes[:-1], None, {"a": 1}, [[]] * len(nodes))
    )
    deep = "[" * pick(rng, 900, 100_000)
    files = {f"{name}.npy": npy(values) for name, values in parts.items()}
    files["manifest.json"] = json.dumps(about).encode()
    files["names.json"] = (deep if chance(rng, 0.05) else named).encode()
    return files


def point_array(rng, n, d):
    """Return points as .npy or .npz."""
    X = rng.normal(size=(n, d))
    if chance(rng, 0.3):
        X = pick(
            rng, X * np.nan, X[0], X[None], X.astype(complex), X.astype("S"), X[:0],
            X.astype(np.int8),
            np.array([None, _Evil()], dtype=object), X.astype(bool), X.astype(np.float16),
        )  # fmt: skip
    lies = {}
    if chance(rng, 0.2) and not X.dtype.hasobject:
        lies = pick(
            rng, {"shape": (10**9, 10**3)}, {"shape": (-1, d)}, {"descr": "|O"},
            {"descr": "<f8,<f8"},
            {"version": 3}, {"version": 9}, {"shape": (2**62, 4)}, {"descr": "<M8[s]"},
        )  # fmt: skip
    content = npy(X, **lies)
    if chance(rng, 0.5):
        return content, ".npy"
    return zipped({pick(rng, "X.npy", "X.npy", "arr_0.npy", "../X.npy", "X"): content}), ".npz"


def pickled():
    return pickle.dumps(_Evil())


GRAPHS = [npz_graph, npz_graph, mtx, gml, graphml, node_link, parquet]
