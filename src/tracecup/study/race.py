"""Beyond the paper: a defence that learns from attackers who learn, and who wins by round.

Needs the extra `learn`; every round is a small file, so a stopped run goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tracecup.study.context import Context
from tracecup.study.folder import SECONDS
from tracecup.study.replay import RETRAINED
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, StudyResult, Table
from tracecup.study.strength import FIRST_TEAM
from tracecup.study.strengthgoals import BELOW_PRIOR, LEAST_REID, ROUND_SECONDS, in_time
from tracecup.study.strengthgoals import COLUMNS as GOALS
from tracecup.study.strengthtables import team_mean

ROUNDS = (
    "round", "attacker", "s_U", "s_R", "low", "high", "s_T", "low (T)", "high (T)", "prior only",
    "true link", "earlier attackers, least s_R",
)  # fmt: skip
SCRATCH, MOVES = "from scratch", "with transitions inside a day"
RICHER = "from scratch, with more data"
EXACT = "retrained, on the method at the floor"
LAST = (SCRATCH, MOVES, RICHER)
"""Attackers on the last defence."""


@dataclass(frozen=True)
class Size:
    """How much a run trains: teams, users, steps, rounds.

    The first `given` attackers are those of the defence that comes with the package. The rounds
    after them, up to `rounds`, train on `copies` releases of each of `teams`, `steps` each.
    Attackers on the last defence have the same releases and `final_steps` (`moving_steps` the one
    with transitions); the richer one has a release more of each team and `richer_steps`. `batch`
    users are drawn for a step; `group` and `sweeps` are the defence's.
    """

    teams: int
    tests: int
    users: int
    given: int
    rounds: int
    steps: int
    copies: int
    final_steps: int
    moving_steps: int
    richer_steps: int
    batch: int
    group: int
    sweeps: int


FULL = Size(146, 3, 2000, 9, 11, 5000, 2, 5000, 1500, 6000, 1000, 25, 12)
QUICK = Size(3, 3, 40, 2, 3, 20, 2, 40, 20, 40, 32, 10, 3)


@study(
    "race",
    "A race between attackers who learn and a defence that learns from them",
    "Goes beyond Sections 4 to 6",
    "The paper's attackers had not seen the other teams' programs and trained on nothing.",
    needs=("learn",),
    hands_out=True,
)
def run(context: Context) -> StudyResult:
    """Rounds of the race, and other attackers on its last defence."""
    from tracecup.study.racing.rounds import rounds

    size = size_of(context)
    played = rounds(context, size)
    tables = {
        "rounds": Table.of(ROUNDS, (_round(one) for one in played)),
        "goals": Table.of(GOALS, _goals(played)),
        "seconds": Table.of(SECONDS, [(one["what"], one["seconds"]) for one in played]),
    }
    return StudyResult(
        BUILT_IN,
        tables,
        {},
        (),
        {
            "training teams": size.teams,
            "teams": size.tests,
            "users": size.users,
            "steps of a round": size.steps,
            "releases of each team": size.copies,
            "steps from scratch": size.final_steps,
            "steps with more data": size.richer_steps,
        },
        (
            "A round defends against all attackers so far, then trains the next one on the result, "
            "from the weights of the one before. The attackers of the first rounds are in the "
            f"file of the shipped defence: rounds 1 to {size.given - 1} are judged again with "
            f"them, on other teams than theirs; from round {size.given} on attackers are trained "
            "here, with more teams.",
            "The last rows train other attackers on the last defence from nothing: one of the "
            "family that the defence has met, with a larger network, one of a family that it never "
            "met, and one with a release more of each team than the race had. Attackers who are "
            "short of data flatter a defence.",
            "Rounds that are played here defend by the training program, which ends a little "
            f"beside the floor. '{EXACT}': the same attacker on a release by the method Equalise, "
            "which ends exactly there. Both sides are then as their files keep them, large arrays "
            "in seven bits, and the release is drawn anew.",
            f"Judged teams: {FIRST_TEAM} to {FIRST_TEAM + size.tests - 1} of this seed, which "
            "nothing was tuned or trained on. The teams of the race are simulated whole, as one "
            "can who has the synthesizer.",
            "Scores are of the training program, by optimal assignment and the contest's loss. Low "
            "and high are Student's interval over teams (95 %); of seconds, which are of this "
            "machine, the fastest and the slowest. Goals of time are for one H200.",
        ),
    )


def size_of(context: Context) -> Size:
    """What this run trains; `asked_users` and `asked_teams` are those of the judged teams."""
    size = QUICK if context.quick else FULL
    return replace(
        size,
        users=context.asked_users or size.users,
        batch=min(size.batch, context.asked_users or size.users),
        tests=context.asked_teams or size.tests,
    )


def _round(one: dict[str, Any]) -> tuple[object, ...]:
    verdicts = one["verdicts"]
    reid = team_mean([verdict["reid"] for verdict in verdicts])
    known = (one["number"], one["attacker"], team_mean(one["utility"]).value)
    named = (reid.value, reid.low, reid.high)
    if "trace" not in verdicts[0]:  # of attackers in a file only what links is there
        return (*known, *named, *[None] * 6)
    trace = team_mean([verdict["trace"] for verdict in verdicts])
    prior, told = (
        team_mean([verdict[name] for verdict in verdicts]).value for name in ("prior", "true_link")
    )
    least = min(one["earlier"], default=None)
    return (*known, *named, trace.value, trace.low, trace.high, prior, told, least)


def _goals(played: Sequence[dict[str, Any]]) -> list[Any]:
    """Which goals of the trained defence are met."""
    rows: list[Any] = []
    for one in (one for one in played if one["number"] == played[-1]["number"]):
        verdicts = one["verdicts"]
        item = f"last defence, attacker {one['attacker']}"
        left = team_mean([verdict["reid"] for verdict in verdicts])
        rows.append(
            (item, "s_R", f">= {LEAST_REID:g}", left.value, left.low, left.high, "Learned",
             left.value >= LEAST_REID)
        )  # fmt: skip
        if "trace" not in verdicts[0]:  # of attackers in a file only what links is there
            continue
        gap = team_mean([max(0.0, v["prior"] - v["trace"]) for v in verdicts])
        rows.append(
            (item, "prior only - s_T", f"<= {BELOW_PRIOR:g}", gap.value, gap.low, gap.high,
             "Learned", gap.value <= BELOW_PRIOR)
        )  # fmt: skip
    # Rounds that were only judged again trained nobody.
    took = [
        one["seconds"]
        for one in played
        if one["attacker"] == RETRAINED and "trace" in one["verdicts"][0]
    ]
    if took:
        rows.append(in_time("a round of the race", took, ROUND_SECONDS))
    return rows
