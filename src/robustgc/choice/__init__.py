"""Weigh many models by how well they predict labels left out, so that nothing needs tuning."""
