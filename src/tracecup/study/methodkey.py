"""What a result depends on beside its data: the code of a method, as a short key.

Methods of tracecup are known by its version; anybody else's by source, code, closure and globals.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tracecup.obfuscate import Compose
from tracecup.registry import Method

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))
INSTALLED = tuple(
    Path(path).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_path(name))
)


class _Unknown(Exception):
    """Something that may change its meaning without a trace in any key."""


def method_key(method: Method) -> str | None:
    """A digest of everything outside tracecup that `method` runs; "" for one of tracecup's.

    Of a class or function from elsewhere, a notebook included, it holds the code of every
    function it defines or reaches (also of helpers in modules that are not installed), default
    values, the values in closures, and the globals they name. Parameters stand in the name of a
    method and belong to a result's key beside this. None where something cannot be told, such as
    an open file or an object of unknown make: then a result may not be kept.

    >>> from tracecup.obfuscate import parse_obfuscator
    >>> method_key(parse_obfuscator("PL(4,1)"))
    ''
    """
    if isinstance(method, Compose):
        stages = [method_key(stage) for stage in method.stages]
        known = [stage for stage in stages if stage is not None]
        return "+".join(known).strip("+") if len(known) == len(stages) else None
    if _is_ours(type(method).__module__):
        return ""
    digest = hashlib.sha256()
    try:
        _Walk(digest).add(type(method))
        # Fields without a declared parameter are not in the name of a method.
        _Walk(digest).add(vars(method))
    except (_Unknown, RecursionError):
        return None
    return digest.hexdigest()[:24]


@dataclasses.dataclass
class _Walk:
    """Feeds a digest with a value and all it reaches, each object once."""

    digest: Any
    seen: dict[int, int] = dataclasses.field(default_factory=dict)

    def add(self, value: Any) -> None:
        if isinstance(value, PLAIN):
            self._text(f"{type(value).__name__}:{value!r}")
            return
        if id(value) in self.seen:
            self._text(f"again:{self.seen[id(value)]}")
            return
        self.seen[id(value)] = len(self.seen)
        self._text(type(value).__qualname__)
        for part in self._parts(value):
            self.add(part)

    def _text(self, text: str) -> None:
        raw = text.encode("utf-8", "surrogatepass")
        self.digest.update(len(raw).to_bytes(8, "big") + raw)

    def _parts(self, value: Any) -> Iterator[Any]:
        """What a value is made of; each kind in its own way."""
        if isinstance(value, FunctionType):
            yield from self._of_function(value)
        elif isinstance(value, MethodType):
            yield from (value.__func__, value.__self__)
        elif isinstance(value, CodeType):
            yield from (value.co_code, value.co_consts, value.co_names, value.co_varnames)
        elif isinstance(value, type):
            yield from self._of_class(value)
        elif isinstance(value, ModuleType):
            yield _module_key(value)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            yield from (str(value.dtype), value.shape, value.tobytes())
        elif isinstance(value, np.generic | np.dtype | np.ufunc):
            yield repr(value)
        elif isinstance(value, tuple | list):
            yield from value
        elif isinstance(value, set | frozenset):
            yield from sorted(value, key=repr)
        elif isinstance(value, dict):
            yield from value.items()
        else:
            yield from self._of_object(value)

    def _of_function(self, value: FunctionType) -> Iterator[Any]:
        yield from (value.__module__, value.__qualname__)
        if _is_ours(value.__module__) or _is_installed(value.__module__):
            return
        with suppress(OSError, TypeError):
            yield inspect.getsource(value)
        yield from (value.__code__, value.__defaults__, value.__kwdefaults__)
        for cell in value.__closure__ or ():
            with suppress(ValueError):  # not bound yet
                yield cell.cell_contents
        for name in sorted(_names(value.__code__)):
            if name in value.__globals__:
                yield from (name, value.__globals__[name])

    def _of_class(self, value: type) -> Iterator[Any]:
        yield from (value.__module__, value.__qualname__)
        if _is_ours(value.__module__) or _is_installed(value.__module__):
            return
        yield from value.__bases__
        for name, held in sorted(vars(value).items()):
            # Python's own book-keeping, and what the dataclass made from the fields.
            kept = name in ("__init__", "__post_init__", "__call__") or not name.startswith("__")
            if kept and not name.startswith("_abc_"):
                yield name
                yield _plain_member(held)

    def _of_object(self, value: Any) -> Iterator[Any]:
        if isinstance(value, functools.partial):
            yield from (value.func, value.args, value.keywords)
        elif isinstance(value, dataclasses.Field):
            yield from (value.name, value.default, dict(value.metadata))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield type(value)
            yield from (getattr(value, field.name) for field in dataclasses.fields(value))
        elif hasattr(value, "py_func"):  # a compiled kernel
            yield value.py_func
        elif callable(value) and _is_installed(getattr(value, "__module__", None) or "?"):
            yield f"{value.__module__}.{getattr(value, '__qualname__', value)!s}"
        elif inspect.isbuiltin(value):
            yield f"{value.__module__}.{value.__qualname__}"
        elif inspect.ismemberdescriptor(value) or inspect.isgetsetdescriptor(value):
            yield value.__name__
        else:
            raise _Unknown(type(value).__qualname__)


def _plain_member(held: Any) -> Any:
    """What stands behind a member of a class."""
    if isinstance(held, staticmethod | classmethod):
        return held.__func__
    if isinstance(held, property):
        return (held.fget, held.fset)
    if isinstance(held, functools.cached_property):
        return held.func
    return held


def _names(code: CodeType) -> set[str]:
    """All global names that a function or the functions inside it may look up."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found


def _module_key(module: ModuleType) -> str:
    """The name of ours and installed ones; of others also what their file holds."""
    name = module.__name__
    if _is_ours(name) or _is_installed(name):
        return name
    with suppress(OSError, TypeError):
        return f"{name}:{hashlib.sha256(inspect.getsource(module).encode()).hexdigest()}"
    raise _Unknown(name)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "tracecup"


def _is_installed(name: str) -> bool:
    """Whether a module is Python's or was installed, so that nobody edits it between two runs."""
    top = name.partition(".")[0]
    if top == "__main__":  # a script or a notebook, whatever runs it
        return False
    if top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return False
    path = Path(file).resolve()
    return any(path.is_relative_to(folder) for folder in INSTALLED)
