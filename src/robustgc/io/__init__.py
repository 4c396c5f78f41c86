"""Read graphs, points and labels of many formats, and write tables of answers."""
