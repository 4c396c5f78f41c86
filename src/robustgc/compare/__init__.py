"""Compare models on the user's own graph, to see which copes best with wrong labels."""
