"""Beyond the paper: every defence that has a name against every attack that has one, 20-day traces.

Cell by cell into small files where the context has a folder, so that a stopped run goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tracecup.attack import ReidAttack, parse_inference, parse_reid
from tracecup.obfuscate import Obfuscator, parse_obfuscator
from tracecup.registry import methods
from tracecup.study.comparison import BLIND, short
from tracecup.study.context import Context, Team
from tracecup.study.existingcells import Attack, Cells, Tuning
from tracecup.study.existingsynth import COLUMNS as SYNTHESIZER_COLUMNS
from tracecup.study.existingsynth import synthesizers
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, StudyResult, Table

FEW, QUICK_FEW = 400, 30
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
}
"""How a defence is written and by what it is tuned; others as they come, by their first knob."""
FURTHER = (
    Tuning("Optimal(0.598,weight=10,reach=0.75)", ""),
    Tuning("MDAV(2)", ""),
)
"""Forms that are taken as written: a linear programme, and k-anonymity whatever it costs."""
MATCHED = ("VisitProb-R(match=assignment)", "Fuzzy-R(0.33,1,match=assignment)")
COSTLY = frozenset(
    {"Bayes-R", "Bayes-T", "LPM-R", "LPM-T", "Markov-R", "Markov0-R", "TF-R", "TF-T"}
)
"""Run on FEW users drawn at random: their scores are those of a smaller crowd."""
QUICK_TILE = 3
CELLS = (
    "defence", "tuned", "s_U", "kind", "attack", "users", "score", "low", "high", "seconds", "MB",
)  # fmt: skip
DEFENCES = (
    "defence", "tuned", "tuning", "s_U", "valid", "seconds", "MB", "s_R,min", "by", "s_T,min",
    "by (trace)", "s_T without the release", "promise",
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
    best = max(
        (row for row in _defences(cells, users).records() if row["valid"]),
        key=lambda row: float(row["s_R,min"]) + float(row["s_T,min"]),
    )
    return StudyResult(
        BUILT_IN,
        {
            "cells": Table.of(CELLS, (one.row for one in cells)),
            "defences": _defences(cells, users),
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
            "others and do not enter the minima. A trace that Cheat took from a user outside has "
            "nobody to be linked to.",
            "Minima of s_T are over attacks that use the release; no defence can be credited with "
            "more than the last but one column, which an attacker without the release reaches.",
            "Intervals are over users (95 %). MB: peak above what was in use before.",
            *made.notes,
        ),
        {"synthesizers": made.source},
    )


def defences(quick: bool = False) -> list[Tuning]:
    """Every registered defence, in the order of `FORMS`, then those that are new to it."""
    known = [name for name in methods("obfuscator") if _plain(parse_obfuscator(name))]
    forms = [FORMS.get(name, Tuning(str(parse_obfuscator(name)), "")) for name in known]
    found = [
        replace(one, knob=_first_knob(one.written)) if one.written not in _WRITTEN else one
        for one in (*forms, *FURTHER)
    ]
    order = {one.written: at for at, one in enumerate((*FORMS.values(), *FURTHER))}
    found.sort(key=lambda one: order.get(one.written, len(order)))
    if quick:
        tile = f"GeoOpt(4,{QUICK_TILE},prior=uniform)"
        return [replace(one, written=tile) if "GeoOpt" in one.written else one for one in found]
    return found


_WRITTEN = frozenset(one.written for one in (*FORMS.values(), *FURTHER))


def attacks() -> list[Attack]:
    """Every registered attack that needs no file of its own, and some with optimal matching."""
    reid = [name for name in methods("reid") if _plain(parse_reid(name))]
    trace = [name for name in methods("inference") if _plain(parse_inference(name))]
    return [
        *(parse_reid(name) for name in (*reid, *MATCHED)),
        *(parse_inference(name) for name in trace),
    ]


def _plain(method: Obfuscator | Attack) -> bool:
    """Methods from outside tracecup and those that read a model file are left out."""
    ours = type(method).__module__.startswith("tracecup.")
    return ours and all(rule.name != "model" for rule in method.parameters())


def _first_knob(written: str) -> str:
    knobs = parse_obfuscator(written).knobs
    return knobs[0].parameter if knobs else ""


@dataclass(frozen=True)
class Found:
    """One cell: a row of the table, and what the table of defences needs besides."""

    row: tuple[object, ...]
    tuning: str
    seconds: float
    megabytes: float | None

    def __getitem__(self, name: str) -> object:
        return self.row[CELLS.index(name)]


def table_of_cells(
    context: Context, team: Team, few: int, shields: Sequence[Tuning], swords: Sequence[Attack]
) -> list[Found]:
    """Every cell, read from its file or computed."""
    return list(_cells(context, team, few, shields, swords))


def _cells(
    context: Context, team: Team, few: int, shields: Sequence[Tuning], swords: Sequence[Attack]
) -> Iterator[Found]:
    for shield in shields:
        cells = Cells(context, team, shield)
        for sword in swords:
            users = few if sword.name in COSTLY else team.original.n_users
            met = cells.met(sword, min(users, team.original.n_users))
            row = (
                shield.written,
                short(cells.held["tuned"]),
                cells.held["s_U"],
                "reid" if isinstance(sword, ReidAttack) else "trace",
                str(sword),
                met["users"],
                met["score"],
                met["low"],
                met["high"],
                met["seconds"],
                met["MB"],
            )
            yield Found(row, cells.held["tuning"], cells.held["seconds"], cells.held["MB"])


def _defences(cells: Sequence[Found], users: int) -> Table:
    """One row per defence: what it costs, and the strongest attack of each kind on all users."""
    rows = []
    for written in dict.fromkeys(one["defence"] for one in cells):
        own = [one for one in cells if one["defence"] == written]
        whole = [one for one in own if one["users"] == users]
        reid = min((one for one in whole if one["kind"] == "reid"), key=_score)
        seeing = [one for one in whole if one["kind"] == "trace" and not _blind(one)]
        trace = min(seeing, key=_score)
        blind = min((one for one in whole if _blind(one)), key=_score)
        tuned, utility = own[0]["tuned"], own[0]["s_U"]
        assert isinstance(utility, float)
        rows.append(
            (
                written,
                tuned,
                own[0].tuning,
                utility,
                utility >= 0.7 - 1e-9,
                own[0].seconds,
                own[0].megabytes,
                reid["score"],
                reid["attack"],
                trace["score"],
                trace["attack"],
                blind["score"],
                parse_obfuscator(str(tuned)).guarantee(400),
            )
        )
    return Table.of(DEFENCES, rows)


def _score(one: Found) -> float:
    return float(str(one["score"]))


def _blind(one: Found) -> bool:
    return str(one["attack"]).partition("(")[0] in BLIND
