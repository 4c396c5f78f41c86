"""Fashion-MNIST, 70,000 x 784: points to answer, against LabelSpreading(kernel="knn")."""

import sys

from benchmarks.block_model import measured, show
from benchmarks.shared.cases import FASHION
from benchmarks.shared.verdict import verdict


def main() -> list[tuple[str, bool]]:
    print("\n## Fashion-MNIST, 70,000 x 784, 10 labels a class, 20 % wrong\n")
    if not FASHION.exists():
        sys.exit(f"{FASHION} is missing: apt-get install dataset-fashion-mnist")
    found = measured("fashion", ["robustgc_points", "label_spreading_points"], repeats=1)
    show(found)
    own, peer = found["robustgc_points"], found["label_spreading_points"]
    gain = 100 * (own["accuracy"] - peer["accuracy"])
    return [
        (f"{own['seconds'] / peer['seconds']:.2f} of LabelSpreading's time (asked: below 1)",
         own["seconds"] < peer["seconds"]),
        (f"{gain:+.1f} points of accuracy (asked: above 0)", gain > 0),
    ]  # fmt: skip


if __name__ == "__main__":
    verdict(main())
