"""Draw one HTML page of what a fit has found, and of how sure it is."""
