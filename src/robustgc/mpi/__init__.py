"""More than one process: the same answers from rows of the graph that are spread over MPI ranks."""
