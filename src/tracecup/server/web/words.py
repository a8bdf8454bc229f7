"""Words of the pages that are needed in more than one place: states, durations, refusals.

All in the reader's language; times are told by two units at most.
"""

from __future__ import annotations

from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from tracecup.contest.judging.reasons import Reason

MINUTE, HOUR, DAY = 60, 3600, 86400
_REASONS = {
    "reaches-floor": gettext_noop("utility {value} reaches the floor {floor}"),
    "below-floor": gettext_noop("utility {value} is below the floor {floor}"),
    "nothing": gettext_noop("nothing was handed in"),
    "format": gettext_noop("not in the format of obfuscated traces: {error}"),
    "invalid-in-sheet": gettext_noop("invalid in the sheet"),
    "truth-missing": gettext_noop("cannot be scored: {files} not in the folder"),
}
"""The judge's reasons by code; an organiser's own words are shown as they are."""
# The sign and the colour of a state; the word follows in `state`.
SIGNS: dict[str, tuple[str, str]] = {
    "rejected": ("✕", "bad"),
    "queued": ("…", "busy"),
    "scoring": ("⟳", "busy"),
    "scored": ("✓", "good"),
    "failed": ("!", "bad"),
    "withdrawn": ("↩", ""),
    "waiting": ("…", "busy"),
    "running": ("⟳", "busy"),
    "done": ("✓", "good"),
    "dead": ("!", "bad"),
    "unscheduled": ("–", ""),
    "before": ("○", ""),
    "open": ("●", "good"),
    "closed": ("■", ""),
    "paused": ("‖", "warn"),
    "active": ("✓", "good"),
    "disqualified": ("✕", "bad"),
    "valid": ("✓", "good"),
    "invalid": ("✕", "bad"),
    "draft": ("✎", "warn"),
    "published": ("✓", "good"),
    "superseded": ("↩", ""),
    "frozen": ("❄", "warn"),
    "past": ("✓", ""),
    "now": ("●", "good"),
    "coming": ("○", ""),
    "counts": ("★", "good"),
    "missing": ("○", "warn"),
    "answered": ("✓", "good"),
    "final": ("✓", "good"),
    "preliminary": ("✎", "warn"),
}
_STATES = {
    "rejected": gettext_noop("rejected"),
    "queued": gettext_noop("queued"),
    "scoring": gettext_noop("scoring"),
    "scored": gettext_noop("scored"),
    "failed": gettext_noop("failed by us"),
    "withdrawn": gettext_noop("withdrawn"),
    "waiting": gettext_noop("waiting"),
    "running": gettext_noop("running"),
    "done": gettext_noop("done"),
    "dead": gettext_noop("given up"),
    "unscheduled": gettext_noop("no times set"),
    "before": gettext_noop("not yet open"),
    "open": gettext_noop("open"),
    "closed": gettext_noop("closed"),
    "paused": gettext_noop("paused"),
    "active": gettext_noop("takes part"),
    "disqualified": gettext_noop("disqualified"),
    "valid": gettext_noop("valid"),
    "invalid": gettext_noop("invalid"),
    "draft": gettext_noop("draft"),
    "published": gettext_noop("published"),
    "superseded": gettext_noop("superseded"),
    "frozen": gettext_noop("frozen"),
    "past": gettext_noop("over"),
    "now": gettext_noop("now"),
    "coming": gettext_noop("to come"),
    "counts": gettext_noop("counts"),
    "missing": gettext_noop("missing"),
    "answered": gettext_noop("answered"),
    "final": gettext_noop("final"),
    "preliminary": gettext_noop("not final"),
}
_PHASES = {
    "announce": (
        gettext_noop("Announcement"),
        gettext_noop("Rules, sample data and each team's data are out."),
    ),
    "anonymize": (
        gettext_noop("Anonymization"),
        gettext_noop("Teams obfuscate their traces and hand in releases."),
    ),
    "judge": (
        gettext_noop("The judge works"),
        gettext_noop("Releases are checked, shuffled, committed to and published."),
    ),
    "attack": (
        gettext_noop("Attack"),
        gettext_noop("Teams attack each other's releases."),
    ),
    "results": (gettext_noop("Results"), gettext_noop("Scores and awards.")),
}
_REFUSALS = {
    "invalid": (
        gettext_noop("Not understood"),
        gettext_noop("Correct the marked places and send it again."),
    ),
    "not-signed-in": (gettext_noop("Please log in"), gettext_noop("Log in and try again.")),
    "forbidden": (
        gettext_noop("Not allowed"),
        gettext_noop("If you think you should be allowed, ask the organisers of the contest."),
    ),
    "not-found": (
        gettext_noop("Not found"),
        gettext_noop("Check the address, or log in with the account that may see it."),
    ),
    "conflict": (
        gettext_noop("Something has changed in the meantime"),
        gettext_noop("Reload the page to see how things stand now."),
    ),
    "closed": (
        gettext_noop("This phase is not open"),
        gettext_noop("The page of the contest shows when each phase begins and ends."),
    ),
    "paused": (
        gettext_noop("The contest is paused"),
        gettext_noop("The organisers will announce when it goes on."),
    ),
    "quota": (
        gettext_noop("No try is left"),
        gettext_noop("You can still choose which of your earlier submissions counts."),
    ),
    "too-large": (gettext_noop("The file is too large"), gettext_noop("Send a smaller file.")),
    "wrong-type": (
        gettext_noop("Not a file of this contest"),
        gettext_noop("The page of the data says which formats are accepted."),
    ),
    "throttled": (
        gettext_noop("Too many attempts"),
        gettext_noop("Wait a few minutes, then try again."),
    ),
    "rejected": (
        gettext_noop("The file was refused"),
        gettext_noop("Correct the places above and hand it in again."),
    ),
    "storage": (
        gettext_noop("The server has no room left"),
        gettext_noop("The organisers were told; try again later."),
    ),
}
_KINDS = {
    "reid": gettext_noop("re-identification"),
    "trace": gettext_noop("trace inference"),
    "release": gettext_noop("release"),
}
# What is not found by `errors.not_found`, for the translators.
_THINGS = (
    gettext_noop("act"),
    gettext_noop("action"),
    gettext_noop("address"),
    gettext_noop("announcement"),
    gettext_noop("appeal"),
    gettext_noop("backup"),
    gettext_noop("certificate"),
    gettext_noop("contest"),
    gettext_noop("extension"),
    gettext_noop("file"),
    gettext_noop("format"),
    gettext_noop("job"),
    gettext_noop("link"),
    gettext_noop("member"),
    gettext_noop("organiser"),
    gettext_noop("page"),
    gettext_noop("question"),
    gettext_noop("receipt"),
    gettext_noop("result set"),
    gettext_noop("round"),
    gettext_noop("session"),
    gettext_noop("submission"),
    gettext_noop("table"),
    gettext_noop("team"),
    gettext_noop("thing"),
    gettext_noop("token"),
    gettext_noop("worker"),
)
_INSTANTS = {
    "opens": gettext_noop("Opens"),
    "closed": gettext_noop("Closed"),
    "arrived": gettext_noop("Your file had arrived"),
}


