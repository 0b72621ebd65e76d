"""The command line: a thin skin over the Python API, one file a group of commands."""
