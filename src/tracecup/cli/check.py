"""`tracecup check`: does a method of one's own keep what contest and studies rely on?

Imports a class, runs the contract tests of its kind and says what to mend.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli.common import Json, emit

if TYPE_CHECKING:
    from types import ModuleType

    from tracecup.registry import Method

SPELLING = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)", re.ASCII)


def check(
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:CLASS",
            help="Class to check, or my.py:name; modules of the current folder are found.",
            show_default=False,
        ),
    ],
    params: Annotated[
        str | None,
        typer.Option("--params", help='Parameters to check it with, like "KMeans(5)"; defaults.'),
    ] = None,
    as_json: Json = False,
) -> int:
    """Run the contract tests on an obfuscation, an attack or a synthesizer of your own.

    Input untouched, users and clock kept, same seed same bytes on one and two threads, odd
    grids, one user, deleted cells, parameters out of range, and more. Leaves with 1 if one
    fails. The class is imported and run: check only code that you trust.

    Example: `tracecup check my_attack.py:CosineR --params "Cosine-R(0.7)"`
    """
    from tracecup.checks import check_method
    from tracecup.checks.suite import kind_of

    cls = load_class(target)
    kind = kind_of(cls).kind
    method = cls if params is None else _with_parameters(cls, params)
    results = check_method(method)
    failed = [result for result in results if not result.passed]
    table = Table(title=f"{target} ({kind})", title_justify="left", title_style="bold")
    table.add_column("check")
    table.add_column("")
    table.add_column("what to do", overflow="fold")
    for result in results:
        verdict = "[green]ok[/green]" if result.passed else "[bold red]no[/bold red]"
        table.add_row(escape(result.name), verdict, escape(result.message))
    payload: dict[str, Any] = {
        "target": target,
        "kind": kind,
        "params": params,
        "passed": not failed,
        "checks": [vars(result) for result in results],
    }
    emit(as_json, payload, table)
    return 1 if failed else 0


def load_class(target: str) -> type[Method]:
    """The class of `module:Class`; the current folder comes first on the search path."""
    from tracecup.errors import InvalidParameter
    from tracecup.front.plugins import load_plugin
    from tracecup.registry import Method, nearest

    if target.partition(":")[0].endswith(".py"):
        held = load_plugin(target)
        if len(held) > 1:
            names = ", ".join(cls.__name__ for cls in held)
            raise InvalidParameter(f"{target} holds several methods, say which: {names}")
        return held[0]
    found = SPELLING.fullmatch(target)
    if found is None:
        raise InvalidParameter(
            "a class is written module:Class, package.module:Class or folder/my.py:Class; "
            f"got {target[:80]!r}"
        )
    module = _load_module(found[1])
    cls = getattr(module, found[2], None)
    if cls is None:
        classes = [
            name
            for name, value in vars(module).items()
            if inspect.isclass(value)
            and issubclass(value, Method)
            and (value.name or value.__module__ == module.__name__)
        ]
        raise InvalidParameter(
            f"module {found[1]} has no {found[2]!r}{nearest(found[2], classes)} "
            f"(methods in it: {', '.join(sorted(classes)) or 'none'})"
        )
    if not (inspect.isclass(cls) and issubclass(cls, Method)):
        raise InvalidParameter(
            f"{target} is no method: derive the class from Obfuscator, ReidAttack, "
            "InferenceAttack or Synthesizer"
        )
    return cls


def _load_module(name: str) -> ModuleType:
    from tracecup.errors import InvalidParameter, TraceCupError
    from tracecup.registry import nearest

    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    # Other people's modules may fail in any way, even by leaving the program.
    except (Exception, SystemExit) as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name
        if missing and (name == missing or name.startswith(f"{missing}.")):
            around = [path.stem for path in Path.cwd().glob("*.py")]
            raise InvalidParameter(
                f"no module {missing!r} in the current folder or installed{nearest(name, around)}"
            ) from None
        raise TraceCupError(
            f"module {name} cannot be imported: {type(error).__name__}: {error}{_line(error, name)}"
        ) from None


def _line(error: BaseException, name: str) -> str:
    """Where in the module it happened, if it was there."""
    spec = find_spec(name.split(".", maxsplit=1)[0])
    folder = Path(spec.origin).parent if spec and spec.origin else None
    trace, line = error.__traceback__, ""
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if folder is not None and file.is_relative_to(folder):
            line = f" ({file.name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return line


def _with_parameters(cls: type[Method], params: str) -> Method:
    from tracecup.errors import InvalidParameter
    from tracecup.registry import build, split_name

    name = split_name(params)[0].lower()
    if name not in (cls.name.lower(), cls.__name__.lower()):
        raise InvalidParameter(
            f"--params is written {cls.name or cls.__name__}(...) for this class, got {params!r}"
        )
    return build(cls, params)
