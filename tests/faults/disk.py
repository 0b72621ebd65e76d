"""A disk that fails on demand: every write, sync, truncation, rename and deletion in a folder is
counted, and one of them can be made to fail, to tear, or to be the last thing the process does.

SQLite does its own input and output in C, so it gets a virtual file system of its own: the
default one with a few functions replaced through ctypes (https://sqlite.org/vfs.html). What
Python writes passes through the functions of `os`, which are replaced for as long as the disk is
in use. Both share one count, so operation number n is the n-th of the whole.
"""

import _sqlite3  # in C, linked to the library: its symbols are found through it
import ctypes
import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

OK, READONLY, IOERR, FULL, CANTOPEN = 0, 8, 10, 13, 14
# What SQLite calls the failure of each operation.
IOERRS = {
    "write": IOERR | 3 << 8,
    "sync": IOERR | 4 << 8,
    "truncate": IOERR | 6 << 8,
    "delete": IOERR | 10 << 8,
    "share": IOERR | 21 << 8,
    "open": CANTOPEN,
}
ERRNOS = {"error": errno.EIO, "tear": errno.EIO, "full": errno.ENOSPC, "read-only": errno.EROFS}
OPEN_CREATE = 0x4


@dataclass(frozen=True)
class Fault:
    """What goes wrong at operation ``at`` (from 0), or from there on if it ``lasts``.

    how: "error"; "full"; "read-only"; "tear", which writes half and then fails; "short", which
    writes half and says so, as a call of Python's may; "kill", which ends the process before it;
    "kill torn", after half of it; "kill after".
    """

    at: int
    how: str = "error"
    lasts: bool = False


@dataclass(frozen=True)
class Operation:
    """One thing done to a file, with what is needed to do it again."""

    what: str  # open, write, sync, truncate, delete, rename or share
    path: str
    by: str = "python"  # or sqlite
    offset: int = 0  # of a write; the size of a truncation
    data: bytes = b""
    to: str = ""  # of a rename

    def __str__(self) -> str:
        return f"{self.what} of {os.path.basename(self.path)} by {self.by}"


