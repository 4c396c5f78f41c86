"""The default model: nothing to tune, candidates are weighed by the labels left out of each."""
