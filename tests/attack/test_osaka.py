"""The published two-day sample set: shares identified, to the digits of the specification."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tracecup.attack import Case, Markov0R, MarkovR, MmcR, ReidAttack, TfR, VisitProbR
from tracecup.city.files import read_city, read_clock
from tracecup.traces import SetTraces
from tracecup.traces.files import read_traces


@pytest.fixture(scope="module")
def osaka(data_dir: Path) -> Case:
    """Team 001, data01: 40 slots of reference, 40 slots released as they are."""
    folder = data_dir / "osaka"
    clock = read_clock(folder / "info_time.csv")
    name = "traces_team001_data01_IDP.csv.gz"
    reference = read_traces(folder / f"ref{name}", "reference", clock=clock.reference)
    original = read_traces(folder / f"org{name}", "original", clock=clock.original)
    return Case(read_city(folder / "info_region.csv"), reference, SetTraces.of_traces(original))


def share(attack: ReidAttack, case: Case) -> float:
    users = attack.identify(case, rng=1).users
    return float(np.mean(users == np.arange(case.n_users)))


@pytest.mark.parametrize(
    ("attack", "wanted"),
    [
        (VisitProbR(), 0.081),
        (VisitProbR(match="assignment"), 0.0975),
        # printed as 0.074: 149 of 2000 are 0.0745, which three digits round down
        (MarkovR(), 0.0745),
        (MarkovR(match="assignment"), 0.0725),
        (MarkovR(estimator="shrunk", b=1.0), 0.0215),
        (MarkovR(estimator="shrunk", b=5.0), 0.0395),
        (MarkovR(estimator="shrunk", b=20.0), 0.048),
        (Markov0R(b=1.0), 0.0545),
        (Markov0R(b=5.0), 0.0855),
        (Markov0R(b=20.0), 0.1055),
        (MmcR("stat", minvisits=1), 0.0535),
        (MmcR("sym", minvisits=1), 0.0795),
        # these two were measured with ten ranks at most
        (MmcR("prox", minvisits=1, ranks=10), 0.027),
        (MmcR("statprox", minvisits=1, ranks=10), 0.039),
        (MmcR("sym", minvisits=2), 0.063),
        # printed as 0.0465, which is what leaving the 505 pseudonyms without any stop to the
        # smallest user gives; with their own places, as the specification's rule has it, 0.0495
        (MmcR("sym", minvisits=4), 0.0495),
    ],
    ids=str,
)
def test_share_identified(osaka: Case, attack: ReidAttack, wanted: float) -> None:
    assert share(attack, osaka) == pytest.approx(wanted, abs=1e-9)


def test_factorisation_recovers_part_of_what_shrinking_loses(osaka: Case) -> None:
    # 0.063 with the start of the specification's run; six seeds gave 0.0575 to 0.0665
    assert share(TfR(16), osaka) == pytest.approx(0.063, abs=0.008)
