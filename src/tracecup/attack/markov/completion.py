"""Factored chains from references with gaps: fill them by the likeliest way, factorise, repeat.

After the Viterbi version of EMTF (Murakami, PoPETs 2017); the factorisation is that of `factors`.
"""

from __future__ import annotations

import numpy as np

from tracecup.attack.markov.chains import Chains, Moves, start_rows
from tracecup.attack.markov.factors import factored_chains, factorise, gaussian_factors
from tracecup.attack.markov.tracking import track
from tracecup.city import City
from tracecup.rng import Rng, generator
from tracecup.traces import IdTable, SetTraces, Traces


def completed_chains(
    city: City,
    reference: Traces,
    z: int = 16,
    b: float = 20.0,
    iterations: int = 50,
    rounds: int = 0,
    rng: Rng = None,
    *,
    factors: str = "em",
) -> Chains:
    """`factored_chains`; where the reference has gaps, from what they are filled with.

    The first matrices come from the moves that were seen. Then, `rounds` times: every day of a
    user becomes the likeliest way through what was seen of it, under her matrix and the first
    slots of her days (Viterbi), and the moves of these ways are factorised anew. Without gaps or
    rounds this is one factorisation, by expectation maximisation or (`factors` = ppmtf) by PPMTF's
    sampler. O(rounds x users x slots x X^2) at worst, where gaps follow
    gaps; O(gaps x X) where none does.

    >>> from tracecup.city import Grid
    >>> city = City(Grid.from_metres(3, 1, width_m=300, height_m=300))
    >>> seen = Traces.of([[0, 1, 0, 1], [0, -1, 0, 1]])
    >>> apart, joined = (completed_chains(city, seen, 2, rounds=k, rng=1) for k in (0, 1))
    >>> len(apart.moves.to), len(joined.moves.to)
    (3, 4)
    """
    random, known = generator(rng), reference
    factorisation = gaussian_factors if factors == "ppmtf" else factorise

    def complete(traces: Traces) -> Chains:
        moves = Moves.of_traces(traces, city.n_regions)
        return factored_chains(
            moves, factorisation(moves, city.n_regions, z, iterations, random), b
        )

    chains = complete(known)
    if not reference.has_gaps:
        return chains
    cells, own = SetTraces.of_traces(reference), IdTable.of(range(reference.n_users))
    exact = np.ones((1, 1))
    for _ in range(rounds):
        starts = start_rows(known, city.n_regions, "first", b)
        ways = track(city, cells, own, chains, starts, exact, "viterbi")
        known = Traces(ways, reference.users, reference.clock)
        chains = complete(known)
    return chains
