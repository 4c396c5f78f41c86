"""Graph folders built from edges that do not fit in memory."""
