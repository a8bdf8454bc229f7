"""A team under a defence, as a lesson has it: a job for workers, which need no JAX for it.

A defence that is named without values is tuned to the floor first.
"""

from __future__ import annotations

from dataclasses import replace

from tracecup.city import City
from tracecup.learn.pool import Regions, drawn_members
from tracecup.obfuscate import Equalise, KMeans, Obfuscator, parse_obfuscator, to_utility
from tracecup.registry import split_name
from tracecup.traces import Traces

TOLERANCE = 1e-3


def defended(city: City, known: Traces, own: Traces, name: str, floor: float, draw: int) -> Regions:
    """One team under one defence, a member drawn of every cell."""
    method = at_floor(city, own, name, floor, draw)
    return drawn_members(method.obfuscate(city, own, draw, reference=known), draw)


def at_floor(city: City, original: Traces, name: str, floor: float, seed: int) -> Obfuscator:
    """The defence of a name; one that is named without values is tuned to the floor."""
    method = parse_obfuscator(name)
    _, values, keywords = split_name(name) if "+" not in name.strip("+") else (name, [1], [])
    if isinstance(method, KMeans | Equalise):
        return replace(method, floor=floor)  # they keep the floor by themselves
    if values or keywords or not method.knobs:
        return method
    return to_utility(name, city, original, floor, seed, tolerance=TOLERANCE)[0]
