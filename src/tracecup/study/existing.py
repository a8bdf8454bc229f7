"""Beyond the paper: every defence that has a name against every attack that has one, 20-day traces.

Cell by cell into small files where the context has a folder, so that a stopped run goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tracecup.attack import parse_inference, parse_reid
from tracecup.attack.naming import is_blind, kind_of
from tracecup.methodnames import short_method
from tracecup.obfuscate import Obfuscator, parse_obfuscator
from tracecup.registry import methods
from tracecup.study.context import Context, Team
from tracecup.study.existingcells import Attack, ExistingCells, Tuning
from tracecup.study.existingsynth import COLUMNS as SYNTHESIZER_COLUMNS
from tracecup.study.existingsynth import synthesizers
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, StudyResult, Table

FEW, QUICK_FEW = 200, 16
QUICK_USERS = 60
FORMS: Mapping[str, Tuning] = {
    "None": Tuning("None", "nothing to tune"),
    "MRLH": Tuning("MRLH(1,1,0)", "lambda"),
    "RR": Tuning("RR(8)", "eps"),
    "PL": Tuning("PL(4,1)", "l"),
    "Cheat": Tuning("Cheat(0.3)", "p"),
    "KMeans": Tuning("KMeans(100)", "floor"),
    "RareShift": Tuning("RareShift(3)", "rare"),
    "Cloak": Tuning("Cloak(20)", "k"),
    "MDAV": Tuning("MDAV(5)", "floor"),
    "MixZone": Tuning("MixZone(2)", "floor"),
    "Optimal": Tuning("Optimal(0.6)", "Q"),
    "OptimalUser": Tuning("OptimalUser(0.6)", "Q"),
    "GeoOpt": Tuning("GeoOpt(4,8,prior=uniform)", "eps"),
    "PLR": Tuning("PLR(4,1)", "l"),
    "SGLT-D": Tuning("SGLT-D(200,0)", "c", whole=(32, 1024)),
    "Swap": Tuning("Swap(1,1)", "r"),
    "Equalise": Tuning("Equalise(25)", "nothing to tune: it ends at the floor"),
}
"""How a defence is written and by what it is tuned; others as they come, by their first knob."""
FURTHER = (
    Tuning("Optimal(0.598,weight=10,reach=0.75)", ""),
    Tuning("MDAV(2)", ""),
)
"""Forms that are taken as written: a linear programme, and k-anonymity whatever it costs."""
MATCHED = (
    "VisitProb-R(match=assignment)",
    "MMC-R(sym,match=assignment)",
    "Fuzzy-R(0.33,1,match=assignment)",
    "LPM-R(weak)",
)
ONE_TO_ONE = ("Fuzzy-T(0.33,1,0,match=assignment)", "Prior-T(habits=mixture)")
"""Stronger forms of attacks that stand in the table by themselves, too."""
COSTLY = frozenset(
    {"Bayes-R", "Bayes-T", "Learned-R", "Learned-T", "LPM-R", "LPM-T", "TF-R", "TF-T"}
)
"""Run on FEW users drawn at random: their scores are those of a smaller crowd.

