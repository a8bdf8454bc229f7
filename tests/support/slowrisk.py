"""Every known-points risk once more, by trying all choices against everybody in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

from tracecup import SetTraces, Traces

HAIR = 1e-12


def records_of(traces: Traces | SetTraces) -> list[list[tuple[int, int]]]:
    """(time, region) of every user, without gaps."""
    people = []
    for u in range(traces.n_users):
        mine = []
        for t in range(traces.times):
            if isinstance(traces, Traces):
                cell = [int(traces.regions[u, t])]
            else:
                cell = [int(x) for x in traces.cell(u, t)]
            mine += [(t, x) for x in cell if x >= 0]
        people.append(mine)
    return people


def near(value: float, want: float, tolerance: float) -> bool:
    slack = value * tolerance + HAIR * value
    return value - slack <= want <= value + slack


def fits(kind: str, chosen, known, released, tolerance: float) -> bool:
    """Whether what is chosen of `known` fits the released records of one person."""
    held, mine = Counter(x for _, x in released), Counter(x for _, x in known)
    if kind == "location":
        found = all(held[x] >= n for x, n in Counter(x for _, x in chosen).items())
    elif kind == "location and time":
        found = all(point in released for point in chosen)
    elif kind == "sequence":
        left = iter(sorted({t for t, _ in released}))
        at = {t: {x for s, x in released if s == t} for t, _ in released}
        found = all(any(x in at[t] for t in left) for _, x in chosen)
    elif not all(held[x] for x in chosen):
        found = False
    else:
        ours, theirs = {"unique location": (None, None), "frequency": (1, 1)}.get(
            kind, (len(known), len(released))
        )
        if kind == "proportion":
            ours, theirs = max(mine[x] for x in chosen), max(held[x] for x in chosen)
        found = ours is None or all(
            near(held[x] / theirs, mine[x] / ours, tolerance) for x in chosen
        )
    return found


def slow_risk(kind, known, released=None, points=2, tolerance=0.0) -> list[float]:
    """max over choices of up to `points` of 1 / people who fit, where the user herself does."""
    true = records_of(known)
    shown = true if released is None else records_of(released)
    by_record = kind in ("location", "location and time", "sequence")
    risks = []
    for mine, own in zip(true, shown, strict=True):
        items = mine if by_record else sorted({x for _, x in mine})
        alive = items
        if kind == "proportion":
            alive = [x for x in items if any(x == y for _, y in own)]
        risk = 0.0 if items else math.nan
        # A choice of fewer is never worse, but for proportions within a tolerance.
        sizes = [min(points, len(alive))] if kind == "proportion" else range(1, points + 1)
        for size in sizes:
            for chosen in combinations(alive, size) if size else ():
                if fits(kind, chosen, mine, own, tolerance):
                    others = sum(fits(kind, chosen, mine, one, tolerance) for one in shown)
                    risk = max(risk, 1 / others)
        risks.append(risk)
    return risks


def slow_unicity(known, released=None, points=2, anywhere=False) -> list[float]:
    """With `anywhere`, a deleted cell fits whatever is known of its moment."""
    true = records_of(known)
    shown = true if released is None else records_of(released)
    if anywhere:
        shown = [list(one) for one in shown]
        for u, one in enumerate(shown):
            empty = [t for t in range(released.times) if not len(released.cell(u, t))]
            one += [(t, x) for t in empty for x in range(1 + int(known.regions.max()))]
    shares = []
    for mine, own in zip(true, shown, strict=True):
        choices = list(combinations(mine, min(points, len(mine)))) if mine else []
        alone = sum(
            all(p in own for p in chosen)
            and sum(all(p in one for p in chosen) for one in shown) == 1
            for chosen in choices
        )
        shares.append(alone / len(choices) if choices else math.nan)
    return shares


def slow_home_work(known, released, minutes, night) -> list[float]:
    def pair(records):
        def top(xs):
            counts = Counter(xs)
            return min(counts, key=lambda x: (-counts[x], x)) if counts else -1

        def dark(t):
            minute, (begin, end) = minutes[t % len(minutes)], night
            return begin <= minute < end if begin < end else minute >= begin or minute < end

        home = top(x for t, x in records if dark(t))
        return home, top(x for t, x in records if not dark(t) and x != home)

    true = [pair(one) for one in records_of(known)]
    shown = true if released is None else [pair(one) for one in records_of(released)]
    return [
        math.nan if mine[0] < 0 else (mine == own) / max(1, shown.count(mine))
        for mine, own in zip(true, shown, strict=True)
    ]
