"""One user's trace on the map, day by day: original, released and inferred side by side.

The grey line repeats the original trace in the other maps.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracecup.charts.figure import PICTURE_WIDTH, Control, Figure, Listing, View, layered
from tracecup.charts.grid import aspect, centre, ground, hospitals, places
from tracecup.charts.theme import Spec
from tracecup.charts.words import Tell, plain
from tracecup.facts.contest import CityFacts, TraceExample
from tracecup.facts.text import clean

LONGEST_CELL = 12
LONGEST_TIMES = 6

Kind = tuple[str, str, Sequence[Sequence[int]]]
"""One form of a trace: key, heading, and the cell (regions) of every event."""


def example_maps(city: CityFacts, example: TraceExample, tell: Tell = plain) -> Figure:
    """The example of a contest: original, obfuscated and inferred trace of a user."""
    kinds = (
        ("original", tell("Original"), [(region,) for region in example.original]),
        ("obfuscated", tell("Released"), example.obfuscated),
        ("inferred", tell("Best inferred"), [(region,) for region in example.inferred]),
    )
    right = sum(a == b for a, b in zip(example.original, example.inferred, strict=True))
    caption = tell(
        "User {user}, released by {defender}, inferred by {attacker}. A larger dot is a longer "
        "stay; the grey line repeats the original trace. Over all days the attacker named the "
        "right region for {right} of {events} events."
    ).format(
        user=clean(example.user),
        defender=clean(example.defender),
        attacker=clean(example.attacker),
        right=right,
        events=len(example.original),
    )
    return trace_maps(city, [clean(slot) for slot in example.slots], kinds, caption, tell)


def trace_maps(
    city: CityFacts, slots: Sequence[str], kinds: Sequence[Kind], caption: str, tell: Tell = plain
) -> Figure:
    """One user, one day at a time: a map per kind; the first is the truth for the others."""
    views = _trace_views(city, slots, kinds, tell)
    side = (PICTURE_WIDTH - 40) // len(kinds)
    sized = {"width": side, "height": round(side * aspect(city))}
    # A signal can be declared once only in a picture of several panels.
    panels = [{"layer": view.spec["layer"], "title": view.heading, **sized} for view in views]
    shown = tell("Maps of one user's day: {kinds}.").format(kinds=", ".join(k[1] for k in kinds))
    events = range(len(kinds[0][2]))
    days = len(events) // len(slots)
    return Figure(
        key="trace",
        title=tell("One user's trace, before and after") if kinds[1:] else tell("One user's trace"),
        caption=caption,
        alt=f"{shown} {caption}".strip(),
        views=views,
        picture={"hconcat": panels, "spacing": 14, "params": [{"name": "day", "value": 0}]},
        map=True,
        table_title=tell("Table: the trace event by event"),
        table=Listing(
            tell("Regions (numbered from 1 in the south-west) at every event"),
            (tell("Day and time"), *(heading for _key, heading, _cells in kinds)),
            tuple(
                (
                    f"{k // len(slots) + 1}, {slots[k % len(slots)]}",
                    *(cell_text(cells[k], tell) for _key, _heading, cells in kinds),
                )
                for k in events
            ),
        ),
        control=Control(
            "day", tell("Day"), tuple(tell("day {n}").format(n=d + 1) for d in range(days))
        ),
    )


def cell_text(cell: Sequence[int], tell: Tell = plain) -> str:
    """A cell as the contest's files write it: 7, 2 5 9, * for deleted; long sets are cut.

    >>> cell_text([]), cell_text([1, 4])
    ('*', '2 5')
    """
    if not cell:
        return "*"
    text = " ".join(str(region + 1) for region in cell[:LONGEST_CELL])
    if len(cell) <= LONGEST_CELL:
        return text
    return tell("{regions} … ({count} regions)").format(regions=text, count=len(cell))


def _trace_views(
    city: CityFacts, slots: Sequence[str], kinds: Sequence[Kind], tell: Tell
) -> tuple[View, ...]:
    """A map per kind, the day chosen by the signal `day`."""
    truth = _line(city, _path(kinds[0][2], len(slots)), "ghost")
    return tuple(
        View(
            f"trace-{key}",
            layered(
                ground(city),
                *hospitals(city, 22, tell),
                *([truth] if k else []),
                _line(city, _path(cells, len(slots)), "path"),
                _stays(city, cells, slots, tell),
                params=[{"name": "day", "value": 0}],
            ),
            heading,
            aspect(city),
        )
        for k, (key, heading, cells) in enumerate(kinds)
    )


def _path(cells: Sequence[Sequence[int]], slots: int) -> list[dict[str, int]]:
    """The events with exactly one region, in order; `d` is the day."""
    return [
        {"d": k // slots, "j": k, "r": cell[0]} for k, cell in enumerate(cells) if len(cell) == 1
    ]


def _line(city: CityFacts, path: list[dict[str, int]], style: str) -> Spec:
    return {
        "data": {"values": path},
        "transform": [{"filter": "datum.d === day"}, *places(city)],
        "mark": {"type": "line", "style": style, "tooltip": None},
        "encoding": {**centre(city), "order": {"field": "j", "type": "quantitative"}},
    }


def _stays(
    city: CityFacts, cells: Sequence[Sequence[int]], slots: Sequence[str], tell: Tell
) -> Spec:
    """A dot per day and region: how many events (a set counts in parts), and when."""
    weight: dict[tuple[int, int], float] = {}
    when: dict[tuple[int, int], list[str]] = {}
    for k, cell in enumerate(cells):
        for region in cell:
            key = (k // len(slots), region)
            weight[key] = weight.get(key, 0.0) + 1 / len(cell)
            when.setdefault(key, []).append(slots[k % len(slots)])
    rows = [
        {"d": d, "r": r, "n": round(n, 3), "t": _times(when[d, r], tell)}
        for (d, r), n in weight.items()
    ]
    return {
        "data": {"values": rows},
        "transform": [{"filter": "datum.d === day"}, *places(city)],
        "mark": {"type": "circle", "style": "stay", "opacity": 0.75},
        "encoding": {
            **centre(city),
            "size": {
                "field": "n",
                "type": "quantitative",
                "scale": {"domain": [0, len(slots)], "range": [6, 320]},
                "legend": None,
            },
            "tooltip": [
                {"field": "id", "title": tell("Region"), "type": "quantitative"},
                {"field": "n", "title": tell("Events"), "type": "quantitative"},
                {"field": "t", "title": tell("At"), "type": "nominal"},
            ],
        },
    }


def _times(labels: list[str], tell: Tell) -> str:
    """Times without repetitions, the first few of them."""
    distinct = list(dict.fromkeys(labels))
    shown = ", ".join(distinct[:LONGEST_TIMES])
    if len(distinct) <= LONGEST_TIMES:
        return shown
    return tell("{times}, … ({count} times)").format(times=shown, count=len(distinct))