class Disk:
    """A folder under watch, from `with` to its end."""

    def __init__(self, folder: object, fault: Fault | None = None) -> None:
        self.folder = os.path.realpath(str(folder))
        self.fault = fault
        self.operations: list[Operation] = []

    def __enter__(self) -> "Disk":
        self._doors = _watching(self)
        self._doors.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._doors.__exit__(None, None, None)

    def holds(self, path: str) -> bool:
        return os.path.realpath(path).startswith(self.folder + os.sep)

    def pass_through(
        self,
        operation: Operation,
        work: Callable[[], Any],
        fail: Callable[[str], Any],
        half: Callable[[], Any] | None = None,
    ) -> Any:
        """Count the operation, then do it, or what the fault says instead."""
        number = len(self.operations)
        self.operations.append(operation)
        fault = self.fault
        if fault is None or not (number == fault.at or (fault.lasts and number > fault.at)):
            return work()
        if fault.how == "short":
            return half() if half is not None and operation.by == "python" else work()
        if fault.how in ("tear", "kill torn") and half is not None:
            half()
        elif fault.how == "kill after":
            work()
        if fault.how.startswith("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        return fail(fault.how)


_current: Disk | None = None


@contextmanager
def _watching(disk: Disk) -> Iterator[None]:
    global _current
    assert _current is None, "one disk at a time"
    patches = [mock.patch.object(os, name, door) for name, door in _DOORS.items()]
    _library.sqlite3_vfs_register(ctypes.byref(_vfs), 1)
    for patch in patches:
        patch.start()
    _current = disk
    try:
        yield
    finally:
        _current = None
        for patch in patches:
            patch.stop()
        # Files still open keep their table of functions, which lives as long as this module.
        _library.sqlite3_vfs_unregister(ctypes.byref(_vfs))
        _library.sqlite3_vfs_register(_default, 1)


# -- what Python writes ----------------------------------------------------------------------------


def _path_of(file: Any) -> str | None:
    """The path of a descriptor or path in the folder under watch."""
    if _current is None:
        return None
    if not isinstance(file, int):
        path = os.fsdecode(file)
        return os.path.realpath(path) if _current.holds(path) else None
    here = os.fstat(file)
    if (here.st_dev, here.st_ino) == _identity(_current.folder):
        return _current.folder
    paths = [os.path.join(_current.folder, name) for name in os.listdir(_current.folder)]
    return next((p for p in paths if (here.st_dev, here.st_ino) == _identity(p)), None)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _raise(how: str) -> Any:
    number = ERRNOS[how]
    raise OSError(number, os.strerror(number))


def _door(what: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def door(file: Any, *rest: Any, **named: Any) -> Any:
        path = _path_of(file)
        if path is None or _current is None:
            return real(file, *rest, **named)

        def work() -> Any:
            return real(file, *rest, **named)

        if what == "write":
            data = bytes(rest[0])
            offset = rest[1] if len(rest) > 1 else os.lseek(file, 0, os.SEEK_CUR)
            operation = Operation(what, path, offset=offset, data=data)

            def half() -> Any:
                return real(file, data[: len(data) // 2], *rest[1:])

            return _current.pass_through(operation, work, _raise, half)
        if what == "open" and not rest[0] & (os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_RDWR):
            return work()
        to = os.path.realpath(os.fsdecode(rest[0])) if what == "rename" else ""
        size = rest[0] if what == "truncate" else 0
        return _current.pass_through(Operation(what, path, offset=size, to=to), work, _raise)

    return door


_DOORS = {
    name: _door(what, getattr(os, name))
    for what, names in {
        "open": ["open"],
        "write": ["write", "pwrite"],
        "sync": ["fsync", "fdatasync"],
        "truncate": ["truncate", "ftruncate"],
        "rename": ["rename", "replace", "link"],
        "delete": ["unlink", "remove"],
    }.items()
    for name in names
}


# -- what SQLite writes ----------------------------------------------------------------------------

_Int, _Pointer, _Text = ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p
# The name is a pointer and not a text: SQLite keeps it, so it must not become a copy.
_XOpen = ctypes.CFUNCTYPE(_Int, _Pointer, _Pointer, _Pointer, _Int, _Pointer)
_XDelete = ctypes.CFUNCTYPE(_Int, _Pointer, _Text, _Int)
_XWrite = ctypes.CFUNCTYPE(_Int, _Pointer, _Pointer, _Int, ctypes.c_int64)
_XTruncate = ctypes.CFUNCTYPE(_Int, _Pointer, ctypes.c_int64)
_XSync = ctypes.CFUNCTYPE(_Int, _Pointer, _Int)
_XShmMap = ctypes.CFUNCTYPE(_Int, _Pointer, _Int, _Int, _Int, _Pointer)


class _Vfs(ctypes.Structure):
    """sqlite3_vfs, version 3."""

    _fields_ = (
        ("iVersion", _Int),
        ("szOsFile", _Int),
        ("mxPathname", _Int),
        ("pNext", _Pointer),
        ("zName", _Text),
        ("pAppData", _Pointer),
        ("xOpen", _XOpen),
        ("xDelete", _XDelete),
        *((f"other{i}", _Pointer) for i in range(14)),
    )


class _Methods(ctypes.Structure):
    """sqlite3_io_methods, version 3."""

    _fields_ = (
        ("iVersion", _Int),
        ("xClose", _Pointer),
        ("xRead", _Pointer),
        ("xWrite", _XWrite),
        ("xTruncate", _XTruncate),
        ("xSync", _XSync),
        *((f"other{i}", _Pointer) for i in range(7)),
        ("xShmMap", _XShmMap),
        *((f"last{i}", _Pointer) for i in range(5)),
    )


_library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
_library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
_library.sqlite3_vfs_find.argtypes = [_Text]
_default = _library.sqlite3_vfs_find(None)
_paths: dict[int, str] = {}  # of open files, by their address
_tables: dict[int, _Methods] = {}  # ours, by the address of the original


def _sqlite(
    operation: Operation, work: Callable[[], int], half: Callable[[], int] | None = None
) -> int:
    def fail(how: str) -> int:
        if operation.what == "write" and how in ("full", "read-only"):
            return FULL if how == "full" else READONLY
        return IOERRS[operation.what]

    if _current is None or not _current.holds(operation.path):
        return work()
    return int(_current.pass_through(operation, work, fail, half))


def _open(vfs: Any, name: int | None, file: int, flags: int, out: Any) -> int:
    def work() -> int:
        code = _default.contents.xOpen(ctypes.addressof(_default.contents), name, file, flags, out)
        methods = _Pointer.from_address(file)  # the first field of a file
        if code == OK and methods.value:
            _paths[file] = path
            methods.value = ctypes.addressof(_ours(methods.value))
        return int(code)

    path = os.fsdecode(ctypes.string_at(name)) if name else ""
    if not flags & OPEN_CREATE or os.path.exists(path):
        return work()
    _Pointer.from_address(file).value = None  # a file that was not opened has no methods
    return _sqlite(Operation("open", path, "sqlite"), work)


def _delete(vfs: Any, name: bytes, directory: int) -> int:
    return _sqlite(
        Operation("delete", os.fsdecode(name), "sqlite"),
        lambda: _default.contents.xDelete(ctypes.addressof(_default.contents), name, directory),
    )


def _ours(address: int) -> _Methods:
    """A table of functions with those replaced that write."""
    if address in _tables:
        return _tables[address]
    real = _Methods.from_address(address)
    copy = _Methods.from_buffer_copy(real)

    def write(file: int, buffer: int, amount: int, offset: int) -> int:
        data = ctypes.string_at(buffer, amount)
        return _sqlite(
            Operation("write", _paths[file], "sqlite", offset, data),
            lambda: real.xWrite(file, buffer, amount, offset),
            lambda: real.xWrite(file, buffer, amount // 2, offset),
        )

    def truncate(file: int, size: int) -> int:
        operation = Operation("truncate", _paths[file], "sqlite", size)
        return _sqlite(operation, lambda: real.xTruncate(file, size))

    def sync(file: int, flags: int) -> int:
        return _sqlite(Operation("sync", _paths[file], "sqlite"), lambda: real.xSync(file, flags))

    def share(file: int, page: int, size: int, extend: int, out: int) -> int:
        def work() -> int:
            return int(real.xShmMap(file, page, size, extend, out))

        if not extend:
            return work()
        return _sqlite(Operation("share", _paths[file] + "-shm", "sqlite"), work)

    copy.xWrite, copy.xTruncate = _XWrite(write), _XTruncate(truncate)
    copy.xSync, copy.xShmMap = _XSync(sync), _XShmMap(share)
    return _tables.setdefault(address, copy)


_vfs = _Vfs.from_buffer_copy(_default.contents)
_vfs.zName, _vfs.pNext = b"faults", None
_vfs.xOpen, _vfs.xDelete = _XOpen(_open), _XDelete(_delete)
