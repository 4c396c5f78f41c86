"""Compute eigenvectors of graph Laplacians, and solve linear systems with them."""
