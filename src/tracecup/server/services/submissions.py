"""Taking in what teams hand in: releases and answers, one by one or many in an archive.

Checked before a try is charged; window, quota and insertion are one transaction.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.contest.archive import SCORER
from tracecup.contest.filenames import ContestFile, parse_file_name
from tracecup.contest.rules import ATTACK_KINDS
from tracecup.safeio import MIB
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.models import Round, Submission, Team
from tracecup.server.models.submissions import KINDS
from tracecup.server.services import log
from tracecup.server.services.checking import Checked, check
from tracecup.server.services.choices import (
    LONGEST_METHOD,
    choose,
    choose_default,
    counting,
    describe,
    locked,
    receipt_of,
    restore,
    withdraw,
)
from tracecup.server.services.incoming import Incoming, Source, spooled
from tracecup.server.services.quotas import (
    Quota,
    action_of,
    allowed,
    quota,
    require_target,
    targets,
)
from tracecup.server.services.unpacking import Member, members
from tracecup.server.storage import store
from tracecup.server.windows import require_open

__all__ = [
    "BatchItem",
    "BatchReceipt",
    "Checked",
    "Quota",
    "Receipt",
    "allowed",
    "check_only",
    "choose",
    "counting",
    "describe",
    "quota",
    "receipt_of",
    "receive",
    "receive_archive",
    "restore",
    "targets",
    "withdraw",
]

REJECTED_AN_HOUR = 200
_KEY = re.compile(r"[!-~]{1,80}", re.ASCII)
_KIND_OF_FILE = {"anotraces": "release", "etable": "reid", "etraces": "trace"}


@dataclass(frozen=True)
class Receipt:
    """What became of a file; `repeated`: it was here before under the same key."""

    submission: Submission
    repeated: bool = False


@dataclass(frozen=True)
class BatchItem:
    """What became of one file of an archive: a receipt, or why it was refused."""

    name: str
    receipt: Receipt | None = None
    refused: Refused | None = None


@dataclass(frozen=True)
class BatchReceipt:
    """What became of every file of an archive."""

    items: tuple[BatchItem, ...]

    @property
    def accepted(self) -> int:
        """How many files were accepted."""
        return sum(1 for item in self.items if item.receipt and item.receipt.submission.charged)


@dataclass(frozen=True)
class _Handed:
    """What somebody says about a file that she hands in."""

    kind: str
    challenge: str
    target: int | None
    file_name: str
    key: str
    received_at: datetime
    actor: Actor
    method: str = ""
    consent: bool = False
    confirm_invalid: bool = False
    batch: str = ""

    @property
    def place(self) -> dict[str, str | int | None]:
        """What the tries are counted by."""
        return {"kind": self.kind, "challenge": self.challenge, "target": self.target}


def check_only(
    round: Round,
    team: Team,
    kind: str,
    challenge: str,
    target: int | None,
    source: Source,
    file_name: str = "",
) -> Checked:
    """Check a file as it would be checked when handed in; costs nothing, keeps nothing."""
    _require_place(round, kind, challenge, target)
    with spooled(source, file_bytes(round)) as file:
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
) -> Receipt:
    """Take in one file.

    A file in a wrong format gives a receipt with state `rejected`; it costs no try and its bytes
    are not kept. A release below the floor is `Refused` unless `confirm_invalid`; then it costs a
    try and is invalid. The same key with the same content gives the same receipt, at any time;
    with another content it is a conflict. `received_at` is when the last byte had arrived, on the
    contest's clock.
    """
    handed = _Handed(
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
    with spooled(source, file_bytes(round)) as file:
        return _take(round, team, handed, file)


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

    Every file is judged by itself: what is wrong with one does not touch the others.
    """
    digest = hashlib.sha256(_checked_key(key).encode()).hexdigest()
    with spooled(source, settings.CONFIG.upload_bytes) as file:
        prefix = f"{digest[:16]}:"
        _require_same_archive(team, prefix, f"{prefix}{file.sha256[:16]}:")
        base = _Handed(
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
    if said is None or said.kind not in _KIND_OF_FILE:
        raise Refused(
            "invalid",
            _("The name of the file does not say what it is."),
            [
                {
                    "line": 0,
                    "field": "name",
                    "found": name[:120],
                    "expected": f"etable_team{team.number:03d}-002_data02_TRP.csv, etraces_..., "
                    f"anotraces_team{team.number:03d}_data02_TRP.csv",
                }
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
    return _KIND_OF_FILE[said.kind], said.challenge, target


def _owner(said: ContestFile) -> int:
    return int(said.attacker or said.team)


def _take_member(round: Round, team: Team, base: _Handed, member: Member) -> BatchItem:
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
            return BatchItem(member.shown, _take(round, team, handed, file))
    except Refused as refused:
        if refused.code in ("storage", "internal"):
            raise
        return BatchItem(member.shown, refused=refused)


def _take(round: Round, team: Team, handed: _Handed, file: Incoming) -> Receipt:
    known = _known(round, team, handed, file.sha256)
    if known is not None:
        return known
    # Once before the work of checking, and again, for good, in the transaction.
    _admit(round, team, handed)
    _require_patience(round, team)
    checked = check(round, team, handed.kind, handed.challenge, file.path)
    if checked.ok and checked.valid is False and not handed.confirm_invalid:
        raise _below_floor(checked)
    if checked.ok:
        store().put_file(file.path)
    with transaction.atomic():
        round, team = locked(round, team)
        known = _known(round, team, handed, file.sha256)
        if known is not None:
            return known
        if checked.ok:
            _admit(round, team, handed)
        return Receipt(_insert(round, team, handed, file, checked))


def _insert(
    round: Round, team: Team, handed: _Handed, file: Incoming, checked: Checked
) -> Submission:
    is_release = handed.kind == "release"
    state = "rejected" if not checked.ok else "scored" if is_release else "queued"
    made = Submission.objects.create(
        contest=round.contest,
        round=round,
        team=team,
        **handed.place,
        attempt=_next_attempt(round, team, handed) if checked.ok else 0,
        state=state,
        charged=checked.ok,
        idempotency_key=handed.key,
        batch=handed.batch,
        file_name=shown_name(handed.file_name),
        sha256=file.sha256,
        size=file.size,
        received_at=handed.received_at,
        by=handed.actor.person,
        via=handed.actor.via,
        method=handed.method[:LONGEST_METHOD],
        consent=handed.consent,
        valid=checked.valid,
        reason=checked.reason,
        problems=[dict(problem) for problem in checked.problems],
        score=checked.utility,
        low=checked.low,
        high=checked.high,
        scorer=SCORER if checked.utility is not None else "",
        scored_at=clock.now() if checked.utility is not None else None,
    )
    if checked.ok and is_release:
        choose_default(round, team, handed.challenge, newest=made)
    elif checked.ok:
        from tracecup.server.services.judging import enqueue_scoring

        enqueue_scoring(made)
    log.record(
        handed.actor,
        "submission.rejected" if state == "rejected" else "submission.accepted",
        contest=round.contest,
        subject=f"submission:{made.ref}",
        after={
            "round": round.name,
            "team": team.number,
            **handed.place,
            "attempt": made.attempt,
            "sha256": made.sha256,
            "size": made.size,
            "received_at": made.received_at.isoformat(),
        },
    )
    made.refresh_from_db()
    return made


def shown_name(name: str) -> str:
    """A file's name as it is kept: its last part, printable, cut."""
    last = re.split(r"[\\/]", name)[-1]
    return "".join(one if one.isprintable() else "?" for one in last)[:200] or "file"


def _known(round: Round, team: Team, handed: _Handed, sha256: str) -> Receipt | None:
    found = Submission.objects.filter(team=team, idempotency_key=handed.key).first()
    if found is None:
        return None
    was = {"kind": found.kind, "challenge": found.challenge, "target": found.target}
    if found.sha256 == sha256 and found.round_id == round.pk and was == handed.place:
        return Receipt(found, repeated=True)
    raise Refused(
        "conflict",
        _("This idempotency key was used for another file; take a new key for a new file."),
    )


def _require_same_archive(team: Team, prefix: str, this: str) -> None:
    others = Submission.objects.filter(team=team, idempotency_key__startswith=prefix)
    if others.exclude(idempotency_key__startswith=this).exists():
        raise Refused(
            "conflict",
            _("This idempotency key was used for another archive; take a new key for a new one."),
        )


def _admit(round: Round, team: Team, handed: _Handed) -> None:
    """Whether a file may come in now: the team plays, the window, the target, the tries."""
    if team.status != "active" or team.deleted_at is not None:
        raise Refused("forbidden", _("Your team does not take part any more."))
    action = action_of(handed.kind)
    require_open(round, action, handed.received_at, team)
    if handed.target is not None:
        require_target(round, team, handed.challenge, handed.target)  # type: ignore[arg-type]
    left = quota(round, team, handed.kind, handed.challenge, handed.target)
    if not left.left:
        raise Refused(
            "quota",
            _("All {allowed} tries are used.").format(allowed=left.allowed),
            allowed=left.allowed,
            used=left.used,
        )


def _require_patience(round: Round, team: Team) -> None:
    """Rejected files cost no try, but work: after very many of them a team has to wait."""
    since = clock.contest_now(round.contest) - timedelta(hours=1)
    rejected = Submission.objects.filter(team=team, state="rejected", received_at__gte=since)
    if rejected.count() >= REJECTED_AN_HOUR:
        raise Refused(
            "throttled",
            _("Too many rejected files within an hour; check files before you hand them in."),
        )


def _require_place(round: Round, kind: str, challenge: str, target: int | None) -> None:
    """Whether such a file exists in this contest at all."""
    problems = []
    if kind not in KINDS:
        problems.append(_wrong("kind", kind, ", ".join(KINDS)))
    known = round.contest.rules.challenges_played if kind == "release" else ATTACK_KINDS
    if challenge not in known:
        problems.append(_wrong("challenge", challenge, ", ".join(known)))
    if kind == "release" and target is not None:
        problems.append(_wrong("target", target, _("no target: a release is the team's own")))
    if kind in ATTACK_KINDS and not (isinstance(target, int) and 0 <= target < 1000):
        problems.append(_wrong("target", target, _("the number of a team, or 0: the benchmark")))
    if problems:
        raise Refused("invalid", _("There is no such thing to hand in."), problems)


def _wrong(field: str, found: object, expected: str) -> dict[str, object]:
    return {"line": 0, "field": field, "found": str(found)[:80], "expected": expected}


def _checked_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise Refused(
            "invalid",
            _("Every file needs an idempotency key of 1 to 80 visible characters."),
            [_wrong("Idempotency-Key", key, _("for example a random UUID, a new one per file"))],
        )
    return key


def _next_attempt(round: Round, team: Team, handed: _Handed) -> int:
    """Tries are numbered from 1; a number is never used twice."""
    same = Submission.objects.filter(round=round, team=team, **handed.place)
    last = same.order_by("-attempt").values_list("attempt", flat=True).first()
    return (last or 0) + 1


def _below_floor(checked: Checked) -> Refused:
    return Refused(
        "rejected",
        _(
            "This release is below the floor: attackers would not get it and its privacy is 0. "
            "No try was charged. Confirm to hand it in all the same; it then costs a try."
        ),
        confirm="confirm_invalid",
        utility=checked.utility,
        low=checked.low,
        high=checked.high,
        reason=checked.reason,
    )
