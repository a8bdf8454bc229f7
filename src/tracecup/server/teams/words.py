"""Words of the team's pages: the next step, files and what is in them, awards.

All in the reader's language.
"""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from tracecup.contest.standing.awards import Exclusion
from tracecup.server.models.filekinds import KIND_OF_FILE
from tracecup.server.teams.data import NextStep
from tracecup.server.web.words import kind as kind_word

_STEPS = {
    "withdrawn": (
        gettext_noop("Your team has withdrawn; there is nothing to do."),
        gettext_noop("To the contest"),
    ),
    "disqualified": (
        gettext_noop("Your team is disqualified; the reason is given below."),
        gettext_noop("To the contest"),
    ),
    "look-results": (
        gettext_noop("The results are out. See who won, and which attack hurt you."),
        gettext_noop("See the results"),
    ),
    "paused": (
        gettext_noop("The contest is paused. Wait for the announcement of the organisers."),
        gettext_noop("To the contest"),
    ),
    "unscheduled": (
        gettext_noop(
            "The organisers have not set the times yet. You can read the rules in the meantime."
        ),
        gettext_noop("Read the rules"),
    ),
    "wait-announce": (
        gettext_noop("The contest has not begun. Read the rules until the data are out."),
        gettext_noop("Read the rules"),
    ),
    "download": (
        gettext_noop("Download your data: your traces and everything of the sample teams."),
        gettext_noop("Get the data"),
    ),
    "prepare": (
        gettext_noop("Prepare your anonymization on your data; releases can be handed in soon."),
        gettext_noop("To the data"),
    ),
    "release-first": (
        gettext_noop("Hand in a valid release for {kind}. Without one your privacy counts 0."),
        gettext_noop("Check and hand in"),
    ),
    "release-better": (
        gettext_noop(
            "You have a valid release. Improve it while you have tries left, or keep it as it is."
        ),
        gettext_noop("To our releases"),
    ),
    "release-done": (
        gettext_noop("All tries are used. Choose which release counts, then wait for the attacks."),
        gettext_noop("To our releases"),
    ),
    "wait-judge": (
        gettext_noop(
            "The judge checks and shuffles the releases. Prepare your attacks in the meantime."
        ),
        gettext_noop("To the contest"),
    ),
    "attack-more": (
        gettext_noop(
            "Every target has an answer. Improve them while you have tries left, or keep them as "
            "they are."
        ),
        gettext_noop("To our attacks"),
    ),
    "wait-results": (
        gettext_noop("The attacks are over. The scores are being computed."),
        gettext_noop("To the contest"),
    ),
}
_GROUPS = {
    "city": (gettext_noop("The city"), gettext_noop("Regions and times, the same for all teams.")),
    "own": (
        gettext_noop("Your team's own data"),
        gettext_noop("Only your team gets the original traces. Keep them secret."),
    ),
    "samples": (
        gettext_noop("Sample teams"),
        gettext_noop("Everything of two teams that do not play: practise on them."),
    ),
    "targets": (
        gettext_noop("Releases to attack"),
        gettext_noop("The published releases of all teams with their reference traces."),
    ),
    "results": (gettext_noop("Results"), gettext_noop("Scores and what the judge has opened.")),
}
_REASONS: dict[str, str] = {
    Exclusion.NO_VALID_RELEASE: gettext_noop("no valid release"),
    Exclusion.HORS_CONCOURS: gettext_noop("out of competition"),
    Exclusion.NO_SCORE: gettext_noop("brought no score below 1"),
    Exclusion.WON_DEFENCE: gettext_noop("won best anonymization"),
    Exclusion.DISQUALIFIED: gettext_noop("disqualified"),
    Exclusion.WITHDRAWN: gettext_noop("withdrawn"),
}


def step(found: NextStep) -> str:
    """The next step as a sentence."""
    if found.code == "attack-missing":
        return ngettext(
            "Attack: {n} answer is missing. A missing answer counts as a full miss.",
            "Attack: {n} answers are missing. A missing answer counts as a full miss.",
            found.missing,
        ).format(n=found.missing)
    return _(_STEPS[found.code][0]).format(kind=kind_word(found.challenge or ""))


def step_button(found: NextStep) -> str:
    """What the button to the next step says."""
    return _("To our attacks") if found.code == "attack-missing" else _(_STEPS[found.code][1])


def file_about(kind: str) -> str:
    """What is in a file of a kind."""
    found = KIND_OF_FILE.get(kind)
    return _(found.label) if found else kind


def file_group(key: str) -> tuple[str, str]:
    """The name of a group of files, and what it is."""
    title, about = _GROUPS[key]
    return _(title), _(about)


def not_eligible(reason: str) -> str:
    """Why a team is out of an award."""
    return _(_REASONS.get(reason, reason)) if reason else ""
