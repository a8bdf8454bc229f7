"""Words of the classroom: lessons, their steps, measures and the sliders of the toy.

All in the reader's language.
"""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

_LESSONS = {
    "pseudonyms": (
        gettext_noop("Pseudonyms are not enough"),
        gettext_noop(
            "Sixty people are released under pseudonyms, nothing else is changed. You know where "
            "each of them was in the week before. Who is who?"
        ),
    ),
    "noise": (
        gettext_noop("Noise protects, and costs"),
        gettext_noop(
            "Now every place was moved at random. Attack it first; then protect sixty people "
            "yourself, and keep the data useful."
        ),
    ),
    "cheating": (
        gettext_noop("Hiding who is not hiding where"),
        gettext_noop(
            "Whole traces were exchanged among the people. No attacker can say who is who. "
            "Find out where they were all the same."
        ),
    ),
    "winner": (
        gettext_noop("The winner of 2019"),
        gettext_noop(
            "The defence that won in 2019 makes people of a group alike. It is far better than "
            "noise of the same cost, and it can be attacked."
        ),
    ),
}
_STEPS = {
    ("pseudonyms", "who"): (
        gettext_noop("Find one person by eye"),
        gettext_noop(
            "The first map shows a pseudonym, the others show five people in the week before. "
            "Which of them is it?"
        ),
    ),
    ("pseudonyms", "half"): (
        gettext_noop("Name half of the pseudonyms"),
        gettext_noop(
            "Hand in a table with one user for each pseudonym, in the order of the pseudonyms. "
            "At least half of them must be right."
        ),
    ),
    ("pseudonyms", "most"): (
        gettext_noop("Name four of five"),
        gettext_noop(
            "Each person has exactly one pseudonym, so a user you have already named is no longer "
            "available. At least four of five must be right."
        ),
    ),
    ("noise", "half"): (
        gettext_noop("Name half of them all the same"),
        gettext_noop(
            "Places are wrong by some hundred metres, habits are not. Let near places count a "
            "little, too."
        ),
    ),
    ("noise", "useful"): (
        gettext_noop("Protect them, and stay useful"),
        gettext_noop(
            "Hand in a release of your own people. It has to keep the floor of utility and hide "
            "a little of where they were."
        ),
    ),
    ("noise", "hidden"): (
        gettext_noop("Hide a third of the places"),
        gettext_noop("The same, with as much noise as the floor allows."),
    ),
    ("cheating", "places"): (
        gettext_noop("Find out where they were"),
        gettext_noop(
            "Hand in a trace for every user. Do not ask whose name is on a trace; ask whose trace "
            "it is."
        ),
    ),
    ("cheating", "cheat"): (
        gettext_noop("Cheat yourself"),
        gettext_noop(
            "Hand in a release that keeps the floor, looks private against re-identification and "
            "gives away where everybody was. One number for privacy is not enough."
        ),
    ),
    ("winner", "third"): (
        gettext_noop("Name a third of the pseudonyms"),
        gettext_noop("The groups are small. A good guess within a group is enough for a third."),
    ),
    ("winner", "own"): (
        gettext_noop("Build your own defence"),
        gettext_noop(
            "Hand in a release that keeps the floor and hides half of the people and most of the "
            "places. Move people towards each other, not just anywhere."
        ),
    ),
}
_MEASURES = {
    "right": gettext_noop("right answer"),
    "s_U": gettext_noop("utility s_U"),
    "s_R": gettext_noop("privacy against re-identification s_R"),
    "s_T": gettext_noop("privacy against trace inference s_T"),
}
_SLIDERS = {
    "noise": (
        gettext_noop("Noise: move every place"),
        gettext_noop("Every place is moved at random, near places more often than far ones."),
    ),
    "flip": (
        gettext_noop("Coins: lie now and then"),
        gettext_noop("Some places stay as they are, the others become any place of the city."),
    ),
    "delete": (
        gettext_noop("Deletion: leave places out"),
        gettext_noop("Some places are missing. Those that are left are true."),
    ),
    "blur": (
        gettext_noop("Blur: name blocks instead of places"),
        gettext_noop("Only the block of a place is told, and some places are missing."),
    ),
    "alike": (
        gettext_noop("Crowds: make people alike"),
        gettext_noop("People of a group go where the group goes: the idea that won in 2019."),
    ),
    "exchange": (
        gettext_noop("Cheating: exchange whole traces"),
        gettext_noop(
            "Some people appear under each other's names. Every trace is there, and true."
        ),
    ),
}


def lesson_title(name: str) -> str:
    """What a lesson is called."""
    return _(_LESSONS[name][0])


def lesson_text(name: str) -> str:
    """What a lesson is about."""
    return _(_LESSONS[name][1])


def step_title(lesson: str, step: str) -> str:
    """What a step is called."""
    return _(_STEPS[lesson, step][0])


def step_text(lesson: str, step: str) -> str:
    """What is to be done."""
    return _(_STEPS[lesson, step][1])


def measure(name: str) -> str:
    """What is measured."""
    return _(_MEASURES[name])


def goal(name: str, most: float | None, least: float | None) -> str:
    """A goal as a sentence's part."""
    if name == "right":
        return measure(name)
    said = _("{measure} at most {limit}") if most is not None else _("{measure} at least {limit}")
    limit = least if most is None else most
    return said.format(measure=measure(name), limit=limit)


def slider_title(name: str) -> str:
    """What a slider of the toy is called."""
    return _(_SLIDERS[name][0])


def slider_text(name: str) -> str:
    """What a slider of the toy does."""
    return _(_SLIDERS[name][1])
