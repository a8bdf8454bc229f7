"""Named sets of attacks: what the contest counts, and what the organisers' programs did.

A preset is a list of names; every name says all of its parameters.
"""

from __future__ import annotations

from typing import Literal

from tracecup.errors import InvalidParameter

Preset = Literal["paper", "organisers2019"]

SAMPLE_REID: dict[str, dict[str, str]] = {
    "paper": {"I1": "Random-R", "I2": "VisitProb-R", "I3": "HomeProb-R"},
    "organisers2019": {
        "I1": "Random-R",
        "I2": "VisitProb-R(cells=0.1,members=10)",
        "I3": "HomeProb-R(members=10)",
    },
}
SAMPLE_INFERENCE: dict[str, dict[str, str]] = {
    "paper": {"T1": "Random-T", "T2": "VisitProb-T", "T3": "HomeProb-T"},
    "organisers2019": {
        "T1": "Random-T",
        "T2": "VisitProb-T(cells=0.1,members=10)",
        "T3": "HomeProb-T(members=10)",
    },
}
WINNER: dict[str, tuple[str, str]] = {
    "paper": ("Fuzzy-R(0.33,1)", "Fuzzy-T(0.33,1,0)"),
    "organisers2019": ("Fuzzy-R(0.33,0.5)", "Fuzzy-T(0.33,0.5,0)"),
}


def sample_attacks(preset: str = "paper") -> dict[str, str]:
    """The sample attacks that count in every minimum: column of the score sheet -> name.

    >>> sample_attacks()["I2"], sample_attacks("organisers2019")["T2"]
    ('VisitProb-R', 'VisitProb-T(cells=0.1,members=10)')
    """
    if preset not in SAMPLE_REID:
        raise InvalidParameter(f"a preset is one of {', '.join(SAMPLE_REID)}, got {preset!r}")
    return SAMPLE_REID[preset] | SAMPLE_INFERENCE[preset]


def winner_attacks(preset: str = "paper") -> tuple[str, str]:
    """Re-identification and trace inference of the 2019 winner."""
    if preset not in WINNER:
        raise InvalidParameter(f"a preset is one of {', '.join(WINNER)}, got {preset!r}")
    return WINNER[preset]
