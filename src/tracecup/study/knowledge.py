"""Beyond the paper: attackers who learn, by what they know of the winner's defence.

Needs the extra `learn`; every attacker is a small file, so a stopped run goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tracecup.study.context import Context
from tracecup.study.folder import SECONDS
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, StudyResult, Table
from tracecup.study.strengthgoals import COLUMNS as GOALS
from tracecup.study.strengthgoals import LEARNED_SECONDS, in_time
from tracecup.study.strengthtables import team_mean

TARGET = "KMeans(100)"
UNKNOWN = ("PL(4,1)", "RR(8)", "RareShift(3)")
OTHER_SIZES = ("KMeans(20)", "KMeans(50)", "KMeans(200)", "KMeans(400)")
NEVER, OTHERS, KNOWS = "never saw it", "saw it with other numbers of clusters", "knows the program"
ATTACKERS = ("attacker", "teams", "days", "s_R", "low", "high", "s_T", "low (T)", "high (T)")
FIRST_JUDGED, FIRST_TRAINING = 101, 201
"""Nothing of these attackers was tuned on the judged teams; those that train are others."""


@dataclass(frozen=True)
class KnowledgeSize:
    """How much a run trains: teams, users, steps, and the shares of public data tried.

    `batch` users are drawn for a step.
    """

    teams: int
    tests: int
    users: int
    steps: int
    batch: int
    teams_tried: tuple[int, ...]
    days_tried: tuple[int, ...]


FULL = KnowledgeSize(31, 3, 2000, 1500, 1000, (1, 4, 16), (4,))
QUICK = KnowledgeSize(2, 3, 40, 40, 32, (1,), (4,))


@study(
    "knowledge",
    "What an attacker who learns has to know of a defence",
    "Goes beyond Sections 4 to 6",
    "The paper's attackers had not seen the other teams' programs and trained on nothing.",
    needs=("learn",),
    hands_out=True,
)
def run(context: Context) -> StudyResult:
    """Attackers on the winner's defence by what they know and how much public data they have."""
    from tracecup.study.racing.attackers import attackers

    size = size_of(context)
    learned = attackers(context, size)
    tables = {
        "attackers": Table.of(ATTACKERS, (_attacker(one) for one in learned)),
        "goals": Table.of(GOALS, _goals(learned)),
        "seconds": Table.of(SECONDS, [(one["what"], one["seconds"]) for one in learned]),
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
            "steps": size.steps,
        },
        (
            "Attackers train on references of other teams alone: the earlier half of the days is "
            f"known, the later half defended. They are judged on {TARGET} at utility 0.7.",
            f"Judged teams: {FIRST_JUDGED} to {FIRST_JUDGED + size.tests - 1} of this seed, which "
            "no attack was tuned or trained on.",
            "Low and high are Student's interval over teams (95 %); of seconds, which are of this "
            "machine and count making teams and releases, too, the fastest and the slowest. The "
            "goal of time is for one H200.",
        ),
    )


def size_of(context: Context) -> KnowledgeSize:
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


def _goals(learned: Sequence[dict[str, Any]]) -> list[Any]:
    """Which goals of learned attacks are met."""
    rows: list[Any] = []
    whole = {one["attacker"]: one for one in learned if one["whole"]}
    for name, reid, trace in ((KNOWS, 0.12, 0.28), (NEVER, 0.52, 0.56)):
        for score, limit in (("s_R", reid), ("s_T", trace)):
            mean = team_mean(whole[name][score])
            item, ok = f"{TARGET}, learned, {name}", mean.value <= limit
            rows.append(
                (item, score, f"<= {limit:g}", mean.value, mean.low, mean.high, "Learned", ok)
            )
    took = [one["seconds"] for one in whole.values()]
    rows.append(in_time(f"{TARGET}, an attacker trained", took, LEARNED_SECONDS))
    return rows
