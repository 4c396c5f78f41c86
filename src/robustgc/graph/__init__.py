"""Read the weights of a graph, check them once, and multiply with them fast."""
