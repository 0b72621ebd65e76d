"""The databases that a ledger is kept in.

`store` is what they share: tables, one transaction, failures, forks. `sqlite` keeps a ledger in a
file, `postgresql` in a database for teams. All of it is imported on first use.
"""
