"""The quickstart, followed from an empty folder by copy and paste: shell, Python, shell."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from publishing.blocks import ROOT, Block, blocks_of
from publishing.running import words_of

PAGE = ROOT / "docs" / "quickstart.md"


def transcript(blocks: list[Block]) -> str:
    """What a reader pastes into one terminal: a run of Python blocks goes into one prompt."""
    lines: list[str] = []
    typing = False
    for block in blocks:
        if block.language == "python" and not typing:
            lines.append("python -i -q << 'THE END OF PYTHON'")
        if block.language == "sh" and typing:
            lines.append("THE END OF PYTHON")
        typing = block.language == "python"
        lines.append(block.text)
    return "\n".join(lines)


def follow(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Paste all of it, in an empty folder beside a clone, or beside what stands for one."""
    if not (folder / "discreet").exists():
        (folder / "discreet").symlink_to(ROOT)
    empty = folder / "empty"
    empty.mkdir()
    blocks = [each for each in blocks_of(PAGE.read_text()) if each.language in ("python", "sh")]
    keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        ["bash", "-eu", "-c", transcript(blocks)],
        cwd=empty,
        env={**keep, "LANG": "C.UTF-8", "COLUMNS": "100", "NO_COLOR": "1", **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
    )


def check(done: subprocess.CompletedProcess[str], empty: Path) -> None:
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert "Error" not in done.stderr, done.stderr
    printed = words_of(done.stdout)
    for block in blocks_of(PAGE.read_text()):
        if block.printed:  # in this order
            _, found, printed = printed.partition(words_of(block.printed.text))
            assert found, f"{block.printed.text}\nis not in\n{done.stdout}"
    left = {"demo.svg", "visits.csv", "visits.ledger", "quickstart-wards.svg", "first-table.json"}
    assert left <= {path.name for path in empty.iterdir()}


def test_the_quickstart_by_copy_and_paste(tmp_path: Path) -> None:
    """Catches a step that is missing, in the wrong order, or cannot be pasted into a prompt.

    discreet is built and installed into the reader's new environment; what it needs is taken from
    the environment of the tests, so that nothing is fetched. `make test-long` fetches it all.
    """
    done = follow(
        tmp_path,
        PIP_NO_DEPS="1",
        PIP_NO_BUILD_ISOLATION="0",  # pip reads this one the other way round
        PIP_NO_INDEX="1",
        PYTHONPATH=sysconfig.get_paths()["purelib"],
    )
    check(done, tmp_path / "empty")


@pytest.mark.long
def test_the_quickstart_with_everything_fetched_anew(tmp_path: Path) -> None:
    """Catches a dependency that is missing from pyproject.toml: nothing of ours is lent."""
    clone = tmp_path / "discreet"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    done = follow(tmp_path)
    check(done, tmp_path / "empty")


@pytest.mark.long
def test_the_readme_in_a_fresh_clone(tmp_path: Path) -> None:
    """Catches a first command that fails, or leaves nothing for the first block of Python."""
    clone = tmp_path / "discreet"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    text = (clone / "README.md").read_text()
    setting_up, first = [each.text for each in blocks_of(text)][:2]
    done = subprocess.run(
        ["bash", "-eu", "-c", f"{setting_up}\npython - << 'THE END'\n{first}\nTHE END"],
        cwd=clone,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    assert "cost ε = 1; protects one row" in done.stdout
