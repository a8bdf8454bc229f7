"""What a team sees of its releases and of its attacks.

Typed; a page renders it and the API returns it. Scores of attacks are in it only as far as the
feedback policy allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ninja import Schema

from tracecup.contest.challenges import ANSWER_FILES, ATTACK_KINDS
from tracecup.contest.entries import Entry
from tracecup.server.access import Role
from tracecup.server.models import Person, Round, Submission, Team
from tracecup.server.submissions import choices, feedback, quotas
from tracecup.server.submissions.data_handed import (
    SubmissionInfo,
    Tries,
    WindowInfo,
    submission_info,
    window_info,
)


class ReleaseState(Schema):
    """A data set of the team: tries and the release that counts."""

    challenge: str
    label: str
    file_name: str
    tries: Tries
    counting: SubmissionInfo | None


class ReleaseSet(ReleaseState):
    """A data set with all releases that the team handed in for it, the newest first."""

    submissions: list[SubmissionInfo]

    @property
    def scored(self) -> list[SubmissionInfo]:
        """Those with a utility, the oldest first."""
        return [one for one in reversed(self.submissions) if one.utility is not None]


class ReleasePage(Schema):
    """Is our anonymization good enough? `may_check` holds as soon as the data are out."""

    contest: str
    round: str
    window: WindowInfo
    may_check: bool
    floor: float
    file_mib: int
    hors_concours: bool
    sets: list[ReleaseSet]


class Answer(Schema):
    """Our answers of one kind against one target."""

    kind: str
    file_name: str
    tries: Tries
    missing: bool
    submissions: list[SubmissionInfo]


class Target(Schema):
    """A release to attack; `team` 0 is the benchmark."""

    team: int
    name: str
    challenge: str
    label: str
    missing: int
    answers: list[Answer]


class AttackPage(Schema):
    """Whom do we attack, and with what? Targets with missing answers come first."""

    contest: str
    round: str
    window: WindowInfo
    policy: str
    bits_an_answer: dict[str, float]
    bits_a_target: dict[str, float]
    answers_left: int
    missing: int
    waiting: int
    file_mib: int
    targets: list[Target]


def release_page(role: Role, round: Round) -> ReleasePage:
    """The releases of a team."""
    team, rules = role.require_team(), role.contest.rules
    return ReleasePage(
        contest=role.contest.slug,
        round=round.name,
        window=window_info(round, "release", team),
        may_check=window_info(round, "data", team).is_open,
        floor=rules.scores.utility_floor,
        file_mib=rules.limits.file_mib,
        hors_concours=team.hors_concours,
        sets=[_release_set(round, team, kind) for kind in rules.challenges_played],
    )


def attack_page(role: Role, round: Round) -> AttackPage:
    """The targets of a team and its answers."""
    team, rules = role.require_team(), role.contest.rules
    targets = targets_of(round, team, role.person) if round.published_at else []
    order = sorted(targets, key=lambda one: (not one.missing, one.team, one.challenge))
    budget = feedback.budget(round)
    return AttackPage(
        contest=role.contest.slug,
        round=round.name,
        window=window_info(round, "attack", team),
        policy=feedback.policy_now(round),
        bits_an_answer=budget["bits"],
        bits_a_target=budget["per_target"],
        answers_left=answers_left(targets),
        missing=sum(target.missing for target in targets),
        waiting=sum(
            one.state in ("queued", "scoring")
            for target in targets
            for answer in target.answers
            for one in answer.submissions
        ),
        file_mib=rules.limits.file_mib,
        targets=order,
    )


def release_state(round: Round, team: Team, challenge: str) -> ReleaseState:
    """A data set of the team: tries, and the release that counts."""
    # Text to the type checker; callers hand in the challenges of the rules.
    entry = Entry(team.number, challenge)  # type: ignore[arg-type]  # see above
    counting = choices.counting(round, team, challenge)
    return ReleaseState(
        challenge=challenge,
        label=entry.label,
        file_name=entry.file("anotraces", ".csv"),
        tries=_tries(quotas.quota(round, team, "release", challenge)),
        counting=submission_info(counting) if counting else None,
    )


def _release_set(round: Round, team: Team, challenge: str) -> ReleaseSet:
    state = release_state(round, team, challenge)
    held = Submission.objects.filter(round=round, team=team, kind="release", challenge=challenge)
    return ReleaseSet(
        **dict(state),
        submissions=[submission_info(one) for one in held.order_by("-id")],
    )


def targets_of(round: Round, team: Team, person: Person | None = None) -> list[Target]:
    """Whom a team may attack, with its answers so far and the tries that are left to a person."""
    names = dict(team.contest.teams.values_list("number", "name"))
    held: dict[tuple[str, str, int | None], list[Submission]] = defaultdict(list)
    for one in Submission.objects.filter(round=round, team=team, kind__in=ATTACK_KINDS):
        one.round = round
        held[one.kind, one.challenge, one.target].append(one)
    tries: dict[tuple[str, str, int | None], quotas.Quota] = {
        (kind, challenge, target): one
        for kind, challenge, target, one in quotas.all_quotas(round, team, person)
    }
    return [
        _target(entry, names.get(entry.team, ""), team, held, tries)
        for entry in quotas.targets(round, team)
    ]


def answers_left(targets: Iterable[Target]) -> int:
    """How many answers a team may still hand in."""
    return sum(answer.tries.left for target in targets for answer in target.answers)


def _target(
    entry: Entry,
    name: str,
    team: Team,
    held: dict[tuple[str, str, int | None], list[Submission]],
    tries: Mapping[tuple[str, str, int | None], quotas.Quota],
) -> Target:
    answers = []
    for kind in ATTACK_KINDS:
        place = (kind, entry.challenge, entry.team)
        mine = held.get(place, [])
        standing = any(one.state in ("queued", "scoring", "scored") for one in mine)
        # What no try is left for cannot be handed in any more.
        missing = not standing and tries[place].left > 0
        answers.append(
            Answer(
                kind=kind,
                file_name=entry.answer(ANSWER_FILES[kind], f"{team.number:03d}").removesuffix(
                    ".zst"
                ),
                tries=_tries(tries[place]),
                missing=missing,
                submissions=[submission_info(one) for one in reversed(mine)],
            )
        )
    return Target(
        team=entry.team,
        name=name,
        challenge=entry.challenge,
        label=entry.label,
        missing=sum(answer.missing for answer in answers),
        answers=answers,
    )


def _tries(quota: quotas.Quota) -> Tries:
    return Tries(allowed=quota.allowed, used=quota.used, left=quota.left)
