"""Charts of a round's results: the two minima, utility, the matrices.

Built from `services.pagedata.results` with the layers of the report, in the reader's language.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from tracecup.report.chart import layered
from tracecup.report.facts import Attacker, Release
from tracecup.report.markup import spelled
from tracecup.report.matrices import heat_spec
from tracecup.report.scores import (
    STATUSES,
    ScoreWords,
    both_scores,
    minima_layers,
    utility_layers,
)
from tracecup.server.results.data_board import Board, CorrelationInfo, MatrixInfo, ReleaseRow
from tracecup.server.web.charts import Chart, Column, Table, View

SYMBOLS = {"reid": "s_R", "trace": "s_T"}


def scatter(board: Board) -> Chart:
    """s_R,min against s_T,min of every release that was attacked."""
    shown = _attacked(board.releases)
    rows = [
        {"label": one.label, "name": who(one), "status": status(one.status), "x": one.reid_min,
         "y": one.trace_min}
        for one in shown
    ]  # fmt: skip
    spec = layered(*minima_layers(rows, _words()), data={"values": rows}, height=380)
    said = correlation_text(board.correlation)
    return Chart(
        key="minima",
        title=_("Two kinds of privacy"),
        caption=_(
            "Each point is a release; both scores are the lowest that any attack left it with. "
            "Up and to the right is more private. {said}"
        ).format(said=said),
        alt=_(
            "Scatter plot of {count} releases: lowest re-identification score across, lowest "
            "trace-inference score up. {said}"
        ).format(count=len(rows), said=said),
        views=(View("minima", spec),),
        table_title=_("Table: lowest scores of each release"),
        table=Table(
            _("Lowest scores of each release; higher is more private"),
            (
                Column(_("Release"), number=False),
                Column(_("Team"), number=False),
                Column(_("Status"), number=False),
                Column("s_R,min"),
                Column("s_T,min"),
            ),
            tuple(
                (
                    one.label,
                    who(one),
                    status(one.status),
                    spelled(one.reid_min),
                    spelled(one.trace_min),
                )
                for one in shown
            ),
        ),
    )


def utility(board: Board, floor: float) -> Chart:
    """Utility against both minima; a line joins the two scores of a release."""
    shown = [one for one in _attacked(board.releases) if one.utility is not None]
    words = _words()
    rows = [
        row
        for one in shown
        for row in both_scores(
            {"label": one.label, "name": who(one), "utility": one.utility},
            one.reid_min,
            one.trace_min,
            words,
        )
    ]
    spec = layered(*utility_layers(rows, floor, words), data={"values": rows}, height=340)
    return Chart(
        key="utility",
        title=_("What privacy costs"),
        caption=_(
            "What a release is still good for (across) and how private it stayed (up). A line "
            "joins the two scores of a release. Left of the floor {floor} a release is invalid."
        ).format(floor=f"{floor:g}"),
        alt=_(
            "Scatter plot of {count} releases: utility across, lowest privacy scores up, with the "
            "floor at {floor}."
        ).format(count=len(shown), floor=f"{floor:g}"),
        views=(View("utility", spec),),
        table_title=_("Table: utility and privacy of each release"),
        table=Table(
            _("Utility and lowest privacy scores of each release"),
            (
                Column(_("Release"), number=False),
                Column(_("Team"), number=False),
                Column("s_U"),
                Column("s_R,min"),
                Column("s_T,min"),
            ),
            tuple(
                (
                    one.label,
                    who(one),
                    spelled(one.utility),
                    spelled(one.reid_min),
                    spelled(one.trace_min),
                )
                for one in shown
            ),
        ),
    )


def heat_map(matrix: MatrixInfo) -> Chart:
    """Every score of one kind: releases down, attackers across; the row's lowest is framed."""
    symbol = SYMBOLS[matrix.kind]
    spec = heat_spec(
        [Release(row.label, row.name) for row in matrix.rows],
        [Attacker(one.label, one.name or one.attack) for one in matrix.attackers],
        [row.values for row in matrix.rows],
        symbol,
        _words(),
    )
    long = _("re-identification") if matrix.kind == "reid" else _("trace inference")
    return Chart(
        key=f"matrix-{matrix.kind}",
        title=_("Who broke whom: {kind}").format(kind=long),
        caption=_(
            "{symbol} of every release (rows) against every attacker (columns). The more a cell "
            "stands out from the page, the more the attacker found out. The frame marks the "
            "strongest attack on each release; a dot means its own release or no answer."
        ).format(symbol=symbol),
        alt=_heat_alt(symbol, matrix),
        views=(View(f"matrix-{matrix.kind}", spec),),
        table_title=_("Table: all {symbol} scores").format(symbol=symbol),
        table=Table(
            _("{symbol} of every release (rows) against every attacker (columns)").format(
                symbol=symbol
            ),
            (
                Column(_("Release"), number=False),
                *(Column(one.label) for one in matrix.attackers),
                Column(_("Lowest")),
            ),
            tuple(
                (
                    row.label,
                    *(spelled(value) for value in row.values),
                    spelled(row.minimum),
                )
                for row in matrix.rows
            ),
        ),
        wide=True,
    )


