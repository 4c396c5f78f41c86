"""Wrong labels on many graphs: who still answers right, and who finds the wrong ones.

    python -m benchmarks noise run        # trials into benchmarks/records, goes on where it was
    python -m benchmarks noise summary    # the records into NOISE.md and noise.png

Run from the root of the repository. `data` has the graphs, `draws` the labels and their noise,
`columns` the methods, `detection` who finds wrong labels, `trials` what is run, `records` what is
kept, `bars` what is asked, `summary` and `picture` what is shown.
"""
