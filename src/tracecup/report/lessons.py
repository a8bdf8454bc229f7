"""What a contest teaches, said from its own numbers and only as far as they carry.

The paper's two findings: cheating anonymization, and the correlation of the two minima.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracecup.charts.words import status
from tracecup.facts import ContestFacts, ReleaseFacts
from tracecup.facts.text import clean
from tracecup.methodnames import short_method
from tracecup.report.markup import Html, element, name_of

CHEAT = "cheat("
SAFE_FROM_REID = 0.99
# A blind guess is right for one user on average; the luckiest of some attacks, for a few.
LUCKY_GUESSES = 5
AS_OPEN_AS_BENCHMARK = 0.03
STRONG = 0.7
PAPER_CORRELATION = 0.895
# When a correlation is weak: what counts as broken, as the ceiling, as many, as a narrow range.
FOUND_ALL, AT_THE_CEILING, MANY, NARROW = 0.01, 0.03, 1 / 3, 0.1


@dataclass(frozen=True)
class Point:
    """A release with both its minima."""

    release: ReleaseFacts
    reid: float
    trace: float


def lessons(facts: ContestFacts) -> list[Html]:
    """The findings as paragraphs."""
    points = _points(facts)
    said = [_benchmark(points), *_cheating(points, facts.users), _correlation(facts, points)]
    said.append(
        element(
            "p",
            [
                element("strong", "A score is a ceiling. "),
                "Each minimum says what the attacks of this contest could do. A stronger attack, "
                "or an attacker who knows more than the reference traces, can only lower it.",
            ],
        )
    )
    return [paragraph for paragraph in said if paragraph]


def leave_one_out(points: list[Point]) -> tuple[Point, float] | None:
    """The release without which the correlation would be highest, and that correlation.

    None where it is not defined: fewer than four releases, or scores that do not vary.
    """
    best: tuple[Point, float] | None = None
    if len(points) < 4:
        return None
    for k, point in enumerate(points):
        rest = points[:k] + points[k + 1 :]
        value = _pearson([p.reid for p in rest], [p.trace for p in rest])
        if value is not None and (best is None or value > best[1]):
            best = (point, value)
    return best


def _points(facts: ContestFacts) -> list[Point]:
    return [
        Point(one, one.reid_min, one.trace_min)
        for one in facts.board.scored
        if one.reid_min is not None and one.trace_min is not None
    ]


def _benchmark(points: list[Point]) -> Html:
    base = next((p for p in points if p.release.benchmark), None)
    if base is None:
        return Html("")
    found = 1 - base.reid
    return element(
        "p",
        [
            element("strong", "Taking the names away is not enough. "),
            "The benchmark was only shuffled and given pseudonyms. The best attack still matched "
            f"{found:.0%} of its users to their names, and its trace-inference score fell to "
            f"{base.trace:.3f}.",
        ],
    )


def _cheating(points: list[Point], users: int) -> list[Html]:
    base = next((p for p in points if p.release.benchmark), None)
    cheats = [p for p in points if _cheats(p)]
    if not cheats or base is None:
        return []
    cheat = max(cheats, key=lambda p: p.reid)
    gap = cheat.trace - base.trace
    safe = cheat.reid >= min(SAFE_FROM_REID, 1 - LUCKY_GUESSES / users)
    open_ = abs(gap) <= AS_OPEN_AS_BENCHMARK
    if safe and open_:
        verdict = (
            "So it is secure against re-identification, where attackers can only guess, and open "
            "to trace inference: they need not know who is who to recover where people were. Do "
            "not measure privacy by re-identification alone."
        )
    elif safe:
        verdict = (
            "It is secure against re-identification, but here its trace-inference score is "
            f"{abs(gap):.3f} {'above' if gap > 0 else 'below'} the benchmark's, which is not the "
            "near equality that the paper found."
        )
    else:
        verdict = (
            "The paper found almost 1 against re-identification; this contest does not show it, "
            "perhaps because only some of the users were shuffled."
        )
    return [
        element(
            "p",
            [
                element("strong", "Cheating anonymization. "),
                name_of(short_method(cheat.release.method)),
                " hands every chosen user the trace of another one before the judge shuffles them "
                f"again ({cheat.release.label}, {status(cheat.release.status)}). Against "
                f"re-identification it scores {cheat.reid:.3f}, against trace inference "
                f"{cheat.trace:.3f}; the benchmark, which hides nothing, has {base.reid:.3f} and "
                f"{base.trace:.3f}. {verdict}",
            ],
        )
    ]


def _correlation(facts: ContestFacts, points: list[Point]) -> Html:
    value, n = facts.board.correlation.value, facts.board.correlation.pairs
    if value is None:
        return Html("")
    heading = element("strong", "Who cannot be told apart is hard to follow. ")
    shown = (
        f"Over {n} releases the two minima correlate with R = {value:.3f} (the paper's contest: "
        f"{PAPER_CORRELATION}). "
    )
    if value >= STRONG:
        return element(
            "p",
            [
                heading,
                shown,
                "Attackers who want to undo an obfuscation first have to find the right "
                "pseudonym. ",
                *_exceptions(points),
            ],
        )
    said = [f"That is below {STRONG:g}, weaker than in the paper. ", *_why_weak(facts, points)]
    return element("p", [heading, shown, *said])


def _exceptions(points: list[Point]) -> list[str]:
    """Releases that cheat and yet take part: what they do to the correlation."""
    counted = [p for p in points if p.release.counts]
    rest = [p for p in counted if not _cheats(p)]
    value = _pearson([p.reid for p in rest], [p.trace for p in rest]) if len(rest) > 2 else None
    if len(rest) == len(counted) or value is None:
        return []
    names = ", ".join(p.release.label for p in counted if _cheats(p))
    return [f"Cheating is the exception ({names}): without it R would be {value:.3f}."]


def _cheats(point: Point) -> bool:
    return point.release.method.lower().startswith(CHEAT)


def _why_weak(facts: ContestFacts, points: list[Point]) -> list[str]:
    """What in the scores keeps the correlation down; every reason that holds."""
    counted = [p for p in points if p.release.counts]
    n = len(counted)
    if n < 4:
        return ["So few releases say little about a correlation."]
    said = []
    out = leave_one_out(counted)
    if out is not None and out[1] >= STRONG:
        point = out[0]
        said.append(
            f"One release accounts for it: without {point.release.label} "
            f"({clean(short_method(point.release.method)) or 'obfuscation not told'}), which has "
            f"{point.reid:.3f} and {point.trace:.3f}, it would be {out[1]:.3f}. "
        )
    broken = sum(p.reid <= FOUND_ALL for p in counted)
    if broken >= MANY * n:
        said.append(
            f"In {broken} of {n} releases nearly everybody was re-identified (s_R,min at most "
            f"{FOUND_ALL:g}), so that s_R,min does not tell them apart. "
        )
    ceiling = facts.board.ceiling
    if ceiling is not None:
        full = sum(p.trace >= ceiling - AT_THE_CEILING for p in counted)
        if full >= MANY * n:
            said.append(
                f"In {full} of {n} releases s_T,min is about what an attacker who never saw them "
                f"gets ({ceiling:.3f}); it cannot rise further, however hard re-identification is. "
            )
    spread_r = float(np.ptp([p.reid for p in counted]))
    spread_t = float(np.ptp([p.trace for p in counted]))
    if min(spread_r, spread_t) < NARROW:
        said.append(
            f"The scores lie close together (s_R,min within {spread_r:.3f}, s_T,min within "
            f"{spread_t:.3f}), so that small differences decide. "
        )
    return said or [
        "No single release accounts for it: obfuscations here differ in which of the two attacks "
        "they resist."
    ]


def _pearson(xs: list[float], ys: list[float]) -> float | None:
    if np.ptp(xs) == 0 or np.ptp(ys) == 0:
        return None
    return float(np.corrcoef(xs, ys)[0, 1])
