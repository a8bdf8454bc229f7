"""Handing in: files as forms or as they are, archives of many, checks; then decisions about them.

Every file comes with an idempotency key; sent twice it is taken once.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Body, Query, Router, Schema, Status

from tracecup.errors import Problem
from tracecup.server.access import Role, role_in
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Submission
from tracecup.server.people.asking import (
    RoundName,
    require_round,
)
from tracecup.server.people.auth import (
    actor_of,
    anyone,
    person_of,
)
from tracecup.server.submissions import choices, data_receipt
from tracecup.server.submissions import service as submissions
from tracecup.server.submissions.data_handed import SubmissionInfo, submission_info, submission_of
from tracecup.server.submissions.intake import Accepted
from tracecup.server.submissions.quotas import all_quotas
from tracecup.server.web import uploads
from tracecup.server.web.answers import answer, broken_text, is_text
from tracecup.server.web.receiving import arrived

router = Router()
LONGEST_LIST = 1000


class CheckInfo(Schema):
    """What a check found. `valid` and `utility` are there for releases that can be read."""

    ok: bool
    valid: bool | None
    reason: str
    utility: float | None
    low: float | None
    high: float | None
    problems: list[dict[str, Any]]
    more: int


class ArchiveItem(Schema):
    """What became of one file of an archive: a submission, or an error in the usual format.

    `already`: the submission is an earlier one with the same content; this file cost nothing.
    """

    name: str
    already: bool
    submission: SubmissionInfo | None
    error: dict[str, Any] | None


class ArchiveInfo(Schema):
    """What became of all files of an archive; `accepted` of them cost a try.

    `already` of them were handed in before with the same content and cost nothing now.
    """

    accepted: int
    already: int
    items: list[ArchiveItem]


class Description(Schema):
    """How a submission was made, and whether that and the file may be published."""

    method: str = ""
    consent: bool = False


class QuotaInfo(Schema):
    """Tries for one data set (releases) or one target and kind (answers)."""

    kind: str
    challenge: str
    target: int | None
    allowed: int
    used: int
    left: int


@router.post(
    "/contests/{slug}/submissions",
    response={201: SubmissionInfo, 200: SubmissionInfo},
    openapi_extra=uploads.form(uploads.PLACE_FIELDS | uploads.WORDS_FIELDS),
)
def submit(request: HttpRequest, slug: str) -> Any:
    """Hand in one file as a form.

    Where `kind` is missing the name of the file says what it is. 201: accepted; 200: it was here
    before under the same key, or the same answer for the same target was; 422 `rejected`: costs no
    try, `problems` name the first bad lines.
    """
    role, fields, file = _form(request, slug)
    round = require_round(role, fields.get("round") or None)
    kind, challenge, target = _place(role, fields, str(file.name))
    receipt = submissions.receive(
        round,
        role.require_team(),
        kind=kind,
        challenge=challenge,
        target=target,
        source=file,
        file_name=str(file.name),
        confirm_invalid=uploads.flag(fields, "confirm_invalid"),
        **_common(request, role, fields),
    )
    return _answer(receipt)


@router.put(
    "/contests/{slug}/uploads/{name}",
    response={201: SubmissionInfo, 200: SubmissionInfo},
    openapi_extra=uploads.raw(),
)
def submit_raw(
    request: HttpRequest,
    slug: str,
    name: str,
    round: RoundName = None,
    method: str = "",
    consent: bool = False,
    confirm_invalid: bool = False,
) -> Any:
    """Hand in one file as it is: the body is the file, the contest's file name says what it is.

    Answers as handing in a form does.
    """
    role = _team_role(request, slug)
    where = require_round(role, round or None)
    kind, challenge, target = submissions.place_of(role.require_team(), name)
    fields = {"method": method, "consent": str(consent).lower()}
    receipt = submissions.receive(
        where,
        role.require_team(),
        kind=kind,
        challenge=challenge,
        target=target,
        source=uploads.body(request),
        file_name=name,
        confirm_invalid=confirm_invalid,
        **_common(request, role, fields),
    )
    return _answer(receipt)


@router.post(
    "/contests/{slug}/archives",
    response=ArchiveInfo,
    openapi_extra=uploads.form(uploads.WORDS_FIELDS),
)
def submit_archive(request: HttpRequest, slug: str) -> ArchiveInfo:
    """Hand in a zip archive of many files; the contest's file names in it say what each one is.

    Every file is judged by itself. The same archive under the same key gives the same answer.
    """
    role, fields, file = _form(request, slug)
    round = require_round(role, fields.get("round") or None)
    batch = submissions.receive_archive(
        round,
        role.require_team(),
        source=file,
        file_name=str(file.name),
        **_common(request, role, fields),
    )
    items = [
        ArchiveItem(
            name=item.name,
            already=item.receipt is not None and item.receipt.already,
            submission=submission_info(item.receipt.submission) if item.receipt else None,
            error=item.refused.as_dict()["error"] if item.refused else None,
        )
        for item in batch.items
    ]
    return ArchiveInfo(accepted=batch.accepted, already=batch.already, items=items)


@router.post(
    "/contests/{slug}/check",
    response=CheckInfo,
    openapi_extra=uploads.form(uploads.PLACE_FIELDS, key=False),
)
def check(request: HttpRequest, slug: str) -> CheckInfo:
    """Check a file as it would be checked when handed in; costs nothing and keeps nothing."""
    role, fields, file = _form(request, slug)
    round = require_round(role, fields.get("round") or None)
    kind, challenge, target = _place(role, fields, str(file.name))
    team, name = role.require_team(), str(file.name)
    found = submissions.check_only(round, team, kind, challenge, target, file, name, role.person)
    return CheckInfo(
        ok=found.ok,
        valid=found.valid,
        reason=found.reason,
        utility=found.utility,
        low=found.low,
        high=found.high,
        problems=[dict(problem) for problem in found.problems],
        more=found.more,
    )


@router.get("/contests/{slug}/submissions", response=list[SubmissionInfo])
def listed(
    request: HttpRequest,
    slug: str,
    round: RoundName = None,
    kind: Annotated[str | None, Query(description="release, reid or trace")] = None,
    target: int | None = None,
) -> list[SubmissionInfo]:
    """What your team handed in, the newest first."""
    role = _team_role(request, slug)
    wanted: dict[str, Any] = {"team": role.team, "round": require_round(role, round or None)}
    wanted |= {"kind": kind} if kind is not None else {}
    wanted |= {"target": target} if target is not None and abs(target) < 1 << 15 else {}
    found = Submission.objects.filter(**wanted).select_related("round__contest")
    return [submission_info(one) for one in found.order_by("-id")[:LONGEST_LIST]]


@router.get("/contests/{slug}/quotas", response=list[QuotaInfo])
def quotas(request: HttpRequest, slug: str, round: RoundName = None) -> list[QuotaInfo]:
    """The tries of your team: for each of its data sets, and for each target and kind."""
    role = _team_role(request, slug)
    return [
        QuotaInfo(
            kind=kind,
            challenge=challenge,
            target=target,
            allowed=one.allowed,
            used=one.used,
            left=one.left,
        )
        for kind, challenge, target, one in all_quotas(
            require_round(role, round or None), role.require_team(), role.person
        )
    ]


@router.get("/contests/{slug}/submissions/{ref}", response=SubmissionInfo)
def show(request: HttpRequest, slug: str, ref: str) -> SubmissionInfo:
    """One submission of your team."""
    return submission_info(_own(request, slug, ref))


@router.post("/contests/{slug}/submissions/{ref}/choose", response=SubmissionInfo)
def choose(request: HttpRequest, slug: str, ref: str) -> SubmissionInfo:
    """Let this release count, until another is chosen or a new valid one comes in."""
    return submission_info(choices.choose(_own(request, slug, ref), actor_of(request)))


@router.post("/contests/{slug}/submissions/{ref}/withdraw", response=SubmissionInfo)
def withdraw(request: HttpRequest, slug: str, ref: str) -> SubmissionInfo:
    """Take a submission back; its try stays used."""
    return submission_info(choices.withdraw(_own(request, slug, ref), actor_of(request)))


@router.post("/contests/{slug}/submissions/{ref}/describe", response=SubmissionInfo)
def describe(
    request: HttpRequest, slug: str, ref: str, said: Annotated[Description, Body()]
) -> SubmissionInfo:
    """Say how a submission was made, and whether it may be published."""
    found = _own(request, slug, ref)
    told = choices.describe(found, said.method, said.consent, actor_of(request))
    return submission_info(told)


@router.get("/receipts/{secret}", auth=anyone, response=data_receipt.Receipt)
def receipt(request: HttpRequest, secret: str) -> data_receipt.Receipt:
    """That a file arrived, for whoever has the secret; what it scored is the team's business."""
    return data_receipt.receipt(choices.receipt_of(secret))


