"""Save a fitted RobustGC to a folder or zip file, and load it again."""
