"""Figure 8: the 37 sample obfuscations, re-identification against trace inference.

With the organisers' sub-sampling and without, and finer sweeps of each parameter.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from statistics import fmean, stdev

import numpy as np

from tracecup.contest.correlation import correlate
from tracecup.obfuscate import parse_obfuscator
from tracecup.safeio import read_lines
from tracecup.score import is_valid, utility_score
from tracecup.study.attacked import Attacks, Outcome, attack
from tracecup.study.context import Context, Team
from tracecup.study.reproduce import study
from tracecup.study.results import Comparison, StudyResult, Table
from tracecup.traces import SetTraces

CODES = (
    "A1",
    *(f"A2-0-0-{p}" for p in ("0.1", "0.2", "0.5", "0.8")),
    *(f"A2-1-1-{p}" for p in ("0", "0.1", "0.2", "0.5", "0.8")),
    *(f"A3-{eps}" for eps in ("0.1", "1", "2", "4", "6", "8", "10", "12", "14")),
    *(f"A4-{level}-1" for level in ("0.1", "1", "2", "3", "4", "5", "6", "7")),
    *(f"A5-{p}" for p in ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1")),
)
FAMILY = {"A1": "None", "A2": "MRLH", "A3": "RR", "A4": "PL", "A5": "Cheat"}
SWEEPS = (
    *(f"MRLH(0,0,{p:g})" for p in np.linspace(0.05, 0.95, 7)),
    *(f"MRLH(1,1,{p:g})" for p in np.linspace(0.05, 0.95, 7)),
    *(f"MRLH(2,2,{p:g})" for p in (0, 0.25, 0.5)),
    *(f"RR({eps:g})" for eps in (5, 7, 7.5, 9, 11)),
    *(f"PL({level:g},1)" for level in (0.25, 0.5, 1.5, 2.5, 10, 20)),
)
SUB_SAMPLED = Attacks.samples("organisers2019")
SEEDS, QUICK_SEEDS = 5, 2
COLUMNS = (
    "code", "method", "family", "sweep", "s_U", "valid", "s_R,min", "s_T,min",
    "s_R,min organisers", "s_R,min sd", "s_T,min organisers", "s_T,min sd",
    "HomeProb-R", "HomeProb-R organisers", "VisitProb-R", "VisitProb-R organisers",
    "VisitProb-R sd", "generalized",
)  # fmt: skip


@study(
    "fig8",
    "Privacy of the 37 sample obfuscations",
    "Figure 8",
    "Re-identification and trace inference scores rise together, with one exception: cheating "
    "anonymization reaches a re-identification score of almost 1 while its trace inference score "
    "stays that of no obfuscation at all.",
    needs=("sample", "built-in"),
)
def run(context: Context) -> StudyResult:
    """The sample obfuscations on every data set that is there."""
    tables: dict[str, Table] = {}
    comparisons: list[Comparison] = []
    numbers: dict[str, float] = {}
    if context.has("sample") and context.has("sheets"):
        tables["utilities"] = _utilities(context, context.sample_team())
        comparisons += _published(tables["utilities"])
    for name, team in context.stages.items():
        tables[name] = _table(context, team)
        comparisons += _findings(name, tables[name], context.quick)
        numbers |= _correlations(name, tables[name])
    notes = [
        "Sample scores of the paper are a picture only; what is published in numbers are the "
        "utilities on the 2-day Osaka traces, which are matched draw by draw.",
        "Sub-sampling: each cell used with probability 0.1, at most 10 members of a set, mean "
        f"and standard deviation over {_seeds(context)} seeds. HomeProb-R uses all its cells.",
    ]
    return StudyResult(
        next(iter(context.stages.values())).source,
        tables,
        numbers,
        tuple(comparisons),
        context.sizes,
        tuple(notes),
        context.sources("{}"),
    )


def method_of(code: str) -> str:
    """The method of a score sheet's code, as names are written.

    >>> method_of("A2-1-1-0.5"), method_of("A4-0.1-1"), method_of("A1")
    ('MRLH(1,1,0.5)', 'PL(0.1,1)', 'None')
    """
    head, *values = code.split("-")
    return f"{FAMILY[head]}({','.join(values)})" if values else FAMILY[head]


def replayed(code: str) -> str:
    """The same with the draws of the organisers' program."""
    name = method_of(code)
    return name if name == "None" else name.removesuffix(")") + ",replay=true)"


def _seeds(context: Context) -> int:
    return QUICK_SEEDS if context.quick else SEEDS


