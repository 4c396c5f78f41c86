"""Reproduce every table, figure and claim of the paper, and draw their page."""
