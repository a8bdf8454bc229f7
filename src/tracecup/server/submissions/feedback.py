"""What teams are told about scores while the attacks go on: nothing, a band, or the score.

Every answer reveals a known number of bits; pages state it, and how many answers are left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind
from tracecup.contest.rules import FeedbackRules, Rules
from tracecup.contest.sheets import column_of
from tracecup.server.entries import entry_of
from tracecup.server.models import Release, Round, Submission, Team
from tracecup.server.resultsets import (
    published,
    table_rows,
)
from tracecup.server.submissions.quotas import quota, quota_of_person

DIGITS = 6
"""Scores are told with as many digits, so that an answer reveals a known number of bits."""


@dataclass(frozen=True)
class Feedback:
    """What is shown about an answer (None: nothing), how many bits that is, how many are left.

    `left` counts the answers that are still accepted for the same target and kind, from this team
    and from who handed this one in.
    """

    policy: str
    shown: str | None
    bits: float
    left: int


@dataclass(frozen=True)
class Hurt:
    """One attack on a team's own release: what may be told about it."""

    release: str
    kind: str
    attacker: str
    shown: str


def feedback(submission: Submission) -> Feedback:
    """What the team may know about its answer now.

    After the results are out that is the score; before, what the policy says; while boards are
    frozen, nothing.
    """
    round, rules = submission.round, submission.round.contest.rules
    place = (submission.kind, submission.challenge, submission.target)
    left = min(
        quota(round, submission.team, *place).left,
        quota_of_person(round, submission.team, submission.by, *place).left,
    )
    policy = policy_now(round)
    if submission.state != "scored" or submission.score is None or submission.kind == "release":
        return Feedback(policy, None, 0.0, left)
    shown = told(policy, rules.feedback, submission.score)
    return Feedback(policy, shown, bits(policy, rules, submission.kind), left)


def policy_now(round: Round) -> str:
    """The policy that holds in a round now: `exact` once results are out, `none` when frozen."""
    if round.frozen:
        return "none"
    return "exact" if round.released_at is not None else round.contest.rules.feedback.policy


def told(policy: str, rules: FeedbackRules, score: float) -> str | None:
    """A score as the policy lets it be told.

    >>> told("bands", FeedbackRules(), 0.3), told("exact", FeedbackRules(), 1 / 3)
    ('0.25–0.5', '0.333333')
    """
    if policy == "exact":
        return f"{score:.{DIGITS}f}"
    if policy == "bands":
        edges = (0.0, *rules.bands, 1.0)
        k = sum(score >= edge for edge in rules.bands)
        return f"{edges[k]:g}–{edges[k + 1]:g}"
    return None


def bits(policy: str, rules: Rules, kind: AttackKind) -> float:
    """The most that one answer can reveal, in bits.

    A band is one of four. An exact s_R is one of users + 1 fractions; an exact s_T is told with
    six digits.

    >>> bits("bands", Rules(), "trace"), bits("exact", Rules(users=1023), "reid")
    (2.0, 10.0)
    """
    if policy == "bands":
        return math.log2(len(rules.feedback.bands) + 1)
    if policy == "exact":
        values = 10**DIGITS + 1
        return math.log2(values if CHALLENGES[kind].by_events else min(values, rules.users + 1))
    return 0.0


def budget(round: Round) -> dict[str, Any]:
    """What the policy that holds now reveals, for the page that states it.

    `bits` by kind for one answer, `answers` per target, `per_target` in bits, and in words.
    """
    rules = round.contest.rules
    policy, tries = policy_now(round), rules.limits.attack_tries
    each = {kind: bits(policy, rules, kind) for kind in ATTACK_KINDS}
    words = {
        "none": _("Nothing is told about an answer before the results."),
        "bands": _("You are told in which of four bands the score of an answer lies."),
        "exact": _("You are told the score of an answer."),
    }
    return {
        "policy": policy,
        "bits": each,
        "answers": tries,
        "per_target": {kind: tries * value for kind, value in each.items()},
        "words": words[policy],
    }


def defence_row(round: Round, team: Team) -> list[Hurt]:
    """Which attacks hurt a team, the strongest first, as far as policy and phase allow.

    With results out: every attack. Before: only the sample attacks, as the policy lets scores be
    told; other teams' answers are theirs.
    """
    if round.frozen:
        return []
    found = published(round) if round.released_at is not None else None
    own = {
        entry_of(one).release: one
        for one in Release.objects.filter(round=round, team=team).select_related("team")
    }
    if found is not None:
        cells = [
            (cell["score"], cell["pubtraces"], cell["kind"], cell["attacker"])
            for cell in table_rows(found, "cells")
            if cell["pubtraces"] in own
        ]
        return [
            Hurt(name, kind, by, f"{score:.{DIGITS}f}") for score, name, kind, by in sorted(cells)
        ]
    if round.published_at is None:
        return []
    return _samples(round, own)


def _samples(round: Round, own: dict[str, Release]) -> list[Hurt]:
    rules, policy = round.contest.rules, policy_now(round)
    found = []
    for name, one in own.items():
        for kind in ATTACK_KINDS:
            for column in rules.samples.columns(kind):
                score = one.scores.get(column, {}).get("score")
                shown = None if score is None else told(policy, rules.feedback, score)
                if shown is not None:
                    found.append((score, Hurt(name, kind, column_of(column), shown)))
    # Within a band the order would tell more than the band does.
    if policy == "exact":
        found.sort(key=lambda one: one[0])
    else:
        found.sort(key=lambda one: (one[1].shown, one[1].attacker))
    return [hurt for _score, hurt in found]
