"""The command `tracecup`: collects the verbs and turns errors into messages and exit codes.

0 yes, 1 no (invalid file, below the floor, a difference), 2 wrong use, 3 input or output failed,
130 interrupted.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Sequence
from typing import Annotated, Any, cast

import typer
from rich.markup import escape

from tracecup import __version__, cli
from tracecup.cli.common import error_payload, people
from tracecup.errors import InvalidParameter, TraceCupError, UnknownMethod, UnreadableFile

NO, WRONG_USE, IO_FAILED, INTERRUPTED = 1, 2, 3, 130

# Typer carries its own copy of click: the base of its usage errors is not exported by name.
UsageProblem = cast(
    type[Exception],
    next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException"),
)

app = typer.Typer(
    name="tracecup",
    help="Run, play and study location-trace anonymization contests.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"tracecup {__version__}")
        raise typer.Exit


@app.callback()
def _tracecup(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Run, play and study location-trace anonymization contests.

    Each command reads and writes the contest's files; `--help` behind a command explains it with
    an example. `--json` prints one JSON object for programs.

    Exit codes: 0 the answer is yes; 1 the answer is no (invalid file, utility below the floor);
    2 wrong use; 3 a file could not be read or written; 130 interrupted.
    """


def _add_verbs() -> None:
    """Every module is a verb: the function of its name, or whatever its `add` adds."""
    for verb in sorted(module.name for module in pkgutil.iter_modules(cli.__path__)):
        if verb not in ("common", "main") and not verb.startswith("_"):
            module = importlib.import_module(f"tracecup.cli.{verb}")
            if hasattr(module, "add"):
                module.add(app)
            else:
                app.command(verb)(getattr(module, verb))


_add_verbs()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Run the command line; the exit code."""
    try:
        result = app(args=arguments, standalone_mode=False, prog_name="tracecup")
        code = result if isinstance(result, int) else 0
    except typer.Exit as leave:
        code = int(leave.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except TraceCupError as error:
        code = _report(error, arguments)
    except MemoryError as error:
        code = _report(TraceCupError(_no_memory(error)), arguments)
    except BrokenPipeError:
        sys.stderr.close()
        code = IO_FAILED
    except OSError as error:
        code = _report(UnreadableFile(str(error.filename or "output"), str(error)), arguments)
    except UsageProblem as error:
        cast(Any, error).show()
        if "--json" in arguments:
            print(json.dumps({"error": cast(Any, error).format_message()}))
        code = WRONG_USE
    if code == INTERRUPTED:  # Typer may have caught it and only tell the code
        people().print(f"interrupted{_how_to_go_on(arguments)}", soft_wrap=True)
    return code


RESUMED = ("benchmark", "reproduce", "train", "attack train", "defend train", "contest simulate")
"""Commands that keep what is finished."""


def _how_to_go_on(arguments: list[str]) -> str:
    """What to do after an interruption, for commands that keep their work."""
    words = " ".join(word for word in arguments[:2])
    kept = any(words == verb or words.startswith(f"{verb} ") for verb in RESUMED)
    return ": what is finished is kept; the same command goes on from there" if kept else ""


def _no_memory(error: MemoryError) -> str:
    """What to say where memory ends; numpy tells how large the array would have been."""
    return (
        f"memory is not enough: {str(error) or 'no more to be had'}; take fewer users, fewer "
        "threads (TRACECUP_THREADS=1) or an attack that works in blocks (docs/reference/scale.md)"
    )


def _report(error: TraceCupError, arguments: list[str]) -> int:
    for line in str(error).splitlines():
        people().print(f"[bold red]error:[/bold red] {escape(line)}", soft_wrap=True)
    if "--json" in arguments:
        print(json.dumps(error_payload(error)))
    if isinstance(error, UnreadableFile):
        return IO_FAILED
    return WRONG_USE if isinstance(error, (InvalidParameter, UnknownMethod)) else NO
