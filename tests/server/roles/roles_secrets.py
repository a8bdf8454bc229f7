"""The secrets of the contest, phase by phase: how they look, and who may see them when.

What anybody else gets to see of them, in a body, a header, an archive or a log line, is a leak.
"""

from __future__ import annotations

import re

from roles_asking import Secret
from roles_world import World

from tracecup.contest.entries import Entry
from tracecup.server.models import (
    ApiToken,
    OneTimeLink,
    Person,
    Release,
    ResultSet,
    StoredFile,
    Submission,
)

EVERYBODY = ("nobody", "other", "own", "organiser", "elsewhere", "staff")
PLANTED = {"own": 0.7321948516, "other": 0.8435729614, "third": 0.6947382915}
"""Scores of attacks while nobody may know them; the numbers occur nowhere else."""
PLANTED_UTILITY = {"own": 0.9753124682, "other": 0.9864235791, "third": 0.9642013577}
PLANTED_SAMPLE, PLANTED_DRAFT, PLANTED_FROZEN = 0.5836914725, 0.5173920648, 0.3692581479


def secrets_of(world: World, phase: str) -> list[Secret]:
    """The secrets of a phase; plants some of them."""
    found = [*_always(world, phase), *_of_teams(world, phase)]
    if phase in ("anonymize", "judge", "attack", "hidden"):
        found += _planted(world, phase)
    if phase == "results":
        found += _draft(world, phase)
    elif phase == "frozen":
        found += _frozen(world, phase)
    else:
        found += _until_results(world, phase)
    if phase == "hidden":
        inside = ("own", "other", "organiser")
        found.append(Secret("hidden contest", phase, (b"Spring contest",), inside))
    return found


def _always(world: World, phase: str) -> list[Secret]:
    """What nobody sees, ever."""
    hashes = [
        *Person.objects.values_list("password", flat=True),
        *ApiToken.objects.values_list("token_hash", flat=True),
        *OneTimeLink.objects.values_list("token_hash", flat=True),
    ]
    return [
        Secret("seed", phase, (world.contest.seed.encode(),)),
        Secret("stored hash", phase, tuple(one.encode() for one in hashes)),
        Secret("token", phase, tuple(secret.encode() for _, secret in world.tokens.values())),
        Secret("session key", phase, tuple(key.encode() for key in world.sessions.values())),
    ]


def _of_teams(world: World, phase: str) -> list[Secret]:
    """What a team shares with the organisers alone."""
    found = []
    for role, team in world.teams.items():
        inside = (role, "organiser")
        receipts = Submission.objects.filter(team=team).values_list("receipt", flat=True)
        found += [
            Secret("join code", phase, (team.join_code.encode(),), inside),
            Secret("receipt", phase, tuple(one.encode() for one in receipts), inside),
            Secret("e-mail", phase, (f"{role}@mail.example".encode(),), inside),
            Secret("news for one team", phase, (f"News for {team.name}".encode(),), inside),
            Secret("method without consent", phase, (f"Method of {role}".encode(),), inside),
        ]
    return found


def _until_results(world: World, phase: str) -> list[Secret]:
    """What the judge keeps until the results are out: originals, ID tables, nonces."""
    found = []
    for role, team in world.teams.items():
        entry = Entry(team.number)
        for kind, inside in (("orgtraces", (role,)), ("ptable", ())):
            file = StoredFile.objects.filter(round=world.round, name=entry.file(kind)).first()
            if file is None:
                continue
            text = world.file(file.name)
            needles = (_middle(text), file.sha256.encode())
            if kind == "ptable":
                needles += _columns(text)
            found.append(Secret(f"{kind} of {role}", phase, needles, inside))
        opening = (
            StoredFile.objects.filter(
                round=world.round, kind="opening", entry_team=team.number
            ).first()
            or StoredFile.objects.filter(round=world.round, kind="opening", team=team).first()
        )
        if opening is not None:
            nonce = re.search(rb"nonce ([0-9a-f]{64})", world.file(opening.name))
            # The SHA-256 of the opening is the commitment, which everybody gets.
            found.append(Secret(f"nonce of {role}", phase, (nonce[1],)))
    return found


