"""The rules in words: what a key of `contest.toml` is called on pages, and how its value is said.

Forms, previews and announcements use the same words; the file itself is for those who want it.
"""

from __future__ import annotations

import json
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tracecup.contest.rules.rounds import ConflictCode

LABELS: dict[str, Any] = {
    "name": _("Name"),
    "users": _("Users of each data set"),
    "zone": _("Time zone"),
    "city.builtin": _("Built-in city"),
    "city.file": _("City of your own"),
    "clock.days": _("Days of the traces"),
    "clock.reference_days": _("Days of the reference traces"),
    "clock.slots": _("Times (slots) a day"),
    "clock.start": _("First slot of a day"),
    "clock.interval": _("Minutes from slot to slot"),
    "scores.utility_floor": _("Floor of utility"),
    "scores.utility_rule": _("Rule of utility"),
    "scores.lambda_u": _("Distance from which a cell has no utility (km)"),
    "scores.lambda_t": _("Distance from which a guess is a full miss (km)"),
    "scores.hospital_weight": _("Weight of hospitals"),
    "challenges.trace_inference": _("Challenge: stay safe against trace inference"),
    "challenges.reidentification": _("Challenge: stay safe against re-identification"),
    "samples.reid": _("Sample attacks, re-identification"),
    "samples.trace": _("Sample attacks, trace inference"),
    "limits.attack_tries": _("Tries per target and kind of attack"),
    "limits.release_tries": _("Tries per data set"),
    "limits.file_mib": _("Largest file (MiB)"),
    "limits.grace_seconds": _("Grace after a deadline (seconds)"),
    "limits.late_minutes": _("Late releases, out of competition (minutes)"),
    "feedback.policy": _("What attackers are told during the attack"),
    "feedback.bands": _("Where the bands meet"),
    "feedback.board": _("What everybody sees of releases until the results"),
    "awards.attack_targets": _("Releases that count for attackers"),
    "awards.winner_excluded": _("The winner of best anonymization cannot win an attack award"),
    "lessons.open": _("Teams see the lessons"),
    "weight": _("Weight of the round"),
    "days": _("Days of the traces"),
    "reference_days": _("Days of the reference traces"),
    "announce": _("Announcement: teams get their data"),
    "anonymize": _("Anonymization begins"),
    "judge": _("Anonymization ends, the judge works"),
    "attack": _("Releases are published, attack begins"),
    "results": _("Attack ends, results"),
}
VALUES: dict[tuple[str, str], Any] = {
    ("feedback.policy", "none"): _("nothing is told"),
    ("feedback.policy", "bands"): _("in which of four bands the score lies"),
    ("feedback.policy", "exact"): _("the score itself"),
    ("feedback.board", "none"): _("nothing is shown"),
    ("feedback.board", "valid"): _("which teams have a valid one"),
    ("feedback.board", "utility"): _("its utility, too"),
    ("awards.attack_targets", "trace-inference"): _("those of trace inference (the paper)"),
    ("awards.attack_targets", "all"): _("all releases (2019)"),
}

CHANGES: dict[tuple[str, str], Any] = {
    ("name", ""): _("This is the contest's name on every page."),
    ("zone", ""): _("Times are shown in this zone; instants written without an offset move."),
    ("limits.file_mib", ""): _("Files that come from now on are measured with it."),
    ("limits.grace_seconds", ""): _("Every deadline that has not passed moves with it."),
    ("limits.late_minutes", ""): _("Late releases are accepted for this long; the judge waits."),
    ("limits.late_minutes", "0"): _("Late releases are refused from now on."),
    ("feedback.board", ""): _("From now on everybody sees this of releases."),
    ("lessons.open", "true"): _("Teams see the lessons from now on."),
    ("lessons.open", "false"): _("Teams see no lessons any more."),
}
"""(key, its new value as in the file, or "" for any other) -> what such a change does."""


class Told(NamedTuple):
    """A contradiction on a page: beside which field, and in which words."""

    field: str
    sentence: Any


CONFLICTS: dict[ConflictCode, Told] = {
    "city-sources": Told("city", _("A contest takes place in a built-in city or in your own.")),
    "past-midnight": Told("slots", _("The last slot of a day lies before midnight.")),
    "no-challenge": Told("trace_inference", _("Choose at least one challenge.")),
    "no-targets": Told(
        "attack_targets",
        _("Without the challenge of trace inference, all releases count for attackers."),
    ),
    "round-names": Told("rounds", _("One to twenty rounds, each with a name of its own.")),
    "round-weights": Told("weight", _("At least one round has a weight above 0.")),
    "round-order": Told("between", _("A round begins after the results of the round before.")),
    "phases-missing": Told("starts", _("A round has times for all of its phases, or for none.")),
    "phase-order": Told("starts", _("The phases of a round begin one after another.")),
}


def label(key: str) -> str:
    """What a key of the rules is called; of a round with the round's name.

    >>> label("limits.attack_tries"), label("rounds.final.phases.judge")
    ('Tries per target and kind of attack', 'Round final: Anonymization ends, the judge works')
    """
    parts = key.split(".")
    if parts[0] != "rounds":
        return str(LABELS.get(key, key))
    round = gettext("Round %(name)s") % {"name": parts[1]}
    return f"{round}: {LABELS.get(parts[-1], parts[-1])}" if len(parts) > 2 else round


def change(key: str, after: str) -> str:
    """What a change of a key does that may change at any time.

    >>> change("limits.late_minutes", "0"), change("limits.late_minutes", "30")[:26]
    ('Late releases are refused from now on.', 'Late releases are accepted')
    """
    said = CHANGES.get((key, after)) or CHANGES.get((key, "")) or _("This changes.")
    return str(said)


def value(key: str, spelled: str, zone: tzinfo) -> str:
    """A value, spelled as in the file, as people say it; instants in a zone.

    >>> from datetime import UTC
    >>> value("zone", '"UTC"', UTC), value("rounds.a.phases.judge", "2030-04-03T00:00:00Z", UTC)
    ('UTC', '2030-04-03 00:00 UTC')
    """
    if not spelled:
        return "–"
    if ".phases." in key:
        at = datetime.fromisoformat(spelled).astimezone(zone)
        return f"{at:%Y-%m-%d %H:%M} {at.tzname()}"
    if spelled in ("true", "false"):
        return gettext("yes") if spelled == "true" else gettext("no")
    said = json.loads(spelled) if spelled[0] in '"[' else spelled
    if isinstance(said, list):
        return ", ".join(map(str, said))
    return str(VALUES.get((key, said), said))