LPM-R(weak) is none of them: it costs no more than VisitProb-R.
"""
SLOW = frozenset({"Equalise"})
"""Defences that are given FEW users from the start."""
QUICK_DEFENCES = ("None", "MRLH", "PL", "KMeans", "Cloak", "MDAV", "Optimal", "Swap")
CELLS = (
    "defence", "tuned", "s_U", "kind", "attack", "users", "score", "low", "high", "seconds", "MB",
)  # fmt: skip
DEFENCES = (
    "defence", "tuned", "tuning", "users", "s_U", "valid", "seconds", "MB", "s_R,min", "by",
    "s_T,min", "by (trace)", "s_T without the release", "s_R, few users", "by (few)",
    "s_T, few users", "by (trace, few)", "promise",
)  # fmt: skip


@study(
    "existing",
    "Existing defences against existing attacks",
    "Sections 2 and 6: the systems that the paper compares with or builds on",
    "The paper cites these systems and argues about them; it runs its own sample methods and what "
    "the teams handed in.",
    needs=("built-in",),
)
def run(context: Context) -> StudyResult:
    """All defences, tuned to utility 0.7 where that is possible, against all attacks."""
    users = QUICK_USERS if context.quick else context.users
    few = QUICK_FEW if context.quick else FEW
    team = context.long_team(users=users)
    cells = table_of_cells(context, team, few, defences(context.quick), attacks())
    made = synthesizers(context)
    summary = _defences(cells)
    best = max(
        (row for row in summary.records() if row["valid"] and row["users"] == users),
        key=lambda row: float(row["s_R,min"]) + float(row["s_T,min"]),
    )
    return StudyResult(
        BUILT_IN,
        {
            "cells": Table.of(CELLS, (one.row for one in cells)),
            "defences": summary,
            "synthesizers": Table.of(SYNTHESIZER_COLUMNS, made.rows),
        },
        {
            "s_R,min of the valid defence with the largest sum": best["s_R,min"],
            "s_T,min of the same": best["s_T,min"],
        },
        (),
        {**team.sizes, "users under costly attacks": few, **made.sizes},
        (
            "Every defence is tuned to the strongest setting with utility 0.7 or more by its first "
            "knob, to within 0.002. MDAV(2) is taken as written: with whole groups no k reaches "
            "0.7. The linear programme of Optimal is taken with Q = 0.598 km.",
            f"{', '.join(sorted(COSTLY))} are run on {few} users drawn at random and their "
            "pseudonyms: "
            "fewer users are easier to tell apart, so these scores are not comparable with the "
            "others and have minima of their own. A trace that Cheat took from a user outside has "
            "nobody to be linked to. "
            + (
                "A quick run takes some of the defences."
                if context.quick
                else f"{', '.join(sorted(SLOW))} protects {few} users only, because of its cost."
            ),
            "Minima of s_T are over attacks that use the release; no defence can be credited with "
            "more than the last but one column, which an attacker without the release reaches.",
            "Intervals are over users (95 %). MB: peak above what was in use before. Bayes-T is "
            "timed after Bayes-R on the same case, whose channel it takes over.",
            *made.notes,
        ),
        {"synthesizers": made.source},
    )


def defences(quick: bool = False) -> list[Tuning]:
    """Every registered defence, in the order of `FORMS`, then those that are new to it."""
    known = [name for name in methods("obfuscator") if _ours(parse_obfuscator(name))]
    forms = [FORMS.get(name, Tuning(str(parse_obfuscator(name)), "")) for name in known]
    found = [
        replace(one, knob=_first_knob(one.written)) if one.written not in _WRITTEN else one
        for one in (*forms, *FURTHER)
    ]
    order = {one.written: at for at, one in enumerate((*FORMS.values(), *FURTHER))}
    found.sort(key=lambda one: order.get(one.written, len(order)))
    if quick:
        wanted = {FORMS[name].written for name in QUICK_DEFENCES}
        return [one for one in found if one.written in wanted]
    return found


_WRITTEN = frozenset(one.written for one in (*FORMS.values(), *FURTHER))


def attacks() -> list[Attack]:
    """Every registered attack, with the shipped model where it needs one, and stronger forms."""
    reid = [name for name in methods("reid") if _ours(parse_reid(name))]
    trace = [name for name in methods("inference") if _ours(parse_inference(name))]
    return [
        *(parse_reid(name) for name in (*reid, *MATCHED)),
        *(parse_inference(name) for name in (*trace, *ONE_TO_ONE)),
    ]


def is_costly(method: Attack) -> bool:
    """Whether an attack meets a part of the users only."""
    return method.name in COSTLY and str(method) != str(parse_reid("LPM-R(weak)"))


def _ours(method: Obfuscator | Attack) -> bool:
    """Methods from outside tracecup are left out."""
    return type(method).__module__.startswith("tracecup.")


def _first_knob(written: str) -> str:
    knobs = parse_obfuscator(written).knobs
    return knobs[0].parameter if knobs else ""


@dataclass(frozen=True)
class ExistingCell:
    """One cell: a row of the table, and what the table of defences needs besides."""

    row: tuple[object, ...]
    tuning: str
    seconds: float
    megabytes: float | None

    def __getitem__(self, name: str) -> object:
        return self.row[CELLS.index(name)]


def table_of_cells(
    context: Context, team: Team, few: int, shields: Sequence[Tuning], swords: Sequence[Attack]
) -> list[ExistingCell]:
    """Every cell, read from its file or computed."""
    return list(_cells(context, team, few, shields, swords))


def _cells(
    context: Context, team: Team, few: int, shields: Sequence[Tuning], swords: Sequence[Attack]
) -> Iterator[ExistingCell]:
    for k, shield in enumerate(shields):
        if context.tell:
            context.tell(k, len(shields))
        slow = parse_obfuscator(shield.written).name in SLOW
        crowd = team.take_users(few) if slow else team
        cells = ExistingCells(context, crowd, shield)
        for sword in swords:
            users = few if is_costly(sword) else crowd.original.n_users
            met = cells.met(sword, min(users, crowd.original.n_users))
            row = (
                shield.written,
                short_method(cells.held["tuned"]),
                cells.held["s_U"],
                kind_of(sword),
                str(sword),
                met["users"],
                met["score"],
                met["low"],
                met["high"],
                met["seconds"],
                met["MB"],
            )
            yield ExistingCell(row, cells.held["tuning"], cells.held["seconds"], cells.held["MB"])


def _defences(cells: Sequence[ExistingCell]) -> Table:
    """One row per defence: what it costs, and the strongest attack of each kind.

    On all users it was given, and on the few that costly attacks meet.
    """
    rows = []
    for written in dict.fromkeys(one["defence"] for one in cells):
        own = [one for one in cells if one["defence"] == written]
        users = max(_users(one) for one in own)
        whole = [one for one in own if _users(one) == users]
        part = [one for one in own if _users(one) < users] or whole
        reid, trace = _strongest(whole)
        reid_few, trace_few = _strongest(part)
        blind = min((one for one in whole if _blind(one)), key=_score)
        tuned, utility = own[0]["tuned"], own[0]["s_U"]
        assert isinstance(utility, float)
        rows.append(
            (
                written,
                tuned,
                own[0].tuning,
                users,
                utility,
                utility >= 0.7 - 1e-9,
                own[0].seconds,
                own[0].megabytes,
                reid["score"],
                reid["attack"],
                trace["score"],
                trace["attack"],
                blind["score"],
                reid_few["score"],
                reid_few["attack"],
                trace_few["score"],
                trace_few["attack"],
                parse_obfuscator(str(tuned)).guarantee(400),
            )
        )
    return Table.of(DEFENCES, rows)


def _strongest(cells: Sequence[ExistingCell]) -> tuple[ExistingCell, ExistingCell]:
    """The strongest re-identification, and the strongest inference that uses the release."""
    reid = min((one for one in cells if one["kind"] == "reid"), key=_score)
    seeing = (one for one in cells if one["kind"] == "trace" and not _blind(one))
    return reid, min(seeing, key=_score)


def _users(one: ExistingCell) -> int:
    return int(str(one["users"]))


def _score(one: ExistingCell) -> float:
    return float(str(one["score"]))


def _blind(one: ExistingCell) -> bool:
    return is_blind(str(one["attack"]))
