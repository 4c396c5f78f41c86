"""Store models as plain arrays and JSON in a folder or zip file, without pickle."""
