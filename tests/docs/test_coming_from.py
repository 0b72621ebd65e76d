"""What docs/coming-from.md prints of other libraries was run as it is printed there.

Their environments are not part of `make test`. `make docs-peers` runs the blocks and keeps a
record; here the page is held against it.
"""

import re

import pytest

from publishing.blocks import Block, blocks_of
from publishing.peers import PACKAGES, PAGE, digest, recorded
from publishing.running import tidy

BLOCKS = [block for block in blocks_of(PAGE.read_text()) if block.library]
AGAIN = "run `make docs-peers`"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line {block.start + 1}")
def test_a_block_was_run_as_it_is_printed(block: Block) -> None:
    """Catches code of theirs that was edited and not tried, and output that is not theirs."""
    found = recorded().get(digest(block))
    assert found is not None, f"it was changed since it was run: {AGAIN}"
    assert found["library"] == block.library
    if found["printed"]:
        assert block.printed is not None, f"what it prints is not shown: {AGAIN}"
        assert tidy(block.printed.text) == tidy(found["printed"]), AGAIN


def test_nothing_is_recorded_that_the_page_does_not_print() -> None:
    """Catches a record that only grows."""
    assert set(recorded()) == {digest(block) for block in BLOCKS}


def test_every_library_is_there_with_its_version() -> None:
    """Catches a version on the page that is not the one that ran."""
    text = PAGE.read_text()
    assert {block.library for block in BLOCKS} == set(PACKAGES)
    for found in recorded().values():
        assert found["package"] == PACKAGES[found["library"]]
        assert found["version"] in text, f"{found['library']} is {found['version']} now"


def test_errors_in_the_picture_are_those_that_were_measured() -> None:
    """Catches numbers of a picture that nobody measured."""
    measured = {e["library"]: e["mean_error"] for e in recorded().values() if "mean_error" in e}
    drawn = dict(re.findall(r'^    "(\w+)[^"]*": ([\d.]+),$', PAGE.read_text(), re.MULTILINE))
    assert set(measured) == set(PACKAGES)
    assert {name.lower(): float(error) for name, error in drawn.items()} == measured
