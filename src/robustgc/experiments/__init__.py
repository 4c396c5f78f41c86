"""Experiments: one file each, computing plain results; printing and drawing happen elsewhere."""