def _utilities(context: Context, team: Team) -> Table:
    """Published and replayed utility of the 37, on all users."""
    lines = read_lines(context.path("results/osaka_sample_utilities.csv"))
    published = {row["Ano"]: float(row["Util"]) for row in csv.DictReader(lines)}
    rows = []
    for code in CODES:
        cells = parse_obfuscator(replayed(code)).obfuscate(team.city, team.original)
        ours = utility_score(team.city, team.original, cells, rule="organisers").value
        rows.append((code, method_of(code), published[code], ours, abs(ours - published[code])))
    return Table.of(("code", "method", "published s_U", "ours", "difference"), rows)


def _published(utilities: Table) -> Iterator[Comparison]:
    differences = utilities.column("difference")
    equal = sum(d <= 1e-9 for d in differences)
    yield Comparison.equal(
        "published utilities met to 1e-9 (of 37)", float(len(CODES)), float(equal), 0.0
    )
    yield Comparison.equal("largest difference of a utility", 0.0, max(differences))


def _table(context: Context, team: Team) -> Table:
    rows = [_row(context, team, code, replayed(code), FAMILY[code[:2]], True) for code in CODES]
    if not context.quick:
        rows += [_row(context, team, "", name, name.split("(")[0], False) for name in SWEEPS]
    return Table.of(COLUMNS, rows)


def _row(
    context: Context, team: Team, code: str, name: str, family: str, sub_sampled: bool
) -> tuple[object, ...]:
    method = parse_obfuscator(name)
    seed = context.seed_of("fig8", name)
    cells = method.obfuscate(team.city, team.original, None if "replay" in name else seed)
    utility = utility_score(team.city, team.original, cells).value
    full = attack(team, cells, Attacks.samples(), seed, shuffle=seed)
    head = (
        code,
        method_of(code) if code else name,
        family,
        not code,
        utility,
        is_valid(utility),
        full.s_r,
        full.s_t,
    )
    generalized = bool((np.diff(cells.offsets) > 1).any())
    home, visit = full.reid["HomeProb-R"], full.reid["VisitProb-R"]
    if not sub_sampled:
        return (*head, None, None, None, None, home, None, visit, None, None, generalized)
    part = list(_sub_sampled(context, team, cells, seed))
    s_r, s_t = [one.s_r for one in part], [one.s_t for one in part]
    visits = [one.reid[SUB_SAMPLED.reid[1]] for one in part]
    return (
        *head,
        fmean(s_r),
        stdev(s_r),
        fmean(s_t),
        stdev(s_t),
        home,
        part[0].reid[SUB_SAMPLED.reid[2]],
        visit,
        fmean(visits),
        stdev(visits),
        generalized,
    )


def _sub_sampled(context: Context, team: Team, cells: SetTraces, seed: int) -> Iterator[Outcome]:
    """The organisers' attacks with several seeds, on the same shuffle as the full ones."""
    for k in range(_seeds(context)):
        again = context.seed_of("sub-sampling", seed, k)
        yield attack(team, cells, SUB_SAMPLED, again, shuffle=seed)


def _findings(name: str, table: Table, quick: bool) -> Iterator[Comparison]:
    where = f" ({name})"
    none, cheat = table.row(code="A1"), table.row(code="A5-1")
    # Which user comes first in the greedy linking is chance; with few users it matters more.
    same = 0.06 if quick else 0.03
    yield Comparison(
        f"s_R,min of Cheat(1){where}", 1.0, cheat["s_R,min"], 0.98 if quick else 0.995, 1.0,
        "the paper says almost 1",
    )  # fmt: skip
    yield Comparison(
        f"s_T,min of Cheat(1) minus that of None{where}",
        0.0,
        cheat["s_T,min"] - none["s_T,min"],
        -same,
        same,
        "the paper says almost the same",
    )
    apart = max(
        abs(row["HomeProb-R"] - row["HomeProb-R organisers"])
        for row in table.where(sweep=False, generalized=False).records()
    )
    yield Comparison.equal(
        f"HomeProb-R, full against sub-sampled, largest difference without sets{where}",
        0.0,
        apart,
        why="both use all home cells",
    )


def _correlations(name: str, table: Table) -> dict[str, float]:
    """Correlation of the two minima over the 37, without cheating and with it."""
    found = {}
    for label, cheats in (("without Cheat", False), ("all 37", True)):
        rows = [r for r in table.where(sweep=False).records() if cheats or r["family"] != "Cheat"]
        for ending, words in (("", "all cells"), (" organisers", "sub-sampled")):
            reid = [row[f"s_R,min{ending}"] for row in rows]
            value = correlate(reid, [row[f"s_T,min{ending}"] for row in rows]).value
            if value is not None:
                found[f"correlation, {label}, {words} ({name})"] = value
    return found
