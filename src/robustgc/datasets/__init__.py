"""Graphs and points with known classes: bundled, generated, or fetched; with their citations."""

from robustgc.datasets.base import Dataset
from robustgc.datasets.bundled import load_karate, load_polblogs, load_polbooks
from robustgc.datasets.synthetic import chain, moons, three_blocks, two_blocks
from robustgc.datasets.usps import DataNotFoundError, fetch_usps

__all__ = [
    "DataNotFoundError",
    "Dataset",
    "chain",
    "fetch_usps",
    "load_karate",
    "load_polblogs",
    "load_polbooks",
    "moons",
    "three_blocks",
    "two_blocks",
]