def _form(request: HttpRequest, slug: str) -> tuple[Role, dict[str, str], Any]:
    """Who hands in what: the role is known before the body is looked at."""
    role = _team_role(request, slug)
    fields, file = uploads.fields_and_file(request)
    return role, fields, file


def _team_role(request: HttpRequest, slug: str) -> Role:
    role = role_in(slug, person_of(request))
    role.require_team()
    return role


def _place(role: Role, fields: dict[str, str], name: str) -> tuple[str, str, int | None]:
    """Kind, data set, target: as the fields say, else as the name of the file says."""
    if not fields.get("kind"):
        return submissions.place_of(role.require_team(), name)
    said = fields.get("target", "")
    if said and not (said.isascii() and said.isdigit() and len(said) <= 4):
        raise Refused(
            "invalid",
            _("There is nothing of this kind to hand in."),
            [
                Problem(
                    0, "target", said[:40], _("the number of a team, or 0: the benchmark")
                ).as_dict()
            ],
        )
    return fields["kind"], fields.get("challenge", ""), int(said) if said else None


def _common(request: HttpRequest, role: Role, fields: dict[str, str]) -> dict[str, Any]:
    method = fields.get("method", "")
    if not is_text(method):
        raise broken_text()
    return {
        "key": request.headers.get("Idempotency-Key", "") or fields.get("key", ""),
        "received_at": arrived(request, role.contest),
        "actor": actor_of(request),
        "method": method,
        "consent": uploads.flag(fields, "consent"),
    }


def _answer(receipt: Accepted) -> Status[SubmissionInfo] | HttpResponse:
    """The submission, or the refusal of a rejected one with its receipt."""
    made = receipt.submission
    if made.state != "rejected":
        seen = receipt.repeated or receipt.already
        return Status(200 if seen else 201, submission_info(made))
    return answer(
        Refused(
            "rejected",
            _("The file is not in the right format; no try was charged."),
            made.problems,
            ref=made.ref,
            receipt=reverse("receipt", args=[made.receipt]),
            sha256=made.sha256,
            size=made.size,
            received_at=made.received_at.isoformat(),
            charged=made.charged,
        )
    )


def _own(request: HttpRequest, slug: str, ref: str) -> Submission:
    role = _team_role(request, slug)
    found = submission_of(role, ref)
    if found.contest_id != role.contest.pk:
        raise not_found("submission")
    return found
