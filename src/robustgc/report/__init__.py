"""Result files -> pictures and pages; reads files only, computes nothing."""
