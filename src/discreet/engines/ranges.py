"""What tells whether files are still what they were."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeAlias

Files: TypeAlias = tuple[tuple[object, ...], ...]


def identify(paths: Sequence[str]) -> Files:
    """What changes when a file does."""
    states = [(path, os.stat(path)) for path in paths]
    return tuple((path, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for path, s in states)
