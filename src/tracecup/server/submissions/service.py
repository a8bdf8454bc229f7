"""Taking in what teams hand in: releases and answers, one by one or many in an archive.

What a page, the API and the client call; `intake` does the work for each file.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from django.conf import settings
from django.utils.translation import gettext as _

from tracecup.contest.challenges import (
    ANSWER_FILES,
    ATTACK_KINDS,
    HANDED_FILES,
    HANDED_KINDS,
    AttackKind,
)
from tracecup.contest.filenames import ContestFile, attack_file, parse_file_name, team_file
from tracecup.errors import Problem
from tracecup.safeio import MIB
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.models import Person, Round, Submission, Team
from tracecup.server.submissions.checking import Checked, check, count_check
from tracecup.server.submissions.intake import Accepted, Handed, take
from tracecup.server.submissions.unpacking import PackedFile, members
from tracecup.server.web.incoming import Source, spooled
from tracecup.server.windows import require_open

_KEY = re.compile(r"[!-~]{1,80}", re.ASCII)


@dataclass(frozen=True)
class BatchItem:
    """What became of one file of an archive: a receipt, or why it was refused."""

    name: str
    receipt: Accepted | None = None
    refused: Refused | None = None


@dataclass(frozen=True)
class BatchReceipt:
    """What became of every file of an archive."""

    items: tuple[BatchItem, ...]

    @property
    def accepted(self) -> int:
        """How many files were accepted."""
        receipts = [item.receipt for item in self.items if item.receipt]
        return sum(1 for one in receipts if one.submission.charged and not one.already)

    @property
    def already(self) -> int:
        """How many answers the team had handed in before, with the same content."""
        return sum(1 for item in self.items if item.receipt and item.receipt.already)


def check_only(
    round: Round,
    team: Team,
    kind: str,
    challenge: str,
    target: int | None,
    source: Source,
    file_name: str = "",
    person: Person | None = None,
) -> Checked:
    """Check a file as it would be checked when handed in; costs no try, keeps nothing.

    Not before the data are out: the utility of a guess tells something of the original traces.
    """
    _require_place(round, kind, challenge, target)
    _require_name(team, kind, challenge, target, file_name)
    require_open(round, "data", clock.contest_now(round.contest), team)
    with spooled(source, file_bytes(round)) as file:
        count_check(team, person)
        return check(round, team, kind, challenge, file.path)


def receive(
    round: Round,
    team: Team,
    *,
    kind: str,
    challenge: str,
    target: int | None,
    source: Source,
    file_name: str,
    key: str,
    received_at: datetime,
    actor: Actor,
    method: str = "",
    consent: bool = False,
    confirm_invalid: bool = False,
) -> Accepted:
    """Take in one file.

    A file in a wrong format gives a receipt with state `rejected`; it costs no try and its bytes
    are not kept. A contest file's name that says something else than kind, data set, target and
    team is `Refused`; other names say nothing. A release below the floor is `Refused` unless
    `confirm_invalid`; then it costs a try and is invalid. The same key with the same content gives
    the same receipt, at any time; with another content it is a conflict. An answer whose content
    stands already for the same target gives the receipt of that one (`already`), at any time.
    `received_at` is when the last byte had arrived, on the contest's clock.
    """
    handed = Handed(
        kind,
        challenge,
        target,
        file_name,
        _checked_key(key),
        received_at,
        actor,
        method,
        consent,
        confirm_invalid,
    )
    _require_place(round, kind, challenge, target)
    _require_name(team, kind, challenge, target, file_name)
    with spooled(source, file_bytes(round)) as file:
        return take(round, team, handed, file)


def receive_archive(
    round: Round,
    team: Team,
    *,
    source: Source,
    file_name: str,
    key: str,
    received_at: datetime,
    actor: Actor,
    method: str = "",
    consent: bool = False,
) -> BatchReceipt:
    """Take in a zip archive of many files; the contest's file names say what each one is.

    Every file is judged by itself: what is wrong with one does not touch the others. Answers that
    an earlier archive brought already cost nothing.
    """
    digest = hashlib.sha256(_checked_key(key).encode()).hexdigest()
    with spooled(source, settings.CONFIG.upload_bytes) as file:
        prefix = f"{digest[:16]}:"
        _require_same_archive(team, prefix, f"{prefix}{file.sha256[:16]}:")
        base = Handed(
            "",
            "",
            None,
            file_name,
            f"{prefix}{file.sha256[:16]}:",
            received_at,
            actor,
            method,
            consent,
            batch=digest[:12],
        )
        items = [
            _take_member(round, team, base, member)
            for member in members(file.path, file_bytes(round), settings.CONFIG.upload_bytes)
        ]
    return BatchReceipt(tuple(items))


def file_bytes(round: Round) -> int:
    """The largest file of a round, packed or not."""
    most: int = round.contest.rules.limits.file_mib * MIB
    return min(most, settings.CONFIG.upload_bytes)


def place_of(team: Team, name: str) -> tuple[str, str, int | None]:
    """Kind, data set and target that a contest file's name stands for; `Refused` otherwise.

    A team hands in its own obfuscated traces (`anotraces_team001_...`) and answers that name it
    as the attacker (`etable_team001-002_...`).
    """
    said = parse_file_name(name)
    if said is None or said.kind not in HANDED_FILES:
        raise Refused(
            "invalid",
            _("The name of the file does not say what it is."),
            [
                Problem(
                    0,
                    "name",
                    name[:120],
                    f"etable_team{team.number:03d}-002_data02_TRP.csv, etraces_..., "
                    f"anotraces_team{team.number:03d}_data02_TRP.csv",
                ).as_dict()
            ],
        )
    if _owner(said) != team.number:
        raise Refused(
            "invalid",
            _("The name of the file says that it is another team's."),
            found=name[:120],
            team=team.number,
        )
    target = int(said.team) if said.attacker else None
    return HANDED_FILES[said.kind], said.challenge, target


def _owner(said: ContestFile) -> int:
    return int(said.attacker or said.team)


def _require_name(team: Team, kind: str, challenge: str, target: int | None, name: str) -> None:
    """Whether a contest file is handed in for what its name says: the wrong one is soon taken.

    Originals handed in as a release, or an answer for another target, cannot be taken back.
    """
    said = parse_file_name(re.split(r"[\\/]", name)[-1])
    if said is None:
        return
    meant = (HANDED_FILES.get(said.kind), said.challenge, int(said.team), _owner(said))
    if meant == (kind, challenge, team.number if target is None else target, team.number):
        return
    data_set = cast(AttackKind, challenge)  # `_require_place` looked at it
    if target is None:
        expected = team_file("anotraces", f"{team.number:03d}", data_set)
    else:
        file = ANSWER_FILES[cast(AttackKind, kind)]
        expected = attack_file(file, f"{team.number:03d}", f"{target:03d}", data_set)
    raise Refused(
        "invalid",
        _(
            "The name of the file says that it is something else: another team's, for another "
            "data set or target, or of another kind. Choose the right file or target; if only "
            "the name is wrong, rename it. No try was charged."
        ),
        [_wrong("name", name[:120], expected)],
    )


def _take_member(round: Round, team: Team, base: Handed, member: PackedFile) -> BatchItem:
    """Judge one file of an archive by itself."""
    try:
        if member.problem:
            raise Refused("invalid", member.problem)
        kind, challenge, target = place_of(team, member.name)
        _require_place(round, kind, challenge, target)
        name_hash = hashlib.sha256(member.name.encode("utf-8", "surrogatepass")).hexdigest()
        handed = replace(
            base,
            kind=kind,
            challenge=challenge,
            target=target,
            file_name=member.name,
            key=base.key + name_hash[:16],
        )
        with member.spooled() as file:
            return BatchItem(member.shown, take(round, team, handed, file))
    except Refused as refused:
        if refused.code in ("storage", "internal"):
            raise
        return BatchItem(member.shown, refused=refused)


def _checked_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise Refused(
            "invalid",
            _("Every file needs an idempotency key of 1 to 80 visible characters."),
            [_wrong("Idempotency-Key", key, _("for example a random UUID, a new one per file"))],
        )
    return key


def _require_same_archive(team: Team, prefix: str, this: str) -> None:
    others = Submission.objects.filter(team=team, idempotency_key__startswith=prefix)
    if others.exclude(idempotency_key__startswith=this).exists():
        raise Refused(
            "conflict",
            _("This idempotency key was used for another archive; take a new key for a new one."),
        )


def _require_place(round: Round, kind: str, challenge: str, target: int | None) -> None:
    """Whether such a file exists in this contest at all."""
    problems = []
    if kind not in HANDED_KINDS:
        problems.append(_wrong("kind", kind, ", ".join(HANDED_KINDS)))
    known = round.contest.rules.challenges_played if kind == "release" else ATTACK_KINDS
    if challenge not in known:
        problems.append(_wrong("challenge", challenge, ", ".join(known)))
    if kind == "release" and target is not None:
        problems.append(_wrong("target", target, _("no target: a release is the team's own")))
    if kind in ATTACK_KINDS and not (isinstance(target, int) and 0 <= target < 1000):
        problems.append(_wrong("target", target, _("the number of a team, or 0: the benchmark")))
    if problems:
        raise Refused("invalid", _("There is nothing of this kind to hand in."), problems)


def _wrong(field: str, found: object, expected: str) -> dict[str, int | str]:
    return Problem(0, field, str(found)[:80], expected).as_dict()
