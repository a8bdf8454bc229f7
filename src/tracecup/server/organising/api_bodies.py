"""What the organisers' API takes and gives back, apart from the data of pages.

Lengths and ranges stand in the OpenAPI document; what they mean is checked by the services.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from ninja import Field, Schema

MAX_WHY, MAX_RULES = 2000, 256 * 1024


class Why(Schema):
    """The reason; it stands in the log."""

    why: str = Field(min_length=1, max_length=MAX_WHY)


class NewContest(Schema):
    """A contest to be made; without rules it has the paper's."""

    name: str = Field(min_length=1, max_length=200)
    slug: str = Field(min_length=1, max_length=60, pattern=r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$")
    rules: str | None = Field(None, max_length=MAX_RULES)
    is_public: bool = False
    divisions: list[Annotated[str, Field(max_length=80)]] = Field([], max_length=20)


class Clone(Schema):
    """A contest with the same rules; `starts` is when its first phase begins."""

    name: str = Field(min_length=1, max_length=200)
    slug: str = Field(min_length=1, max_length=60, pattern=r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$")
    starts: datetime | None = None
    with_teams: bool = False


class Made(Schema):
    """A contest that was made or brought back."""

    slug: str
    name: str


class RulesText(Schema):
    """A text of `contest.toml`."""

    text: str = Field(max_length=MAX_RULES)


class RulesChange(RulesText, Why):
    """New rules; `version` is the one they were made from."""

    version: int | None = Field(None, ge=1, le=2**31 - 1)


class Details(Schema):
    """What is not a rule; what is left out stays as it is."""

    is_public: bool | None = None
    join_open: bool | None = None
    divisions: list[Annotated[str, Field(max_length=80)]] | None = Field(None, max_length=20)


class Resume(Why):
    """`shift` moves all that lies ahead by the length of the pause."""

    shift: bool = True


class Shifted(Schema):
    """By how many seconds everything ahead was moved."""

    seconds: float


class Deadline(Why):
    """Another end of a phase (anonymize, attack); with `follow` all later instants move along."""

    phase: str = Field(pattern="^(anonymize|attack)$")
    until: datetime
    follow: bool = True


class PhaseTimes(Why):
    """When the phases of a round begin; without an offset in the contest's zone."""

    announce: datetime
    anonymize: datetime
    judge: datetime
    attack: datetime
    results: datetime


class Move(Schema):
    """How far to move the clock of a demo."""

    seconds: float = Field(ge=-3.2e8, le=3.2e8)


class Now(Schema):
    """The time on the contest's clock."""

    now: datetime


class Message(Schema):
    """An announcement; to one team by its number, else to all."""

    title: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1, max_length=20_000)
    team: int | None = Field(None, ge=1, le=999)
    mail: bool = True


class AppealsWindow(Why):
    """Until when teams may appeal; None closes the window."""

    until: datetime | None = None


class AppealText(Schema):
    """What a team says against a decision."""

    text: str = Field(min_length=1, max_length=20_000)


class AppealAnswer(Schema):
    """The organisers' answer."""

    answer: str = Field(min_length=1, max_length=MAX_WHY)
    accepted: bool


class StatusChange(Why):
    """active, withdrawn or disqualified."""

    status: str = Field(pattern="^(active|withdrawn|disqualified)$")


class NewExtension(Why):
    """More time or tries of one team in one phase (anonymize, attack)."""

    phase: str = Field(pattern="^(anonymize|attack)$")
    until: datetime | None = None
    extra_tries: int = Field(0, ge=0, le=1000)


class RehearsalSize(Schema):
    """How many bots and users."""

    teams: int = Field(4, ge=2, le=21)
    users: int = Field(30, ge=10, le=500)
