"""Stand-ins for packages that read files, on a machine with a GPU that lacks them.

Importing this module puts them, and this tree's package, in the way of the imports that follow.
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

READERS = ("pyarrow", "zstandard")


class _Absent(ModuleType):
    """A package that reads files, which nothing here does, on a machine that lacks it."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})


class _StandIns(MetaPathFinder, Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.partition(".")[0] in READERS else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to do."""


sys.meta_path.append(_StandIns())
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
