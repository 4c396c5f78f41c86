"""Find the labels that are probably wrong, and the nodes worth labelling next."""
