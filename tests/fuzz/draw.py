"""Drawing from what there is."""

import numpy as np


def pick(rng, *options):
    """Return one of the options, without turning it into an array."""
    return options[int(rng.integers(len(options)))]


def chance(rng, share):
    return bool(rng.random() < share)


def size(rng, least=2, small=30):
    """Return a number of nodes: mostly small, at times 80, seldom hundreds."""
    draw = rng.random()
    if draw < 0.85:
        return int(rng.integers(least, small))
    if draw < 0.995:
        return int(rng.integers(small, 81))
    return int(rng.integers(200, 2001))


def exponents(rng, count, reach):
    """Return positive numbers from 10^-reach to 10^reach, evenly by their exponent."""
    return 10.0 ** rng.uniform(-reach, reach, count)


def reach(rng):
    """Return how far weights go: mostly as usual, at times to the ends of double precision."""
    return pick(rng, 0, 0, 0, 1, 3, 12, 40, 150, 300)


def symmetric(W):
    return np.tril(W) + np.tril(W, -1).T
