"""Taking in one file: known already, checked, admitted, inserted; the heart of `submissions`.

Window, target, tries and insertion are looked at in one transaction, with round and team locked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.contest.judging.commitment import SCORER
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.models import Round, Submission, Team
from tracecup.server.storage import store
from tracecup.server.submissions import scoring
from tracecup.server.submissions.checking import Checked, check, count_check
from tracecup.server.submissions.choices import (
    STANDING,
    choose_default,
    has_release,
    kept_method,
    locked,
)
from tracecup.server.submissions.quotas import (
    action_of,
    costs,
    quota,
    quota_of_person,
    require_target,
)
from tracecup.server.web.incoming import Incoming
from tracecup.server.windows import require_open


@dataclass(frozen=True)
class Accepted:
    """What became of a file; `repeated`: it was here before under the same key.

    `already`: under another key the team had handed in the same answer; this one costs nothing.
    """

    submission: Submission
    repeated: bool = False
    already: bool = False


@dataclass(frozen=True)
class Handed:
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


def take(round: Round, team: Team, handed: Handed, file: Incoming) -> Accepted:
    """Take in a file that is on disk; see `submissions.service.receive` for what that means."""
    known = _known(round, team, handed, file.sha256)
    if known is not None:
        return known
    # Once before the work of checking, and again, for good, in the transaction.
    _admit(round, team, handed)
    counted = count_check(team, handed.actor.person)
    checked = check(round, team, handed.kind, handed.challenge, file.path)
    if checked.ok and checked.valid is False and not handed.confirm_invalid:
        raise _below_floor(checked)
    if checked.ok:
        store().keep(file.path, file.sha256, file.size)
    with transaction.atomic():
        round, team = locked(round, team)
        known = _known(round, team, handed, file.sha256)
        if known is not None:
            return known
        if checked.ok:
            _admit(round, team, handed)
        made = _insert(round, team, handed, file, checked)
        if made.charged:  # it costs a try, and these are counted
            counted.delete()
        return Accepted(made)


def _insert(
    round: Round, team: Team, handed: Handed, file: Incoming, checked: Checked
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
        charged=costs(state),
        idempotency_key=handed.key,
        batch=handed.batch,
        file_name=shown_name(handed.file_name),
        sha256=file.sha256,
        size=file.size,
        received_at=handed.received_at,
        by=handed.actor.person,
        via=handed.actor.via,
        method=kept_method(handed.method),
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
        scoring.enqueue_scoring(made)
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


def _known(round: Round, team: Team, handed: Handed, sha256: str) -> Accepted | None:
    found = Submission.objects.filter(team=team, idempotency_key=handed.key).first()
    if found is None:
        return _same_answer(round, team, handed, sha256)
    was = {"kind": found.kind, "challenge": found.challenge, "target": found.target}
    if found.sha256 == sha256 and found.round_id == round.pk and was == handed.place:
        return Accepted(found, repeated=True)
    raise Refused(
        "conflict",
        _("This idempotency key was used for another file; take a new key for a new file."),
    )


def _same_answer(round: Round, team: Team, handed: Handed, sha256: str) -> Accepted | None:
    """The standing answer with the same content for the same target: it would score the same.

    A release is taken each time: handed in again, it is the one that counts from then on.
    """
    if handed.kind == "release":
        return None
    same = Submission.objects.filter(round=round, team=team, **handed.place, sha256=sha256)
    found = same.filter(state__in=STANDING).order_by("id").first()
    return Accepted(found, already=True) if found is not None else None


def _admit(round: Round, team: Team, handed: Handed) -> None:
    """Whether a file may come in now: the team plays, the window, the target, the tries."""
    if team.status != "active" or team.deleted_at is not None:
        raise Refused("forbidden", _("Your team no longer takes part."))
    action = action_of(handed.kind)
    found = require_open(round, action, handed.received_at, team)
    if found.late and has_release(round, team, handed.challenge):
        raise Refused(
            "closed",
            _("This phase is over, and your team has a release: a late one would not count."),
            closed=found.closes.isoformat() if found.closes else None,
            arrived=handed.received_at.isoformat(),
        )
    if handed.target is not None:
        require_target(round, team, handed.challenge, handed.target)  # type: ignore[arg-type]  # checked before
    place = (handed.kind, handed.challenge, handed.target)
    left = quota(round, team, *place)
    if not left.left:
        raise Refused(
            "quota",
            _("All {allowed} tries are used.").format(allowed=left.allowed),
            allowed=left.allowed,
            used=left.used,
        )
    own = quota_of_person(round, team, handed.actor.person, *place)
    if not own.left:
        raise Refused(
            "quota",
            _("You have used all {allowed} tries yourself, in another team included.").format(
                allowed=own.allowed
            ),
            allowed=own.allowed,
            used=own.used,
        )


def _next_attempt(round: Round, team: Team, handed: Handed) -> int:
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
