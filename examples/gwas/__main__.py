"""The command line: ``python -m examples.gwas --help``."""

from __future__ import annotations

import argparse

from examples import gwas

try:
    from examples.gwas.cohort import EFFECTS
    from examples.gwas.story import FULL, main
except ModuleNotFoundError as missing:
    if missing.name != "bed_reader":
        raise
    raise SystemExit("This example reads PLINK files: pip install bed-reader") from None

parser = argparse.ArgumentParser(prog="python -m examples.gwas", description=gwas.__doc__)
parser.formatter_class = argparse.RawDescriptionHelpFormatter
parser.add_argument("--variants", type=int, default=4_000, help="6 or more (4,000)")
parser.add_argument("--people", type=int, default=4_000, help="cases and controls, half each")
parser.add_argument("--full", action="store_true", help=f"{FULL:,} variants")
parser.add_argument("--folder", help="keep the PLINK files here (else a temporary folder)")
parser.add_argument("--picture", default="gwas.svg", help="where the picture goes")
given = vars(parser.parse_args())
if given.pop("full"):
    given["variants"] = FULL
if given["variants"] < len(EFFECTS) or given["people"] < 2:
    parser.error(f"it takes {len(EFFECTS)} variants and 2 people at least")
main(**given)
