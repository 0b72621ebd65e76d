"""The command line: a thin skin over the Python API, one file for each group of commands.

The commands are `release` (with explain), `ledger`, `verify`, `audit`, `survey`, `key` and `demo`;
`main` puts them together. They share `options`, `output`, `paths`, `accounts` and `failures`.
`query_text` and `ledger_report` are loaded when they are needed, as they need more than Typer.
"""