def state(name: str) -> str:
    """The word for a state."""
    return _(_STATES.get(name, name))


def phase(name: str | None) -> str:
    """The word for a phase; None is before the first."""
    return _("Before the announcement") if name is None else _(_PHASES[name][0])


def phase_about(name: str) -> str:
    """What happens in a phase."""
    return _(_PHASES[name][1])


def kind(name: str) -> str:
    """The word for a challenge or a kind of submission."""
    return _(_KINDS.get(name, name))


def refusal(code: str) -> tuple[str, str]:
    """Heading and advice of a refusal."""
    title, advice = _REFUSALS.get(code, _REFUSALS["invalid"])
    return _(title), _(advice)


def instant(name: str) -> str:
    """What an instant of a refusal is."""
    return _(_INSTANTS.get(name, name))


def verdict(reason: str) -> str:
    """What the judge said about a release; the log and tables have it in English.

    >>> verdict("utility 0.823472 reaches the floor 0.7")
    'utility 0.823472 reaches the floor 0.7'
    """
    found = Reason.read(reason)
    said = _REASONS.get(found.code)
    return _(said).format(**found.values) if said else reason


def gap() -> str:
    """What stands between two sentences or units: a space, but nothing in Japanese."""
    return "" if (get_language() or "").startswith("ja") else " "


def for_script() -> dict[str, str]:
    """What site.js says: {} is replaced."""
    return {
        "in": _("in {}"),
        "ago": _("{} ago"),
        "now": _("now"),
        "day": _("{} d"),
        "hour": _("{} h"),
        "minute": _("{} min"),
        "second": _("{} s"),
        "gap": gap(),
        "copied": _("Copied"),
        "chosen": _("Chosen: {}"),
        "sending": _("Sending… {}"),
        "scroll": _("Wider than the screen: scroll sideways"),
        "lost": _("The connection broke; send it again. Sending twice counts once."),
        "changed": _("The file has changed since you chose it; choose it again."),
    }


def duration(seconds: float) -> str:
    """A length of time by its two largest units.

    >>> duration(11520)
    '3 h 12 min'
    """
    said = for_script()
    whole = abs(round(seconds))
    if whole >= DAY:
        parts = [("day", whole // DAY), ("hour", whole % DAY // HOUR)]
    elif whole >= HOUR:
        parts = [("hour", whole // HOUR), ("minute", whole % HOUR // MINUTE)]
    elif whole >= 10 * MINUTE:
        parts = [("minute", whole // MINUTE)]
    else:
        parts = [("minute", whole // MINUTE), ("second", whole % MINUTE)]
    told = [said[unit].format(n) for unit, n in parts if n]
    return said["gap"].join(told) or said["second"].format(0)


def relative(seconds: float) -> str:
    """How far an instant lies in the future (positive) or past.

    >>> relative(-90000)
    '1 d 1 h ago'
    """
    said = for_script()
    if abs(seconds) < 1:
        return said["now"]
    return said["in" if seconds > 0 else "ago"].format(duration(seconds))


def client_command(slug: str, verb: str, what: str = "") -> str:
    """What somebody types to do the same without a browser.

    >>> client_command("spring", "submit", "answers.zip")
    'tracecup client submit answers.zip --contest spring'
    """
    return " ".join(part for part in ("tracecup client", verb, what, "--contest", slug) if part)


def size(count: int | None) -> str:
    """Bytes for people.

    >>> size(1500000)
    '1.4 MiB'
    """
    if count is None:
        return "–"
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
