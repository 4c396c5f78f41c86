"""Fit one graph on many processes, each of which holds some of its rows."""
