"""Rooms that are verbs as well: `tracecup.attack` holds the attacks, and `tc.attack(...)` attacks.

Python binds a sub-package to its name in the package above, so both have to be the same object.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

FRONT = "tracecup.front.releases"


class VerbRoom(ModuleType):
    """A package that can be called: the verb of the same name in the front door does the work."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the front door has under the room's name, with these arguments."""
        # By name, since rooms may not import the front door.
        front = importlib.import_module(FRONT)
        return getattr(front, self.__name__.rpartition(".")[2])(*args, **options)


def also_a_verb(name: str) -> None:
    """Let the package of that name be called; a package says so of itself, in its last line."""
    sys.modules[name].__class__ = VerbRoom
