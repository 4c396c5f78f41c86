"""The commands on the user's own files, one file each."""
