"""Are the people of PPMTF+ new? Diversity and re-identification in the built-in city.

`python benchmarks/diversity.py [--users N]`: PPMTF against PPMTF+, two teams of 20 days each.
Same-TV compares a virtual user with the one of the same number in the other team, Diff-TV with
another; re-identification attacks one-day traces with the training users' own transitions.
"""

from __future__ import annotations

import argparse

import numpy as np

from tracecup.attack.membership import reidentification, transition_profiles
from tracecup.datasets import Metropolis
from tracecup.registry import parse
from tracecup.synth import Training
from tracecup.usefulness import DayTraces, diversity

DAYS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=2000, help="training users")
    users = parser.parse_args().users
    town = Metropolis(n_inhabitants=users)
    n = town.city.n_regions
    hourly = town.traces(1, 6 * 60, 60, 12)
    who = np.repeat(np.arange(users), hourly.times)
    profiles = transition_profiles(who, hourly.regions.ravel(), users, n)
    fitted = parse("synthesizer", "PPMTF(16,200,zeros=expected)").fit(
        Training.of_records(town.records()), rng=1
    )
    print("| | Same-TV | Diff-TV | difference / standard deviation | re-identified | guess |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in ("PPMTF", "PPMTF+"):
        model = fitted.using(parse("synthesizer", f"{name}(16,200,zeros=expected)"))
        teams = [DayTraces.of_traces(model.sample(users, DAYS, seed), n) for seed in (11, 12)]
        found = diversity(*teams).text
        same, diff = float(found.same.mean()), float(found.diff.mean())
        apart = (diff - same) / float(found.diff.std())
        rate = reidentification(teams[0].locations, profiles).rate
        print(
            f"| {name} | {same:.4f} | {diff:.4f} | {apart:.3f} | {rate:.5f} | {1 / users:.5f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