def _planted(world: World, phase: str) -> list[Secret]:
    """Utilities of others and scores of attacks, with numbers that are told apart."""
    found = []
    for role, team in world.teams.items():
        utility, score = PLANTED_UTILITY[role], PLANTED[role]
        releases = Submission.objects.filter(team=team, kind="release", score__isnull=False)
        releases.update(score=utility, low=utility, high=utility)
        answers = Submission.objects.filter(team=team, score__isnull=False).exclude(kind="release")
        answers.update(score=score, low=score, high=score)
        Release.objects.filter(team=team).update(utility=utility)
        found.append(Secret(f"utility of {role}", phase, _number(utility), (role, "organiser")))
        found.append(Secret(f"score of {role}", phase, _number(score), ("organiser",)))
    for release in Release.objects.filter(round=world.round):
        release.scores = {
            column: {**told, "score": PLANTED_SAMPLE, "low": PLANTED_SAMPLE, "high": PLANTED_SAMPLE}
            for column, told in release.scores.items()
        }
        release.save()
    found.append(Secret("score of a sample attack", phase, _number(PLANTED_SAMPLE), ("organiser",)))
    return found


def _draft(world: World, phase: str) -> list[Secret]:
    """A new result set that is not published, beside the one that is."""
    out = ResultSet.objects.filter(round=world.round, state="published").get()
    utility = out.tables["releases"]["utility"]
    tables = {**out.tables, "releases": {**out.tables["releases"]}}
    tables["releases"]["utility"] = [PLANTED_DRAFT for _ in utility]
    ResultSet.objects.create(
        round=world.round,
        number=out.number + 1,
        state="draft",
        reason="Why we count again",
        scorer=out.scorer,
        inputs_sha256=out.inputs_sha256,
        seconds=1.0,
        tables=tables,
        summary=out.summary,
        created_at=out.created_at,
    )
    return [
        Secret(
            "draft of results",
            phase,
            (*_number(PLANTED_DRAFT), b"Why we count again"),
            ("organiser",),
        )
    ]


def _frozen(world: World, phase: str) -> list[Secret]:
    """The scores of the published results, while their boards are frozen."""
    out = ResultSet.objects.filter(round=world.round, state="published").get()
    out.tables = {
        name: {
            column: [PLANTED_FROZEN if isinstance(one, float) else one for one in values]
            for column, values in table.items()
        }
        for name, table in out.tables.items()
    }
    out.save()
    answers = Submission.objects.filter(round=world.round, score__isnull=False)
    answers.exclude(kind="release").update(score=PLANTED_FROZEN)
    return [Secret("score of a frozen board", phase, _number(PLANTED_FROZEN), ("organiser",))]


def _number(value: float) -> tuple[bytes, ...]:
    """A number as pages may round it: 0.7321948516, 0.7322, 0.732, 73.2 %."""
    places = [f"{value:.{digits}f}" for digits in (3, 4, 6)] + [str(value)[:8]]
    return tuple(one.encode() for one in (*places, f"{100 * value:.1f} %", f"{100 * value:.1f}%"))


def _middle(text: bytes) -> bytes:
    """Six lines from the middle of a file."""
    lines = text.splitlines(keepends=True)
    at = len(lines) // 2
    return b"".join(lines[at : at + 6])


def _columns(text: bytes) -> tuple[bytes, ...]:
    """A column of an ID table as JSON would list it."""
    rows = [line.split(b",") for line in text.splitlines()[1:]]
    found = []
    for column in zip(*rows, strict=True):
        values = column[4:14]
        if list(values) != sorted(values, key=int):
            found += [b",".join(values), b", ".join(values)]
    return tuple(found)
