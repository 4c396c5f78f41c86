"""A fitted model in a folder or zip of plain arrays and one manifest, without pickle."""
