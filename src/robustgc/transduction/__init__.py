"""Extend a few labels to all nodes of any graph, with a reason for every node."""
