"""Turn points into a graph, whose weights say how much alike two points are."""
