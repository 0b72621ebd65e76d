"""What a disk may hold after the power failed: what was synced, and any part of the rest.

From the record of a run (`Disk.operations`) the content of the folder after a cut at any moment
is built: of what was written since the last sync of a file, each write is kept, lost or torn at
a sector. Names of files (creation, deletion, renaming) are kept in order, as journaling file
systems do. What is shared in memory (-shm) is gone.
"""

import os
import random
from collections.abc import Sequence
from pathlib import Path

from tests.faults.disk import Operation

SECTOR = 512


class Image:
    """The files of a folder, and what is on its way to them."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.durable = {path: bytearray(content) for path, content in files.items()}
        self.pending: dict[str, list[Operation]] = {}

    @classmethod
    def of(cls, folder: Path) -> "Image":
        """As it is now, all of it on disk."""
        paths = [path for path in folder.iterdir() if not path.name.endswith("-shm")]
        return cls({os.path.realpath(path): path.read_bytes() for path in paths})

    def do(self, operation: Operation, *, lying: str | None = None) -> None:
        """What happens to the disk; one that is ``lying`` about a file does not sync it."""
        path = operation.path
        match operation.what:
            case "write" | "truncate":
                self.durable.setdefault(path, bytearray())
                self.pending.setdefault(path, []).append(operation)
            case "sync" if lying is None or not path.endswith(lying):
                for waiting in self.pending.pop(path, ()):
                    _apply(self.durable[path], waiting, len(waiting.data))
            case "open":
                self.durable.setdefault(path, bytearray())
            case "delete":
                self.durable.pop(path, None)
                self.pending.pop(path, None)
            case "rename":
                self.durable[operation.to] = self.durable.pop(path)
                self.pending[operation.to] = self.pending.pop(path, [])

    def after_a_cut(self, coins: random.Random) -> dict[str, bytes]:
        """The files, with a random part of what was not synced."""
        files = {path: bytearray(content) for path, content in self.durable.items()}
        chance = coins.choice([0.0, 0.5, 1.0])
        for path, waiting in self.pending.items():
            for operation in waiting:
                if coins.random() < chance:
                    whole = coins.random() < 0.7
                    sectors = coins.randrange(len(operation.data) // SECTOR + 1)
                    _apply(files[path], operation, len(operation.data) if whole else sectors * 512)
        return {path: bytes(content) for path, content in files.items()}


def _apply(content: bytearray, operation: Operation, length: int) -> None:
    end = operation.offset + length
    if operation.what == "truncate":
        del content[operation.offset :]
        content.extend(bytes(operation.offset - len(content)))
    elif length:
        content.extend(bytes(max(0, end - len(content))))
        content[operation.offset : end] = operation.data[:length]


def put(files: dict[str, bytes], folder: Path) -> None:
    """Write an image to another folder."""
    for path, content in files.items():
        (folder / os.path.basename(path)).write_bytes(content)


def play(image: Image, operations: Sequence[Operation], *, lying: str | None = None) -> None:
    """Do them all."""
    for operation in operations:
        image.do(operation, lying=lying)
