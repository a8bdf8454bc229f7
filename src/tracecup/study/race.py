"""Beyond the paper: attackers who learn, a defence that learns from them, and who wins by round.

Needs the extra `learn`; every attacker and every round is a small file, so a stopped run goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, StudyResult, Table
from tracecup.study.strengthgoals import BELOW_PRIOR, LEAST_REID
from tracecup.study.strengthgoals import COLUMNS as GOALS
from tracecup.study.strengthtables import team_mean

TARGET = "KMeans(100)"
UNKNOWN = ("PL(4,1)", "RR(8)", "RareShift(3)")
OTHER_SIZES = ("KMeans(20)", "KMeans(50)", "KMeans(200)", "KMeans(400)")
NEVER, OTHERS, KNOWS = "never saw it", "saw it with other numbers of clusters", "knows the program"
ATTACKERS = ("attacker", "teams", "days", "s_R", "low", "high", "s_T", "low (T)", "high (T)")
ROUNDS = (
    "round", "attacker", "s_U", "s_R", "low", "high", "s_T", "low (T)", "high (T)", "prior only",
    "true link", "earlier attackers, least s_R",
)  # fmt: skip
SECONDS = ("what", "seconds")
RETRAINED, SCRATCH, MOVES = "retrained", "from scratch", "with transitions inside a day"
RICHEST = "from scratch, with the race's teams as well"
LAST = (SCRATCH, MOVES, RICHEST)
"""Attackers on the last defence."""


@dataclass(frozen=True)
class Size:
    """How much a run trains: teams, users, steps, rounds, and the shares of public data tried.

    A round trains on `race_copies` releases of each of the `race_teams`; the first
    `early_rounds` have only `early_teams`, one release of each and `early_steps`. `final_teams`,
    `copies` releases of each and `final_steps` are those of two attackers on the last defence;
    the richest has the race's teams as well, `most_copies` and `most_steps`. `batch` users are
    drawn for a step; `group` and `sweeps` are the defence's.
    """

    teams: int
    race_teams: int
    race_copies: int
    tests: int
    users: int
    steps: int
    race_steps: int
    rounds: int
    early_rounds: int
    early_teams: int
    early_steps: int
    final_teams: int
    copies: int
    final_steps: int
    most_copies: int
    most_steps: int
    batch: int
    group: int
    sweeps: int
    teams_tried: tuple[int, ...]
    days_tried: tuple[int, ...]


FULL = Size(
    31, 84, 2, 3, 2000, 1500, 1600, 10, 3, 40, 600, 62, 3, 3000, 2, 5000, 1000, 25, 12,
    (1, 4, 16), (4,),
)  # fmt: skip
QUICK = Size(2, 3, 2, 3, 40, 40, 20, 2, 1, 2, 20, 2, 2, 40, 1, 40, 32, 10, 3, (1,), (4,))


@study(
    "race",
    "A race between attackers who learn and a defence that learns from them",
    "Goes beyond Sections 4 to 6",
    "The paper's attackers had not seen the other teams' programs and trained on nothing.",
    needs=("learn",),
    hands_out=True,
)
def run(context: Context) -> StudyResult:
    """Attackers by what they know, rounds of the race, and other attackers on its last defence."""
    from tracecup.study.racing.cells import both

    size = size_of(context)
    learned, played = both(context, size)
    tables = {
        "attackers": Table.of(ATTACKERS, (_attacker(one) for one in learned)),
        "rounds": Table.of(ROUNDS, (_round(one) for one in played)),
        "goals": Table.of(GOALS, _goals(learned, played)),
        "seconds": Table.of(SECONDS, [(one["what"], one["seconds"]) for one in learned + played]),
    }
    return StudyResult(
        BUILT_IN,
        tables,
        {},
        (),
        {
            "training teams": size.teams,
            "training teams of the race": size.race_teams,
            "releases of each, race": size.race_copies,
            "teams": size.tests,
            "users": size.users,
            "steps": size.steps,
            "steps of a round": size.race_steps,
            "training teams of the last attackers": size.final_teams,
            "releases of each": size.copies,
            "their steps": size.final_steps,
            "training teams of the richest": size.final_teams + size.race_teams,
            "releases of each, richest": size.most_copies,
            "steps of the richest": size.most_steps,
        },
        (
            f"Attackers train on references of other teams alone: the earlier half of the days is "
            f"known, the later half defended. They are judged on {TARGET} at utility 0.7.",
            "A round defends against all attackers so far, then trains the next one on the result, "
            "from the weights of the one before; the last three rows train other attackers on the "
            "last defence from nothing, one of them of a family that the defence never met. They "
            "have more data: attackers who are short of it flatter a defence.",
            "The teams of the race are simulated whole, as one can who has the synthesizer.",
            "Scores of rounds are of the training program, by optimal assignment and the contest's "
            "loss. Low and high are Student's interval over teams (95 %).",
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


def _attacker(one: dict[str, Any]) -> tuple[object, ...]:
    reid, trace = team_mean(one["s_R"]), team_mean(one["s_T"])
    return (
        one["attacker"], one["teams"], one["days"], reid.value, reid.low, reid.high, trace.value,
        trace.low, trace.high,
    )  # fmt: skip


def _round(one: dict[str, Any]) -> tuple[object, ...]:
    verdicts = one["verdicts"]
    reid = team_mean([verdict["reid"] for verdict in verdicts])
    trace = team_mean([verdict["trace"] for verdict in verdicts])
    prior, told = (
        team_mean([verdict[name] for verdict in verdicts]).value for name in ("prior", "true_link")
    )
    return (
        one["number"], one["attacker"], team_mean(one["utility"]).value, reid.value, reid.low,
        reid.high, trace.value, trace.low, trace.high, prior, told,
        min(one["earlier"], default=None),
    )  # fmt: skip


def _goals(learned: Sequence[dict[str, Any]], played: Sequence[dict[str, Any]]) -> list[Any]:
    """Which goals of learned attacks and of the trained defence are met."""
    rows: list[Any] = []
    whole = {one["attacker"]: one for one in learned if one["whole"]}
    for name, reid, trace in ((KNOWS, 0.12, 0.28), (NEVER, 0.52, 0.56)):
        for score, limit in (("s_R", reid), ("s_T", trace)):
            mean = team_mean(whole[name][score])
            item, ok = f"{TARGET}, learned, {name}", mean.value <= limit
            rows.append(
                (item, score, f"<= {limit:g}", mean.value, mean.low, mean.high, "Learned", ok)
            )
    for one in (one for one in played if one["number"] == played[-1]["number"]):
        verdicts = one["verdicts"]
        item = f"last defence, attacker {one['attacker']}"
        left = team_mean([verdict["reid"] for verdict in verdicts])
        gap = team_mean([max(0.0, v["prior"] - v["trace"]) for v in verdicts])
        rows += [
            (item, "s_R", f">= {LEAST_REID:g}", left.value, left.low, left.high, "Learned",
             left.value >= LEAST_REID),
            (item, "prior only - s_T", f"<= {BELOW_PRIOR:g}", gap.value, gap.low, gap.high,
             "Learned", gap.value <= BELOW_PRIOR),
        ]  # fmt: skip
    return rows
