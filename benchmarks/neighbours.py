"""Which library should find the neighbours of many points: time, recall, repeatability.

Run with faiss-cpu, pynndescent and usearch installed:

    python -m benchmarks neighbours

Every library returns the 10 nearest others of all points, in single precision on all cores.
Recall is the share of the true neighbours of 1000 points that were found. CPU seconds add up the
cores, and say more than wall seconds on a machine that is shared. "Repeats": two runs on the
first 20,000 points, same seed, new processes, gave the same bytes. usearch and pynndescent run
with their defaults; robustgc is `robustgc.affinity.neighbours.approximate`, exact distances
included.
"""

import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

K, SEED = 10, 11
FASHION = Path("/usr/share/datasets/fashion-mnist")


def fashion():
    parts = []
    for name in ("train", "t10k"):
        data = gzip.decompress((FASHION / f"{name}-images-idx3-ubyte.gz").read_bytes())
        parts.append(np.frombuffer(data, np.uint8, offset=16).reshape(-1, 784))
    X = np.vstack(parts) / np.float32(255)
    return X - X.mean(axis=0)


def blobs():
    rng = np.random.default_rng(SEED)
    centres = 3 * rng.standard_normal((20, 16))
    points = centres[rng.integers(20, size=200_000)] + rng.standard_normal((200_000, 16))
    return points.astype(np.float32)


def faiss_flat(X):
    import faiss

    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(X, K + 1)[1]


def faiss_ivf_16(X):
    return lists_of_faiss(X, 16)


def faiss_ivf_64(X):
    return lists_of_faiss(X, 64)


def lists_of_faiss(X, probes):
    """Search some of the lists around a random sample of the points."""
    import faiss

    rng = np.random.default_rng(SEED)
    lists = int(4 * np.sqrt(len(X)))
    heads = faiss.IndexFlatL2(X.shape[1])
    index = faiss.IndexIVFFlat(heads, X.shape[1], lists)
    heads.add(X[rng.choice(len(X), lists, replace=False)])
    index.is_trained = True
    index.add(X)
    index.nprobe = probes
    return index.search(X, K + 1)[1]


def faiss_hnsw(X):
    import faiss

    index = faiss.IndexHNSWFlat(X.shape[1], 16)
    index.hnsw.efConstruction = 64
    index.hnsw.efSearch = 64
    index.add(X)
    return index.search(X, K + 1)[1]


def pynndescent(X):
    from pynndescent import NNDescent

    return NNDescent(X, n_neighbors=K + 1, random_state=SEED).neighbor_graph[0]


def usearch(X):
    from usearch.index import Index

    index = Index(ndim=X.shape[1], metric="l2sq", dtype="f32")
    index.add(np.arange(len(X)), X)
    return index.search(X, K + 1).keys.astype(np.int64)


def robustgc(X):
    from robustgc.affinity.neighbours import approximate
    from robustgc.affinity.points import Points

    return approximate(Points(X.astype(float)), K)[1]


DATA = {"fashion-mnist 70000 x 784": fashion, "blobs 200000 x 16": blobs}
METHODS = [robustgc, faiss_ivf_16, faiss_ivf_64, faiss_hnsw, pynndescent, usearch, faiss_flat]
PART = 20_000


def others(found, rows):
    return [[j for j in row if j != i][:K] for i, row in zip(rows, found, strict=True)]


def one(method, data, size, path):
    """Run one method in this process; leave the neighbours in a file and print the seconds."""
    X = DATA[data]()[: int(size)]
    wall, cpu = time.perf_counter(), time.process_time()
    found = globals()[method](X)
    print(time.perf_counter() - wall, time.process_time() - cpu)
    np.save(path, np.asarray(found, dtype=np.int64))


def run(method, data, size):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.npy"
        command = [sys.executable, "-m", "benchmarks.neighbours", method, data, str(size)]
        command.append(str(path))
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        wall, cpu = map(float, done.stdout.split()[-2:])
        return wall, cpu, np.load(path)


def main():
    chosen = sys.argv[1:] or [method.__name__ for method in METHODS]
    for data, points in DATA.items():
        X = points()
        rows = np.random.default_rng(SEED).choice(len(X), 1000, replace=False)
        truth = others(exact(X, rows), rows)
        print(f"\n{data}\n{'method':12} {'wall s':>7} {'CPU s':>7} {'recall':>7}  repeats")
        for method in chosen:
            wall, cpu, found = run(method, data, len(X))
            mine = others(found[rows], rows)
            hits = np.mean([len(set(a) & set(b)) for a, b in zip(mine, truth, strict=True)])
            first, again = (run(method, data, PART)[2] for _ in range(2))
            same = "yes" if np.array_equal(first, again) else "no"
            print(f"{method:12} {wall:7.1f} {cpu:7.1f} {hits / K:7.3f}  {same}", flush=True)


def exact(X, rows):
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=K + 1, algorithm="brute").fit(X.astype(float))
    return search.kneighbors(X[rows].astype(float), return_distance=False)


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[2] in DATA:
        one(*sys.argv[1:])
    else:
        main()
