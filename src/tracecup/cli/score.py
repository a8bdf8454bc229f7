"""`tracecup score`: the contest's three numbers from files, as the judge computes them.

Utility, re-identification and trace inference, each with an interval over users.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tracecup.cli.common import (
    CityFile,
    ClockFile,
    Confidence,
    Gaps,
    Json,
    OriginalFile,
    PerUser,
    emit,
    load_city,
    load_clock,
    looks_like_a_reference,
    original_part,
    score_payload,
    score_rows,
    table_of,
)

if TYPE_CHECKING:
    from tracecup.city import City
    from tracecup.score import Score
    from tracecup.traces import Traces

Reach = Annotated[
    float, typer.Option("--reach-km", help="Distance at which nothing is left (lambda), in km.")
]


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    score = typer.Typer(no_args_is_help=True, help="Compute the contest's scores from files.")
    score.command("utility")(utility)
    score.command("reid")(reid)
    score.command("trace")(trace)
    app.add_typer(score, name="score")


def utility(
    city: CityFile,
    original: OriginalFile,
    obfuscated: Annotated[
        Path, typer.Option("--obfuscated", help="Obfuscated traces: anotraces file.")
    ],
    clock: ClockFile = None,
    gaps: Gaps = False,
    rule: Annotated[
        Literal["paper", "organisers"],
        typer.Option(
            "--rule",
            help="paper: average the distance of a set, then clip. organisers: clip each "
            "member, then average, as the program of 2019 did.",
        ),
    ] = "paper",
    floor: Annotated[
        float | None,
        typer.Option("--floor", help="Leave with exit code 1 below this utility (contest: 0.7)."),
    ] = None,
    reach_km: Reach = 2.0,
    confidence: Confidence = 0.95,
    per_user: PerUser = False,
    as_json: Json = False,
) -> int:
    """How useful are obfuscated traces? s_U between 0 and 1; valid from 0.7.

    Each cell counts 1 - distance/2 km (0 from 2 km on and for deleted cells); sets count with
    their average distance.

    Example: `tracecup score utility --city info_region.csv --original orgtraces.csv
    --obfuscated anotraces.csv`
    """
    from tracecup.score import FLOOR, hospital_share, true_link_bound, utility_score
    from tracecup.score.observed import observed_utility
    from tracecup.traces.files import read_obfuscated, read_traces

    where = load_city(city)
    part = original_part(load_clock(clock))
    truth = read_traces(original, n_regions=where.n_regions, clock=part, gaps=gaps)
    looks_like_a_reference(original, truth, clock)
    cells = read_obfuscated(
        obfuscated, users=truth.n_users, clock=truth.clock, n_regions=where.n_regions
    )
    least = FLOOR if floor is None else floor
    if truth.has_gaps:
        _only_the_papers(rule == "paper" and reach_km == 2.0)
        score = observed_utility(where, truth, cells, floor=least, confidence=confidence)
    else:
        score = utility_score(
            where, truth, cells, rule=rule, reach_km=reach_km, floor=least, confidence=confidence
        )
    payload = score_payload(score, per_user)
    payload |= {"valid": score.valid, "floor": score.floor, "rule": rule, "times": truth.times}
    verdict = "[green]yes[/green]" if score.valid else "[red]no[/red]"
    rows = [*score_rows(score), ("valid", f"{verdict} (floor {score.floor:g})"), ("rule", rule)]
    share = hospital_share(where, truth)
    linked = true_link_bound(score.value, hospital_share=share, utility_reach_km=reach_km)
    payload["s_t_at_most_if_the_link_is_known"] = linked
    rows.append(
        ("s_T at most", f"{linked:.6f} (for an attacker who is told which pseudonym is whose)")
    )
    emit(as_json, payload, table_of("Utility", rows))
    return 1 if floor is not None and not score.valid else 0


def _only_the_papers(asked: bool) -> None:
    from tracecup.errors import InvalidParameter

    if not asked:
        raise InvalidParameter("traces with gaps are scored by the paper's rule and reach only")


def reid(
    truth: Annotated[Path, typer.Option("--truth", help="The judge's ID table: ptable file.")],
    guess: Annotated[Path, typer.Option("--guess", help="The inferred table: etable file.")],
    confidence: Confidence = 0.95,
    per_user: PerUser = False,
    as_json: Json = False,
) -> int:
    """How safe against re-identification? s_R = 1 - share of pseudonyms guessed right.

    Example: `tracecup score reid --truth ptable.csv --guess etable.csv`
    """
    from tracecup.score import guessing_bound, reid_score
    from tracecup.traces.files import read_id_table, read_inferred_table

    table = read_id_table(truth)
    score = reid_score(table, read_inferred_table(guess, users=len(table)), confidence)
    guessing = guessing_bound(len(table))
    bound = f"{guessing:.6f} (guessing one of {len(table)} users)"
    emit(
        as_json,
        {**score_payload(score, per_user), "guessing": guessing},
        table_of("Re-identification privacy", [*score_rows(score), ("at most", bound)]),
    )
    return 0


def trace(
    city: CityFile,
    original: OriginalFile,
    inferred: Annotated[Path, typer.Option("--inferred", help="Inferred traces: etraces file.")],
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            help="Reference traces: tell the s_T of who knows habits and never sees the release, "
            "which no release exceeds.",
        ),
    ] = None,
    obfuscated: Annotated[
        Path | None,
        typer.Option(
            "--obfuscated",
            help="Obfuscated traces: tell what s_T is at most for who knows the link.",
        ),
    ] = None,
    clock: ClockFile = None,
    gaps: Gaps = False,
    hospital_weight: Annotated[
        float, typer.Option("--hospital-weight", help="Weight of hospital regions.")
    ] = 10.0,
    reach_km: Reach = 2.0,
    confidence: Confidence = 0.95,
    per_user: PerUser = False,
    as_json: Json = False,
) -> int:
    """How safe against trace inference? s_T, and the expected error in km.

    Each event counts distance/2 km (1 from 2 km on), hospital regions ten times. A high score may
    be no merit of the release: --reference and --obfuscated tell what bounds it.

    Example: `tracecup score trace --city info_region.csv --original orgtraces.csv
    --inferred etraces.csv`
    """
    from tracecup.score import (
        hospital_share,
        inference_score,
        true_link_bound,
        utility_score,
    )
    from tracecup.score.observed import observed_error, observed_inference, observed_utility
    from tracecup.traces.files import read_inferred_traces, read_obfuscated, read_traces

    where = load_city(city)
    part = original_part(load_clock(clock))
    truth = read_traces(original, n_regions=where.n_regions, clock=part, gaps=gaps)
    looks_like_a_reference(original, truth, clock)
    guess = read_inferred_traces(
        inferred, users=truth.n_users, clock=truth.clock, n_regions=where.n_regions
    )
    if truth.has_gaps:
        _only_the_papers(hospital_weight == 10.0 and reach_km == 2.0)

    def scored(answer: Traces) -> Score:
        if truth.has_gaps:
            return observed_inference(where, truth, answer, confidence=confidence)
        return inference_score(
            where,
            truth,
            answer,
            hospital_weight=hospital_weight,
            reach_km=reach_km,
            confidence=confidence,
        )

    score = scored(guess)
    error = observed_error(where, truth, guess, confidence=confidence)
    payload = score_payload(score, per_user)
    payload |= {
        "expected_error_km": error.value,
        "expected_error_interval_km": [error.interval.low, error.interval.high],
        "hospital_weight": hospital_weight,
        "times": truth.times,
    }
    rows = [*score_rows(score), *score_rows(error)]
    if reference is None:
        never = "the s_T of Prior-T, who never sees the release (--reference tells it)"
        rows.append(("at most", never))
    else:
        known = load_clock(clock)
        habits = read_traces(
            reference,
            "reference",
            n_regions=where.n_regions,
            clock=known.reference if known else None,
            users=truth.n_users,
            gaps=True,
        )
        name, answer, remark = _prior_only(where, habits, truth, scored)
        payload["without_the_release"] = {"attack": name, "score": answer, "knew": remark}
        told = f" ({remark})" if remark else ""
        rows.append(("at most", f"{answer:.6f}, by {name} without the release{told}"))
    if obfuscated is not None:
        cells = read_obfuscated(
            obfuscated, users=truth.n_users, clock=truth.clock, n_regions=where.n_regions
        )
        measure = observed_utility if truth.has_gaps else utility_score
        linked = true_link_bound(
            measure(where, truth, cells).value,
            hospital_share=hospital_share(where, truth),
            hospital_weight=hospital_weight,
            inference_reach_km=reach_km,
        )
        payload["s_t_at_most_if_the_link_is_known"] = linked
        rows.append(("link known", f"{linked:.6f} at most, for who is told the ID table"))
    emit(as_json, payload, table_of("Trace-inference privacy", rows))
    return 0


def _prior_only(
    city: City, reference: Traces, truth: Traces, scored: Callable[[Traces], Score]
) -> tuple[str, float, str]:
    """The strongest attack that never looks at the release: its name, its s_T, what it knew."""
    from tracecup.attack import Case, parse_inference
    from tracecup.traces import SetTraces

    # A case has a release; these attacks take no more of it than its clock.
    blank = SetTraces.of_cells([[[]] * truth.times] * truth.n_users, truth.clock)
    case = Case(city, reference, blank)
    found = []
    for name in ("Prior-T", "Prior-T(habits=mixture)"):
        method = parse_inference(name)
        answer = scored(method.infer(case))
        found.append((name, answer.value, method.remark(case)))
    return min(found, key=lambda one: one[1])
