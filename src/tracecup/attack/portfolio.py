"""Named sets of attacks: what the contest counts, and what the organisers' programs did.

A preset is a list of names; every name says all of its parameters.
"""

from __future__ import annotations

from tracecup.attack.case import Case
from tracecup.attack.learned import shipped_suits
from tracecup.errors import InvalidParameter

SAMPLE_REID: dict[str, dict[str, str]] = {
    "paper": {"I1": "Random-R", "I2": "VisitProb-R", "I3": "HomeProb-R"},
    "organisers2019": {
        "I1": "Random-R",
        "I2": "VisitProb-R(cells=0.1,members=10)",
        "I3": "HomeProb-R(members=10)",
    },
    "strong": {
        "I1": "Random-R",
        "I2": "VisitProb-R(match=assignment)",
        "I3": "HomeProb-R(match=assignment)",
        "I4": "Fuzzy-R(0.33,1,match=assignment)",
        "I5": "Bayes-R",
        "I6": "Learned-R",
    },
}
SAMPLE_INFERENCE: dict[str, dict[str, str]] = {
    "paper": {"T1": "Random-T", "T2": "VisitProb-T", "T3": "HomeProb-T"},
    "organisers2019": {
        "T1": "Random-T",
        "T2": "VisitProb-T(cells=0.1,members=10)",
        "T3": "HomeProb-T(members=10)",
    },
    "strong": {
        "T1": "Random-T",
        "T2": "VisitProb-T(match=assignment)",
        "T3": "Prior-T(habits=mixture)",
        "T4": "Fuzzy-T(0.33,1,0,match=assignment)",
        "T5": "Bayes-T",
        "T6": "Learned-T",
    },
}
WINNER: dict[str, tuple[str, str]] = {
    "paper": ("Fuzzy-R(0.33,1)", "Fuzzy-T(0.33,1,0)"),
    "organisers2019": ("Fuzzy-R(0.33,0.5)", "Fuzzy-T(0.33,0.5,0)"),
}
LEARNED = ("Learned-R", "Learned-T")
STRENGTHS = ("quick", "standard", "max")
STRONG: dict[str, tuple[str, ...]] = {
    "quick": (
        "Fuzzy-R(0.33,1,match=assignment)",
        "VisitProb-R(match=assignment)",
        "Fuzzy-T(0.33,1,0,match=assignment)",
        "Prior-T(habits=mixture)",
    ),
    "standard": ("Bayes-R", "Bayes-T"),
    "max": ("Bayes-R(channel=identity)", "Bayes-T(channel=identity)"),
}
"""What each strength adds to the one before."""


def sample_attacks(preset: str = "paper") -> dict[str, str]:
    """The sample attacks that count in every minimum: column of the score sheet -> name.

    The strong ones are those of the built-in city; see `fitting` for any other.

    >>> sample_attacks()["I2"], sample_attacks("organisers2019")["T2"]
    ('VisitProb-R', 'VisitProb-T(cells=0.1,members=10)')
    """
    if preset not in SAMPLE_REID:
        raise InvalidParameter(f"a preset is one of {', '.join(SAMPLE_REID)}, got {preset!r}")
    return SAMPLE_REID[preset] | SAMPLE_INFERENCE[preset]


def fitting(name: str, case: Case) -> str:
    """The attack of that name, or Bayes where it is learned and its model knows another city.

    >>> from tracecup.city import City, Grid
    >>> from tracecup.traces import SetTraces, Traces
    >>> away = City(Grid.from_metres(2, 1, width_m=300, height_m=300))
    >>> case = Case(away, Traces.of([[0], [1]]), SetTraces.of_cells([[[0]], [[1]]]))
    >>> fitting("Learned-R", case), fitting("VisitProb-R", case)
    ('Bayes-R', 'VisitProb-R')
    """
    if name in LEARNED and not shipped_suits(case.city, case.released.clock.slots):
        return name.replace("Learned", "Bayes")
    return name


def winner_attacks(preset: str = "paper") -> tuple[str, str]:
    """Re-identification and trace inference of the 2019 winner."""
    if preset not in WINNER:
        raise InvalidParameter(f"a preset is one of {', '.join(WINNER)}, got {preset!r}")
    return WINNER[preset]


def strong_attacks(
    strength: str = "standard", defence: str = "", *, learned: bool = False
) -> tuple[str, ...]:
    """Attacks that tell how private a release is, weakest strength first; names of both kinds.

    `quick` links the winner's and the sample scores one to one (seconds), `standard` adds the
    Bayes attacks that know nothing of the defence (about half a minute for 2000 x 400), `max`
    trusts the release as well and, if the name of the `defence` is given, adds the
    `informed_attacks`. From `standard` on the `learned` attacks join in: ask
    `attack.learned.shipped_suits` whether the model that comes with the package fits the data.

    >>> strong_attacks("quick")[0]
    'Fuzzy-R(0.33,1,match=assignment)'
    >>> strong_attacks("max", "KMeans(100)")[-1]
    'Bayes-T(channel=known(KMeans(100)))'
    """
    if strength not in STRENGTHS:
        raise InvalidParameter(f"a strength is one of {', '.join(STRENGTHS)}, got {strength!r}")
    rank = STRENGTHS.index(strength)
    names = [name for at in range(rank + 1) for name in STRONG[STRENGTHS[at]]]
    if learned and rank > 0:
        names += LEARNED
    if defence and strength == "max":
        names += informed_attacks(defence)
    return tuple(names)


def informed_attacks(defence: str) -> tuple[str, str]:
    """Attacks that know the defence by name: they run it on the references first.

    >>> informed_attacks("RR(8)")
    ('Bayes-R(channel=known(RR(8)))', 'Bayes-T(channel=known(RR(8)))')
    """
    reid, trace = (f"Bayes-{kind}(channel=known({defence}))" for kind in "RT")
    return reid, trace
