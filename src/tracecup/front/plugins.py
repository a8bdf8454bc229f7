"""Methods from a file of your own: `my.py` or `my.py:Class`, known by name in this process.

What the file registers is known; a class without a name gets that of the class. For workers that
do not see the file its source travels (`shipped`).
"""

from __future__ import annotations

import atexit
import importlib.util
import inspect
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, is_dataclass
from functools import partial
from os import fspath
from pathlib import Path
from threading import Lock
from types import ModuleType

from tracecup.checks.suite import kind_of
from tracecup.errors import InvalidParameter, TraceCupError, UnreadableFile
from tracecup.front.data import PathName
from tracecup.registry import Method, nearest, register

_CLASS = re.compile(r"(.+\.py):([A-Za-z_]\w*)", re.ASCII)


@dataclass(frozen=True)
class Source:
    """A plug-in to be loaded elsewhere: how it is asked for, its module, and the files it needs.

    `files` are pairs of a path, relative to the plug-in's folder, and a text.
    """

    asked: str
    module: str
    files: tuple[tuple[str, str], ...]


_installed: dict[str, tuple[Source, Path]] = {}
_installing = Lock()


def shipped(plugins: Iterable[str] | None) -> Callable[[], object] | None:
    """What makes plug-ins known in another process, as `tracecup.jobs.engine` takes it.

    Their sources travel, with those of the neighbours that they imported; None without plug-ins.
    """
    sources = tuple(_source(one) for one in plugins or ())
    return partial(install, sources) if sources else None


def install(sources: Iterable[Source]) -> None:
    """Load plug-ins from their sources, once in a process and again when a source has changed."""
    with _installing:
        for source in sources:
            known, before = _installed.get(source.module, (None, Path()))
            if known == source:
                continue
            if known is not None:
                _forget(before)
            folder = Path(tempfile.mkdtemp(prefix="tracecup-plugin-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            for name, text in source.files:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            load_plugin(str(folder / source.asked), source.module)
            _installed[source.module] = source, folder


def _forget(folder: Path) -> None:
    """Take away the modules of a folder: workers live longer than an edited file."""
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").is_relative_to(folder):
            del sys.modules[name]
    sys.path[:] = [path for path in sys.path if path != str(folder)]


def load_plugin(where: PathName, called: str = "") -> list[type[Method]]:
    """Import the file and make its methods known; they are returned, in the order of the file.

    `my.py:Class` takes that class alone and is an error where the file has none of that name. The
    folder of the file is on the search path, so that it may import its neighbours. A file is
    run once, however often it is asked for. `called` is its module's name where that is known.
    """
    found = _CLASS.fullmatch(fspath(where))
    path = Path(found[1] if found else where)
    module = _imported(path, called)
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


def _source(where: str) -> Source:
    """A plug-in that is loaded here, with the modules of its folder that are loaded, too."""
    found = _CLASS.fullmatch(where)
    path = Path(found[1] if found else where).resolve()
    module, files = _imported(path), {path.name: path.read_text(encoding="utf-8")}
    for other in list(sys.modules.values()):
        file = Path(getattr(other, "__file__", None) or "/")
        if file.suffix == ".py" and file.is_relative_to(path.parent) and not _is_installed(file):
            files[file.relative_to(path.parent).as_posix()] = file.read_text(encoding="utf-8")
    asked = path.name + (f":{found[2]}" if found else "")
    return Source(asked, module.__name__, tuple(sorted(files.items())))


def _is_installed(file: Path) -> bool:
    """Whether a file belongs to an installed package, which workers have themselves."""
    own = Path(__file__).parents[1]
    return "site-packages" in file.parts or file.is_relative_to(own)


def _imported(path: Path, called: str = "") -> ModuleType:
    """The file as a module, under the name of the file if that is free, or as it is called."""
    whole = path.resolve()
    if path.suffix != ".py":
        raise InvalidParameter(f"a plug-in is a file my.py or my.py:Class, got {path.name!r}")
    if not whole.is_file():
        raise UnreadableFile(path, "no such file")
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(whole) and module.__name__ != "__main__":
            return module
    name = called or (whole.stem if _is_free(whole.stem) else f"tracecup_plugin_{whole.stem}")
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