def correlation_text(found: CorrelationInfo) -> str:
    """The correlation in a sentence."""
    if found.value is None:
        return _("There is no correlation: {reason}.").format(reason=found.reason)
    if found.low is None or found.high is None:
        return _("Correlation R = {r:.3f} over {pairs} releases.").format(
            r=found.value, pairs=found.pairs
        )
    return _(
        "Correlation R = {r:.3f}, {confidence:.0%} interval {low:.2f} to {high:.2f}, over {pairs} "
        "releases (valid teams and the benchmark)."
    ).format(
        r=found.value,
        confidence=found.confidence,
        low=found.low,
        high=found.high,
        pairs=found.pairs,
    )


def who(one: ReleaseRow) -> str:
    """Whose release it is."""
    return _("Benchmark") if one.status == "benchmark" else one.name


def status(name: str) -> str:
    """The word for the status of a release."""
    return {
        "team": _("team"),
        "benchmark": _("benchmark"),
        "hors concours": _("out of competition"),
        "invalid": _("invalid"),
    }[name]


def _attacked(releases: Sequence[ReleaseRow]) -> list[ReleaseRow]:
    return [
        one
        for one in releases
        if one.status != "invalid" and one.reid_min is not None and one.trace_min is not None
    ]


def _heat_alt(symbol: str, matrix: MatrixInfo) -> str:
    cells = [
        (value, row.label, one.label)
        for row in matrix.rows
        for one, value in zip(matrix.attackers, row.values, strict=True)
        if value is not None
    ]
    if not cells:
        return _("Heat map of {symbol}; nothing was attacked.").format(symbol=symbol)
    value, release, attacker = min(cells)
    return _(
        "Heat map of {symbol}, {rows} releases by {columns} attackers. The lowest score, "
        "{value:.3f}, is {attacker} against {release}."
    ).format(
        symbol=symbol,
        rows=len(matrix.rows),
        columns=len(matrix.attackers),
        value=value,
        attacker=attacker,
        release=release,
    )


def _words() -> ScoreWords:
    return ScoreWords(
        release=_("Release"),
        team=_("Team"),
        obfuscation="",
        statuses=tuple(status(one) for one in STATUSES),
        reid_axis=_("s_R,min (re-identification)"),
        trace_axis=_("s_T,min (trace inference)"),
        utility=_("Utility, s_U"),
        privacy=_("Lowest privacy score"),
        reid=_("re-identification (s_R)"),
        trace=_("trace inference (s_T)"),
        floor=_("floor {floor}"),
        against=_("Against"),
        lowest=_("Lowest score"),
        attacker=_("Attacker"),
        who=_("Who"),
        attack="",
    )
