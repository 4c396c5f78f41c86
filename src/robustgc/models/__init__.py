"""Score every node of a connected graph from a few labels of two classes."""
