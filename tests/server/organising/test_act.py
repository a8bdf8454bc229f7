"""An act of the organisers: its form and its operation are made from one declaration."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import pytest
from django import forms
from ninja import Field, NinjaAPI, Router

from tracecup.server.access import Actor, Role
from tracecup.server.organising.act import CONTEST, Acts, At, Done, Route, in_zone
from tracecup.server.organising.given import Number, Shown, Why, form_of
from tracecup.server.organising.pages import DECLARED
from tracecup.server.web.context import Place

pytestmark = pytest.mark.django_db


class Party(Why):
    """A party of the teams."""

    title: Annotated[str, Shown("Title")] = Field(min_length=1, max_length=20)
    guests: Annotated[int, Shown("Guests")] = Field(4, ge=2, le=9)
    until: Annotated[datetime | None, Shown("Until")] = None
    loud: Annotated[bool, Shown("Loud")] = True
    songs: Annotated[list[str] | None, Shown("Songs")] = None


ACTS = Acts()


@ACTS.act("run", Route("POST", CONTEST + "/parties/{int:number}"), name="feast")
def party(at: At, body: Party, number: Number) -> Done:
    """Have a party."""
    return Done(f"{body.title} {body.guests} {body.loud} {body.songs} {number}")


@pytest.fixture
def place(contest, final, organiser):
    return Place(Role(contest, organiser, organiser=True), final, datetime.now().astimezone())


@pytest.fixture
def filled(place):
    """The form of the party with these values."""

    def make(**values):
        return ACTS.on("run")["feast"].form(values, place=place)

    return make


class TestForm:
    def test_fields_of_address_and_body_the_reason_last(self, filled):
        kinds = {name: type(field) for name, field in filled().fields.items()}
        assert list(kinds) == ["id", "title", "guests", "until", "loud", "songs", "why"]
        assert kinds["guests"] is forms.IntegerField
        assert kinds["until"] is forms.DateTimeField

    def test_limits_are_those_of_the_body(self, filled):
        form = filled(id=1, title="x" * 21, guests=10, why="")
        assert set(form.errors) == {"title", "guests", "why"}

    def test_what_is_left_empty_is_the_default(self, filled, place):
        form = filled(id=7, title="Rain", guests=4, songs="a\nb", why="because")
        assert form.is_valid()
        at = At(place.role, place.round, Actor(None), "")
        done = ACTS.on("run")["feast"].from_page(at, form.cleaned_data)
        assert done.message == "Rain 4 False ['a', 'b'] 7"

    def test_an_act_without_a_body(self):
        assert list(form_of(None, {"number": Number}).base_fields) == ["id"]


class TestRoute:
    def test_the_document_names_address_and_body(self):
        router, api = Router(), NinjaAPI(urls_namespace="parties")
        ACTS.add_routes(router, __name__)
        api.add_router("", router)
        document = api.get_openapi_schema(path_prefix="/")
        operation = document["paths"]["/contests/{slug}/parties/{number}"]["post"]
        assert operation["description"] == "Have a party."
        assert [one["name"] for one in operation["parameters"]] == ["slug", "number"]
        assert "title" in document["components"]["schemas"]["Party"]["properties"]

    def test_instants_without_an_offset_are_in_the_contests_zone(self, contest):
        body = Party(title="x", why="y", until=datetime(2030, 1, 1, 12))
        assert in_zone(body, contest).until.tzinfo == contest.rules.tzinfo


class TestDeclared:
    def test_no_page_has_two_acts_of_a_name(self):
        for page in ("run", "run-teams", "run-settings", "run-scores", "run-texts"):
            names = [name for acts in DECLARED for name in acts.on(page)]
            assert len(names) == len(set(names))
