"""Gather the pages of the site: ``python -m publishing.site`` fills build/pages.

README, SECURITY, results of benchmarks and examples are Markdown where they belong in the
repository, and sources are sources. In the site they are pages under project/. Links to them are
turned accordingly, so that a link is right in both places; a link to nothing stops the build.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from publishing.blocks import ROOT

GATHERED = ROOT / "build" / "pages"

_LINK = re.compile(r"\]\((?P<target>(?!https?:|mailto:|#)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_ODD = re.compile(r"\]\([^)\s]+\s+[\"'(][^)]*\)|<a\s[^>]*>|^\[[^\]]+\]:\s.*$", re.MULTILINE)
_FENCED = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
_OUTSIDE = "project/"
# Pages of the menu that no page of docs/ needs to link to.
_ALWAYS = ("README.md", "examples/README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md")


def gather(target: Path = GATHERED) -> list[str]:
    """Write the whole site's sources into a folder; the paths they have in the repository."""
    shutil.rmtree(target, ignore_errors=True)
    waiting = [*_files_of("docs"), *_ALWAYS]
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        place = target / site_path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            place.write_text(turned((ROOT / path).read_text(), path))
            waiting += linked_from(path)
        elif path.endswith(".py"):
            name = posixpath.basename(path)
            place.write_text(f"# {name}\n\n````python\n{(ROOT / path).read_text()}````\n")
        else:
            shutil.copy(ROOT / path, place)
    return sorted(seen)


def linked_from(path: str) -> list[str]:
    """Files that a page links to, by their paths in the repository."""
    text = _FENCED.sub("", (ROOT / path).read_text())
    if odd := _ODD.search(text):
        raise SystemExit(f"{path}: write {odd[0]!r} as [words](target), without a title or HTML.")
    return sorted({_resolved(match["target"], path) for match in _LINK.finditer(text)})


def turned(markdown: str, path: str) -> str:
    """A page's text with links as they are within the site."""
    return relinked(markdown, path, posixpath.dirname(site_path(path)), site_path)


def relinked(markdown: str, path: str, folder: str, place: Callable[[str], str] = str) -> str:
    """A page's text with links as they are from another folder, to files in other places."""

    def turn(match: re.Match[str]) -> str:
        target = place(_resolved(match["target"], path))
        return f"]({posixpath.relpath(target, folder or '.')}{match['anchor'] or ''})"

    parts = _FENCED.split(markdown)
    return "".join(part if part.startswith("```") else _LINK.sub(turn, part) for part in parts)


def site_path(path: str) -> str:
    """Where a file of the repository is in the site.

    >>> site_path("docs/tables.md"), site_path("SECURITY.md"), site_path("src/discreet/demo.py")
    ('tables.md', 'project/SECURITY.md', 'project/src/discreet/demo.py.md')
    """
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return _OUTSIDE + path + (".md" if path.endswith(".py") else "")


def _resolved(target: str, path: str) -> str:
    """The file that a link leads to; a folder stands for its README."""
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if (ROOT / found).is_dir():
        found = posixpath.join(found, "README.md")
    if not (ROOT / found).is_file():
        raise SystemExit(f"{path} links to {target}, which is not there: correct the link.")
    return found


def _files_of(folder: str) -> list[str]:
    found = (ROOT / folder).rglob("*")
    return [each.relative_to(ROOT).as_posix() for each in found if each.is_file()]


if __name__ == "__main__":
    gather()
