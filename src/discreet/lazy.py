"""Names of a package that are loaded on first use, and a property that is computed once.

The one in Python 3.11 holds a lock, shared by all instances, while it computes. A child process
that is forked while another thread computes inherits it locked and waits for ever. Without the
lock two threads may compute the same value twice, which does no harm.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


def on_first_use(
    package: str, homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package; ``homes`` are its modules, each
    with the names that are loaded from it."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    known = sorted(home_of)

    def load(name: str) -> object:
        if name not in home_of:
            from discreet.hints import unknown

            raise unknown(package, name, known)
        found = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, found)  # found at once from now on
        return found

    return known, load, lambda: known


class cached_property(Generic[T]):  # noqa: N801  (a drop-in for functools.cached_property)
    """Computed on first use and kept in the instance, where it is found from then on.

    >>> class Answer:
    ...     @cached_property
    ...     def value(self):
    ...         print("computed")
    ...         return 42
    >>> answer = Answer()
    >>> answer.value, answer.value
    computed
    (42, 42)
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Self | T:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value
