"""Methods from a file of your own: `my.py` or `my.py:Class`, known by name in this process.

What the file registers is known; a class without a name gets that of the class.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import traceback
from dataclasses import is_dataclass
from os import fspath
from pathlib import Path
from types import ModuleType

from tracecup.checks.suite import kind_of
from tracecup.errors import InvalidParameter, TraceCupError, UnreadableFile
from tracecup.front.data import PathName
from tracecup.registry import Method, nearest, register

_CLASS = re.compile(r"(.+\.py):([A-Za-z_]\w*)", re.ASCII)


def load_plugin(where: PathName) -> list[type[Method]]:
    """Import the file and make its methods known; they are returned, in the order of the file.

    `my.py:Class` takes that class alone and is an error where the file has none of that name. The
    folder of the file is on the search path, so that it may import its neighbours. A file is
    run once, however often it is asked for.
    """
    found = _CLASS.fullmatch(fspath(where))
    path = Path(found[1] if found else where)
    module = _imported(path)
    own = [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, Method)
        and value.__module__ == module.__name__
    ]
    if found:
        chosen = [cls for cls in own if cls.__name__ == found[2]]
        if not chosen:
            names = [cls.__name__ for cls in own]
            raise InvalidParameter(
                f"{path.name} has no method {found[2]!r}{nearest(found[2], names)} "
                f"(methods in it: {', '.join(names) or 'none'})"
            )
        own = chosen
    own = [cls for cls in own if cls.name or is_dataclass(cls)]
    if not own:
        raise InvalidParameter(
            f"{path.name} defines no method: put @tc.obfuscator or @tc.attack above a function, "
            "or @register(...) above a class"
        )
    for cls in own:
        if not cls.name:
            said = (cls.__doc__ or cls.__name__).strip().splitlines()[0]
            register(kind_of(cls).kind, cls.__name__, said)(cls)
    return own


def _imported(path: Path) -> ModuleType:
    """The file as a module, under the name of the file if that is free."""
    whole = path.resolve()
    if path.suffix != ".py":
        raise InvalidParameter(f"a plug-in is a file my.py or my.py:Class, got {path.name!r}")
    if not whole.is_file():
        raise UnreadableFile(path, "no such file")
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(whole) and module.__name__ != "__main__":
            return module
    name = whole.stem if _is_free(whole.stem) else f"tracecup_plugin_{whole.stem}"
    spec = importlib.util.spec_from_file_location(name, whole)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(whole.parent))
    try:
        spec.loader.exec_module(module)
    # Other people's files may fail in any way, even by leaving the program.
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                 if frame.filename == str(whole)]  # fmt: skip
        at = f" (line {lines[-1]})" if lines else ""
        raise TraceCupError(
            f"{path.name} cannot be imported: {type(error).__name__}: {error}{at}"
        ) from error
    return module


def _is_free(name: str) -> bool:
    return (
        name.isidentifier()
        and name not in sys.modules
        and name not in sys.stdlib_module_names
        and importlib.util.find_spec(name) is None
    )
