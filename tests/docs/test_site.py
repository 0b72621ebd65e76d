"""The site is built, from pages alone, and refuses what readers would stumble over."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from publishing.blocks import PAGES, ROOT
from publishing.site import gather, site_path, turned

ZENSICAL = Path(sys.prefix) / "bin" / "zensical"
# What a browser would fetch by itself from somewhere else.
FETCHED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=\"?https?://[^>]*>")


def built(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build what is in folder/build/pages, as `make docs` does."""
    for name in ("src", "publishing"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    command = [ZENSICAL, "build", "--strict", "--config-file", "mkdocs.yml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800)


def test_the_site_is_complete_and_fetches_nothing(tmp_path: Path) -> None:
    """Catches a broken link or anchor, a page that is left out, a name that cannot be documented,
    and a font or script from a network."""
    gather(tmp_path / "build" / "pages")
    done = built(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "build" / "site"
    for page in PAGES:
        place = site_path(page.relative_to(ROOT).as_posix())
        html = site / re.sub(r"(README)?\.md$", lambda m: "index.html" if m[1] else ".html", place)
        assert html.exists(), f"{place} is not in the site"
    for html in site.rglob("*.html"):
        loaded = [tag for tag in FETCHED.findall(html.read_text()) if "canonical" not in tag]
        assert not loaded, f"{html.name} fetches {loaded}"
    mechanisms = (site / "reference" / "mechanisms.html").read_text()
    assert 'id="discreet.Laplace"' in mechanisms
    assert 'id="discreet.Laplace.release"' in mechanisms


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("# A\n\n[here](#nowhere)\n\n[there](nowhere.md)\n", "2 issues found"),
        ("# A\n\n::: discreet.Nonsense\n", "discreet.Nonsense could not be found"),
    ],
)
def test_a_broken_page_stops_the_build(page: str, told: str, tmp_path: Path) -> None:
    """Catches a build that only warns: of a place, of a page, of a name that is not there."""
    pages = tmp_path / "build" / "pages"
    pages.mkdir(parents=True)
    (pages / "README.md").write_text(page)
    done = built(tmp_path)
    assert done.returncode != 0
    assert told in done.stdout + done.stderr


def test_a_link_to_nothing_stops_the_gathering() -> None:
    """Catches links that are turned without a look at what they lead to."""
    with pytest.raises(SystemExit, match=r"docs/a\.md links to \.\./nowhere\.md"):
        turned("[a page](../nowhere.md)", "docs/a.md")


def test_every_page_is_in_the_menu() -> None:
    """Catches a page that only those find who know it, and a menu that leads nowhere."""
    menu = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text().split("plugins:")[0]))
    docs = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    outside = {entry for entry in menu if entry.startswith("project/")}
    assert menu - outside == docs
    for entry in outside:
        assert (ROOT / entry.removeprefix("project/")).exists()
