"""`tracecup methods`: every known obfuscation, attack and synthesizer, plug-ins included.

How each is written, what it does, which parameters it takes, what it promises by proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from tracecup.cli.common import Json, Plugin, emit

if TYPE_CHECKING:
    from tracecup.registry import Kind, Method, Parameter

HEADINGS: dict[Kind, str] = {
    "obfuscator": "Obfuscations",
    "reid": "Re-identification attacks",
    "inference": "Trace-inference attacks",
    "synthesizer": "Synthesizers",
    "measure": "Measures",
}


def methods(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help="obfuscator, reid, inference, synthesizer or measure; or a method like 'PL(4,1)'.",
        ),
    ] = None,
    events: Annotated[
        int, typer.Option("--events", min=1, help="Length of a trace, for what is promised.")
    ] = 400,
    plugin: Plugin = None,
    as_json: Json = False,
) -> int:
    """List the methods by name: parameters, what they do, what they promise by proof.

    With a kind or a method: also what each parameter means, its allowed range, and the source.
    A promise holds for the parameters shown. Methods of other packages are listed as soon as
    they are installed.

    Example: `tracecup methods "PL(4,1)"`
    """
    listed = chosen(what)
    table = Table.grid()
    for kind, heading in HEADINGS.items():
        of_kind = [method for method in listed if type(method).kind == kind]
        if of_kind:
            table.add_row(Padding(f"[bold underline]{heading}[/bold underline] ({kind})", (1, 0)))
        for method in of_kind:
            title = f"[bold]{escape(signature(method))}[/bold]: {escape(type(method).summary)}"
            table.add_row(title)
            for line in _details(method, events, everything=what is not None):
                table.add_row(Padding(line, (0, 0, 0, 4)))
    if what is None:
        table.add_row("\n`tracecup methods KIND` or `tracecup methods NAME` tells more.")
    emit(as_json, {"events": events, "methods": [_payload(m, events) for m in listed]}, table)
    return 0


def chosen(what: str | None) -> list[Method]:
    """The methods of a kind, all of them, or the one that is named."""
    from tracecup import registry
    from tracecup.errors import UnknownMethod

    kinds = [kind for kind in registry.KINDS if what is None or kind == what.strip().lower()]
    if kinds:
        classes = [cls for kind in kinds for _, cls in sorted(registry.methods(kind).items())]
        return [cls() for cls in classes]
    name = registry.split_name(what or "")[0]
    every = {kind: registry.methods(kind) for kind in registry.KINDS}
    found = [
        registry.parse(kind, what or "")
        for kind, known in every.items()
        if name.lower() in {n.lower() for n in known}
    ]
    if not found:
        known = [*registry.KINDS, *(n for by_name in every.values() for n in by_name)]
        raise UnknownMethod(
            f"no kind and no method is called {name!r}{registry.nearest(name, known)} "
            f"(kinds: {', '.join(registry.KINDS)})"
        )
    return found


def signature(method: Method) -> str:
    """A method with the names and values of its positional parameters; dots for keywords.

    >>> from tracecup.obfuscate import PlanarLaplace
    >>> signature(PlanarLaplace(4.0, 1.0))
    'PL(l=4,r=1,...)'
    """
    rules = method.parameters()
    words = [_given(method, rule) for rule in rules if rule.positional]
    words += ["..."] if len(words) < len(rules) else []
    return f"{method.name}({','.join(words)})" if words else method.name


def _given(method: Method, rule: Parameter) -> str:
    from tracecup.registry import spell

    return f"{rule.name}={spell(getattr(method, rule.attribute))}"


def _details(method: Method, events: int, everything: bool) -> list[str]:
    lines = [
        f"[cyan]{escape(_given(method, rule))}[/cyan]: {escape(f'{rule.meaning}; {rule.allowed}')}"
        for rule in method.parameters()
        if everything
    ]
    promise, citation = method.guarantee(events), type(method).citation
    if promise:
        lines.append(f"[green]promise by proof[/green]: {escape(promise)}")
    return [*lines, f"[dim]{escape(citation)}[/dim]"] if everything and citation else lines


def _payload(method: Method, events: int) -> dict[str, Any]:
    cls = type(method)
    return {
        "name": cls.name,
        "kind": cls.kind,
        "written": str(method),
        "summary": cls.summary,
        "citation": cls.citation,
        "guarantee": method.guarantee(events),
        "module": cls.__module__,
        "parameters": [
            {
                "name": rule.name,
                "value": getattr(method, rule.attribute),
                "default": rule.default,
                "meaning": rule.meaning,
                "allowed": rule.allowed,
                "positional": rule.positional,
            }
            for rule in method.parameters()
        ],
    }
