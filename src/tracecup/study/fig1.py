"""Figure 1: cheating anonymization of three users, and why only one of the two attacks fails.

The sample attacks are run on it, beside plain pseudonymization.
"""

from __future__ import annotations

from tracecup.attack import Case, VisitProbR, VisitProbT
from tracecup.city import City, Grid
from tracecup.score import inference_score, reid_score
from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import WORKED, Comparison, StudyResult, Table
from tracecup.traces import IdTable, SetTraces, Traces

FIRST_PSEUDONYM = 10001
CITY = City(Grid.from_metres(4, 1, width_m=1000, height_m=1000))
# User 2 is the paper's; the other two are ours. Reference traces are other days of the same lives.
ORIGINAL = Traces.of([[2, 2, 3, 2], [0, 0, 0, 1], [1, 3, 1, 1]])
REFERENCE = Traces.of([[2, 3, 2, 2], [0, 0, 1, 0], [1, 1, 3, 1]])
GIVEN_TRACE_OF = (1, 2, 0)


@study(
    "fig1",
    "Cheating anonymization of three users",
    "Figure 1",
    "Every user gets the whole trace of another one before pseudonyms are given. An adversary who "
    "links traces by where people usually are finds the wrong user each time, yet reads every "
    "user's true trace.",
)
def run(context: Context) -> StudyResult:
    """Cheating against mere pseudonymization; three users, four events, four regions."""
    rows, numbers = [], {}
    for kind, owner in (("cheating", GIVEN_TRACE_OF), ("pseudonyms only", (0, 1, 2))):
        released = SetTraces.of_traces(ORIGINAL.take_users(owner))
        case, truth = Case(CITY, REFERENCE, released), IdTable.of([0, 1, 2])
        guess, inferred = VisitProbR().identify(case), VisitProbT().infer(case, context.seed)
        numbers[f"s_R, {kind}"] = reid_score(truth, guess).value
        numbers[f"s_T, {kind}"] = inference_score(CITY, ORIGINAL, inferred).value
        for k in range(3):
            rows.append(
                (
                    kind,
                    f"v{k + 1}",
                    _spelled(ORIGINAL.regions[k].tolist()),
                    _spelled(released.as_traces().regions[k].tolist()),
                    FIRST_PSEUDONYM + k,
                    f"v{int(guess.users[k]) + 1}",
                    bool(guess.users[k] == k),
                    _spelled(inferred.regions[k].tolist()),
                    bool((inferred.regions[k] == ORIGINAL.regions[k]).all()),
                )
            )
    columns = (
        "kind", "user", "original", "obfuscated", "pseudonym", "guessed user", "guess is right",
        "inferred trace", "trace is right",
    )  # fmt: skip
    rate = 1 - numbers["s_R, cheating"]
    return StudyResult(
        WORKED,
        {"cheating": Table.of(columns, rows)},
        numbers,
        (Comparison.equal("re-identification rate under cheating (0/3)", 0.0, rate),),
        {"users": 3, "events": 4, "regions": 4},
        ("Only the trace of user 2 is printed in the paper's text; the other two are ours.",),
    )


def _spelled(regions: list[int]) -> str:
    return " ".join(f"x{region + 1}" for region in regions)
