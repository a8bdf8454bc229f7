"""The verdict in plain sentences, what to do, and the whole answer as plain JSON.

The first line says the verdict, how much was looked at, what was run and what is stronger.
"""

from __future__ import annotations

import math
from typing import Any

from tracecup.study.audit import Audit
from tracecup.study.auditwords import as_dict, percent, tried
from tracecup.study.exposure import MOST_EVENTS, Exposure, metres
from tracecup.study.placed import WARNING
from tracecup.study.protections import USES, Protected
from tracecup.study.verdict import Answer


def verdict(answer: Answer) -> list[str]:
    """The verdict in a few lines; the first one is the answer, and what it rests on."""
    worst = answer.worst
    said = [f"{_headline(answer)} {audited(worst)} {tried(worst)}"]
    said += [note for note in worst.subject.notes if note.startswith(WARNING)]
    if len(answer.settings) > 1:
        shares = ", ".join(f"{one.words}: {percent(one.rate)}" for one in answer.settings)
        said.append(f"Share of users named under each grid and time step, worst first: {shares}.")
    if answer.exposure is not None:
        said += _exposed(answer.exposure)
    return said


def audited(audit: Audit) -> str:
    """How much of the release was looked at."""
    coverage = audit.subject.coverage
    if coverage is None:
        return f"100% of the {audit.events} known events, {audit.users} users were audited."
    share = percent(coverage.audited / coverage.records)
    merged = percent(coverage.merged / coverage.records)
    others = (
        f" ({merged} fell into the same instant as an earlier record of the same user)"
        if coverage.merged
        else ""
    )
    return (
        f"{share} of your {coverage.records} records{others}, {audit.users} of "
        f"{coverage.users} users were audited."
    )


def what_to_do(answer: Answer) -> list[str]:
    """Which protection to take, or that none of those tried is enough."""
    if answer.safe is None or not answer.protections:
        return []
    best = answer.best_protection
    if answer.safe:
        said = "Against these attacks nothing more is needed to stay at your limit."
        return [said, "What each protection would change is in the table."]
    if best is None:
        least = min(answer.protections, key=lambda one: one.rate)
        return [
            f"None of the {len(answer.protections)} protections tried brings the share of named "
            f"users to your limit of {percent(answer.limit)}; {least.name} comes nearest "
            f"({percent(least.rate)}). Release fewer days, coarser times or fewer people, or "
            "counts instead of traces."
        ]
    return [
        f"{best.name} brings the share of named users to {percent(best.rate)} and keeps most of "
        f"the points of those that do (s_U {best.points:.3f}). Audit its output as you audited "
        "this release before you publish it.",
        "Below the limit here means: against these attacks, on these records.",
    ]


def answer_dict(answer: Answer, top: int, per_user: bool = False) -> dict[str, Any]:
    """The whole answer as plain JSON: the verdict first, then what to do, then the numbers."""
    worst, exposure = answer.worst, answer.exposure
    coverage = worst.subject.coverage
    return {
        "verdict": {
            "safe": answer.safe,
            "limit": answer.limit,
            "named": answer.settings[0].rate if worst.reid else None,
            "sentences": verdict(answer),
        },
        "what_to_do": {
            "sentences": what_to_do(answer),
            "uses": dict(USES),
            "protections": [_protected(answer, one) for one in answer.protections],
        },
        "coverage": None if coverage is None else vars(coverage),
        "settings": [
            {"setting": one.words, "named": one.rate, "users": one.found.users}
            for one in answer.settings
        ],
        "known_points": None if exposure is None else _exposure(exposure, per_user),
        "exposed_users": [{"user": user, "why": list(why)} for user, why in exposed(answer, top)],
        **as_dict(worst, top, per_user),
    }


def exposed(answer: Answer, top: int) -> list[tuple[str, tuple[str, ...]]]:
    """The most exposed users by what the owner calls them, and why."""
    found = answer.worst
    if answer.exposure is None:
        return [(risk.user, ()) for risk in found.worst(top)]
    return [
        (found.subject.labels[user], answer.exposure.why(found, user))
        for user in found.worst_positions(top)
    ]


