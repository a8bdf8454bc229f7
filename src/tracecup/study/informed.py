"""Attacks that know how a release was made: they run the program on the references first.

And how they draw, so that a known program is run once for both kinds of attack.
"""

from __future__ import annotations

from tracecup.attack import InferenceAttack, ReidAttack, parse_inference, parse_reid
from tracecup.attack.portfolio import informed_attacks
from tracecup.errors import InvalidParameter, UnknownMethod
from tracecup.obfuscate import Obfuscator, parse_obfuscator


def knowing(defence: str | Obfuscator) -> list[ReidAttack | InferenceAttack]:
    """The attacks that know a defence and run it on the references; none if it has no name.

    >>> [str(one) for one in knowing("RR(8)")], knowing("traces as given")
    (['Bayes-R(channel=known(RR(8)))', 'Bayes-T(channel=known(RR(8)))'], [])
    """
    name = str(defence)
    try:
        # Another defence of the same name would be another program.
        if not isinstance(defence, str) and type(parse_obfuscator(name)) is not type(defence):
            return []
        reid, trace = informed_attacks(name)
        return [parse_reid(reid), parse_inference(trace)]
    except (InvalidParameter, UnknownMethod):
        return []


def drawn_as(method: ReidAttack | InferenceAttack) -> str:
    """What an attack's draws are called: who runs a known program runs it once for both kinds."""
    channel = str(getattr(method, "channel", ""))
    return channel if channel.startswith("known(") else str(method)
