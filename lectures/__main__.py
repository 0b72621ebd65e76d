"""``python -m lectures``: recompute the 24 claims and print the results, with ``--json`` as JSON.

The exit code is 1 if a claim is wrong as written and its correction fails too.
"""

from __future__ import annotations

import sys

from lectures import report


def main(arguments: list[str]) -> int:
    """Check all claims, and print the report."""
    made = report.report()
    print(made.to_json() if "--json" in arguments else made)
    return int(any(claim.verdict == "wrong as written" for claim in made.claims))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