def known_rows(exposure: Exposure) -> list[tuple[str, str, str, str]]:
    """(what is known, how much, alone, mean risk or interval of the choices) for tables."""
    rows = [
        (
            "visits with times",
            f"any {one.points}",
            f"{percent(one.value)} of the choices",
            _within(one.interval.low, 1.0 if one.interval.high is None else one.interval.high),
        )
        for one in exposure.unicity
        if not math.isnan(one.value)
    ]
    rows += [
        (one.kind, f"worst {one.points}", f"{_within(*one.alone)} of the users", _within(*one.mean))
        for one in exposure.points
        if one.measured
    ]
    risk = exposure.home_work.risk[~(exposure.home_work.home < 0)]
    if len(risk):
        alone = percent(float((risk == 1).mean()))
        rows.append(("home and work", "both", f"{alone} of the users", percent(float(risk.mean()))))
    return rows


def _headline(answer: Answer) -> str:
    worst, best = answer.worst, answer.worst.strongest_reid
    if answer.safe is None or best is None:
        why = (
            "with one user there is nobody to be taken for"
            if worst.reid
            else ("without the ID table nobody can tell who is behind a pseudonym")
        )
        return f"No verdict: {why}."
    span = worst.identified_interval
    ends = "" if span is None else f", {_within(span.low, 1.0 if span.high is None else span.high)}"
    share = f"{worst.identified} of {worst.users} users ({percent(answer.settings[0].rate)}{ends})"
    limit = f"your limit is {percent(answer.limit)}"
    if answer.bar > answer.limit:
        limit += f", guessing names {percent(worst.guessing)}"
    word = "At or below your limit" if answer.safe else "Not safe to release"
    return f"{word}: the strongest attack, {best.attack}, names {share}; {limit}."


def _exposed(exposure: Exposure) -> list[str]:
    said = []
    last = exposure.unicity[-1]
    if not math.isnan(last.value):
        said.append(
            f"Whoever knows {last.points} visits of a person with their times finds her alone in "
            f"{percent(last.value)} of the cases."
        )
    if exposure.homes.measured:
        said.append(
            f"The home of {percent(exposure.homes.within(exposure.within_km))} of the "
            f"{exposure.homes.measured} users seen at night is found within "
            f"{metres(exposure.within_km)}, without linking anybody."
        )
    else:
        said.append("Homes were not looked for: nobody was seen between 22:00 and 7:00.")
    if exposure.presence is not None:
        found = exposure.presence
        clear = found.interval.low > 0.5
        said.append(
            f"Whether somebody is in the release at all can{'' if clear else 'not'} be told from "
            f"her earlier days: {percent(found.auc)} of the pairs right, guessing 50%."
        )
    elif exposure.too_large:
        said.append(
            "Whether somebody is in the release at all was not looked at: that measure holds all "
            f"events in memory, and takes {MOST_EVENTS // 10**6} million of them at most."
        )
    return said


def _exposure(exposure: Exposure, per_user: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "unicity": [
            {
                "points": one.points,
                "share": _known(one.value),
                "interval": [one.interval.low, one.interval.high],
                "method": one.interval.method,
                **({"per_user": [_known(x) for x in one.per_user]} if per_user else {}),
            }
            for one in exposure.unicity
        ],
        "risk": [
            {
                "kind": one.kind,
                "points": one.points,
                "users": one.measured,
                "exact": one.exact,
                "mean": [_known(x) for x in one.mean],
                "alone": [_known(x) for x in one.alone],
                **({"per_user": [_known(x) for x in one.low]} if per_user else {}),
            }
            for one in exposure.points
        ],
        "home_work": {
            "users": int((exposure.home_work.home >= 0).sum()),
            **({"per_user": [_known(x) for x in exposure.home_work.risk]} if per_user else {}),
        },
        "homes": {
            "users": exposure.homes.measured,
            "within_km": exposure.within_km,
            "found": _known(exposure.homes.within(exposure.within_km)),
        },
        "membership": None,
    }
    if exposure.presence is not None:
        interval = exposure.presence.interval
        found["membership"] = {
            "auc": exposure.presence.auc,
            "interval": [interval.low, interval.high],
            "members": int(exposure.presence.member.sum()),
        }
    return found


def _protected(answer: Answer, one: Protected) -> dict[str, Any]:
    return {
        "protection": one.name,
        "helps": answer.helps(one),
        "attack": one.attack,
        "named": one.rate,
        "alone_with_4_visits": _known(one.alone),
        "homes_found": one.homes,
        "points": one.points,
        "crowds": one.crowds,
        "flows": one.flows,
        "guarantee": one.guarantee,
    }


def _within(low: float, high: float) -> str:
    return percent(low) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
