"""An act of the organisers, declared once: what it takes, what it does, what it says afterwards.

The form of its page, its route, its part of the API's document and so the rows of the table of
roles are made from the declaration.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_type_hints

from django.http import HttpRequest
from ninja import Router, Schema, Status

from tracecup.server.access import Actor, Role
from tracecup.server.errors import not_found
from tracecup.server.models import Contest, Round
from tracecup.server.organising.given import ActForm, form_of
from tracecup.server.people.asking import RoundName, organiser_of, round_in
from tracecup.server.people.auth import actor_of
from tracecup.server.people.pages import site_of
from tracecup.server.web.context import Place

CONTEST = "/contests/{slug}"
ROUND = CONTEST + "/rounds/{name}"


@dataclass(frozen=True)
class At:
    """Where an act happens and who does it; `site` is the site's address, for letters."""

    role: Role
    round: Round | None
    actor: Actor
    site: str

    @property
    def contest(self) -> Contest:
        return self.role.contest

    def require_round(self) -> Round:
        """The round; a contest without rounds has none."""
        if self.round is None:
            raise not_found("round")
        return self.round


@dataclass(frozen=True)
class Done:
    """What an act says afterwards: a sentence on the page, `answer` in the API.

    What is `shown` is shown once, on the very page; `goto` is the contest or address to go to.
    """

    message: str
    answer: Callable[[], Any] = lambda: None
    shown: dict[str, Any] = field(default_factory=dict)
    goto: str = ""


@dataclass(frozen=True)
class Route:
    """Where the API has an act and what it answers: a schema, a list of such, or nothing.

    With `in_round` the address names a round.
    """

    method: Literal["POST", "PUT", "PATCH"]
    path: str
    answer: Any = None
    status: int = 200
    in_round: bool = False

    @property
    def response(self) -> dict[int, Any]:
        """Status and answer, as the router wants them."""
        return {self.status: self.answer} if self.answer else {204: None}


@dataclass(frozen=True)
class Act:
    """A function `do(at, body, **address)` with its form; the body's type is its annotation."""

    page: str
    name: str
    do: Callable[..., Done]
    route: Route | None
    body: type[Schema] | None
    address: Mapping[str, Any]
    form: type[ActForm]

    def from_page(self, at: At, values: Mapping[str, Any]) -> Done:
        """Do it with what the form holds; what was left empty is what the API takes by default."""
        given = {name: values[kind.__metadata__[0].name] for name, kind in self.address.items()}
        if self.body is None:
            return self.do(at, **given)
        said = {
            name: values[name] for name in self.body.model_fields if values.get(name) is not None
        }
        return self.do(at, self.body.model_construct(**said), **given)

    def view(self, module: str) -> Callable[..., Any]:
        """The operation of the API; its name and text are the function's."""
        route = self.route
        assert route is not None, self.name

        def asked(request: HttpRequest, slug: str, **given: Any) -> Status[Any]:
            role = organiser_of(request, slug)
            round = None
            if route.in_round:
                round = round_in(role, given.pop("name" if "{name}" in route.path else "round"))
            at = At(role, round, actor_of(request), site_of(request))
            if route.in_round:
                at.require_round()
            if self.body is None:
                done = self.do(at, **given)
            else:
                done = self.do(at, in_zone(given.pop("body"), role.contest), **given)
            return Status(next(iter(route.response)), done.answer())

        asked.__name__, asked.__doc__, asked.__module__ = (
            self.do.__name__,
            self.do.__doc__,
            module,
        )
        # A function may carry a signature (PEP 362), of which its type does not tell.
        asked.__signature__ = inspect.Signature(self._parameters(route))  # type: ignore[attr-defined]
        return asked

    def _parameters(self, route: Route) -> list[inspect.Parameter]:
        """Request, contest, what the address names, the body, and a round to choose."""
        taken: dict[str, Any] = {"request": HttpRequest, "slug": str}
        if "{name}" in route.path:
            taken["name"] = str
        taken |= {name: kind.__origin__ for name, kind in self.address.items()}
        if self.body is not None:
            taken["body"] = self.body
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        made = [inspect.Parameter(name, kind, annotation=one) for name, one in taken.items()]
        if route.in_round and "{name}" not in route.path:
            made.append(inspect.Parameter("round", kind, annotation=RoundName, default=None))
        return made


class Acts:
    """The acts of a module, in the order of their declaration."""

    def __init__(self) -> None:
        self._held: list[Act] = []

    def act(
        self,
        page: str = "",
        route: Route | None = None,
        *,
        name: str = "",
        form: type[ActForm] | None = None,
    ) -> Callable[[Callable[..., Done]], Callable[..., Done]]:
        """Declare a function as an act of a page; `name` where the page calls it otherwise."""

        def declare(do: Callable[..., Done]) -> Callable[..., Done]:
            hints = get_type_hints(do, include_extras=True)
            body, address = (
                hints.get("body"),
                {one: kind for one, kind in hints.items() if one not in ("at", "body", "return")},
            )
            made = form or form_of(body, address)
            self._held.append(Act(page, name or do.__name__, do, route, body, address, made))
            return do

        return declare

    def on(self, page: str) -> dict[str, Act]:
        """The acts of a page by name."""
        return {one.name: one for one in self._held if one.page == page}

    def add_routes(self, router: Router, module: str) -> None:
        """Have the API do what has a route."""
        for one in self._held:
            if one.route is not None:
                router.add_api_operation(
                    one.route.path,
                    [one.route.method],
                    one.view(module),
                    response=one.route.response,
                )


def in_zone(body: Schema, contest: Contest) -> Schema:
    """A body whose instants have an offset: those without are in the contest's zone."""
    late = {
        name: value.replace(tzinfo=contest.rules.tzinfo)
        for name, value in body
        if isinstance(value, datetime) and value.tzinfo is None
    }
    return body.model_copy(update=late)


def at_place(place: Place, site: str) -> At:
    """Where a page's act happens."""
    return At(place.role, place.round, place.actor, site)


def acts_on(page: str, declared: Iterable[Acts]) -> dict[str, Act]:
    """The acts of a page, from all modules that declare some."""
    return {name: act for acts in declared for name, act in acts.on(page).items()}
