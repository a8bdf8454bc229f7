"""Every known method passes every check; what is no method is refused."""

from __future__ import annotations

import os
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from learnedtoy import toy_model
from tracecup.attack import (
    FuzzyR,
    FuzzyT,
    LpmR,
    LpmT,
    Markov0R,
    MmcR,
    TfR,
    TfT,
    VisitProbR,
    VisitProbT,
)
from tracecup.checks import CheckResult, check_method
from tracecup.checks.suite import KINDS as CHECKED
from tracecup.checks.suite import kind_of
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import (
    MDAV,
    MRLH,
    RR,
    Cheat,
    Cloak,
    KMeans,
    MixZone,
    Obfuscator,
    Optimal,
    OptimalUser,
    PlanarLaplace,
    RareShift,
)
from tracecup.registry import KINDS, Kind, Method, methods, parse

# Fewer steps than by default, so that the check of a synthesizer takes no seconds.
TOY = toy_model(Path(tempfile.mkdtemp()) / "toy.npz")
QUICK = {
    "Learned-R": f"Learned-R(model={TOY})",
    "Learned-T": f"Learned-T(model={TOY})",
    "PPMTF": "PPMTF(2,iterations=2,rho=5)",
    "PPMTF+": "PPMTF+(2,iterations=2,rho=5)",
    "GeoOpt": "GeoOpt(4,3)",
}
EVERY = [(kind, name) for kind in KINDS for name in sorted(methods(kind))]
OPTIONS = [
    MRLH(1, 0, 0.3, replay=True),
    RR(2.0, replay=True),
    PlanarLaplace(4.0, 1.0, replay=True),
    Cheat(0.5, replay=True),
    KMeans(3, floor=0.9, hospital=False),
    RareShift(0, rare=0, hospital_cells=0),
    Cloak(3, time=1, tol=4),
    Cloak(3, reciprocal=True),
    MDAV(3, centre="set", floor=0.8),
    MDAV(3, centre="free", day=True),
    MixZone(4, zone=2),
    Optimal(0.5, weight=10.0, reach=0.5),
    OptimalUser(0.5, weight=10.0),
    VisitProbR(cells=0.5, members=2),
    FuzzyR(0.2, 0.5, tf="count", idf="log", order="spread-first"),
    Markov0R(estimator="floor", start="first"),
    MmcR("statprox", minvisits=1, dwell=True, weight="stationary"),
    TfR(2, start="visits", iterations=3),
    LpmR("weak", profile="shrunk", emission="member"),
    LpmR(estimator="floor", start="visits", shortlist=3),
    LpmT("viterbi", link="strong", estimator="lpm"),
    TfT(2, estimate="map", iterations=3, emission="member"),
    VisitProbT(match="assignment"),
    FuzzyT(threshold=1, idf="log"),
]


def broken_rules(results: list[CheckResult]) -> list[CheckResult]:
    return [result for result in results if not result.passed]


class TestCheckMethod:
    @pytest.mark.parametrize(("kind", "name"), EVERY)
    def test_every_registered_method_passes(self, kind: Kind, name: str) -> None:
        results = check_method(parse(kind, QUICK.get(name, name)))
        assert broken_rules(results) == []
        assert len(results) >= 10

    @pytest.mark.parametrize("method", OPTIONS, ids=str)
    def test_so_do_their_options(self, method: Method) -> None:
        assert broken_rules(check_method(method)) == []

    def test_a_class_is_checked_with_its_defaults(self) -> None:
        assert check_method(RR) == check_method(RR())

    def test_says_what_could_not_be_checked(self) -> None:
        remarks = {r.name: r.message for r in check_method(VisitProbR(cells=0.5)) if r.message}
        assert set(remarks) == {
            "permuting users permutes columns",
            "permuting pseudonyms permutes rows",
        }
        assert all("depend on the seed" in text for text in remarks.values())

    def test_a_class_that_cannot_be_built_gets_one_answer(self) -> None:
        @dataclass(frozen=True)
        class Needy(Obfuscator):
            size: int

        (result,) = check_method(Needy)
        assert not result.passed
        assert result.name == "is built from its defaults"
        assert "missing 1 required positional argument: 'size'" in result.message

    @pytest.mark.parametrize("thing", [Method, dict, 3, len])
    def test_what_is_no_method_is_refused(self, thing: object) -> None:
        with pytest.raises(InvalidParameter, match="derives from one of Obfuscator, ReidAttack"):
            check_method(thing)  # type: ignore[arg-type]  # wrong on purpose

    def test_leaves_threads_and_global_random_numbers_as_they_were(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRACECUP_THREADS", "3")
        np.random.seed(5)  # noqa: NPY002 - the global state is the subject
        random.seed(5)
        expected = np.random.RandomState(5).random_sample(), random.Random(5).random()
        check_method(RR)
        assert os.environ["TRACECUP_THREADS"] == "3"
        assert (np.random.random_sample(), random.random()) == expected  # noqa: NPY002 - as above

    def test_leaves_no_thread_setting_behind(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("TRACECUP_THREADS", raising=False)
        check_method(RR)
        assert "TRACECUP_THREADS" not in os.environ


class TestKindOf:
    def test_every_kind_is_checked(self) -> None:
        assert [checked.kind for checked in CHECKED] == list(KINDS)

    @pytest.mark.parametrize(("kind", "name"), EVERY)
    def test_follows_from_the_base_class(self, kind: Kind, name: str) -> None:
        assert kind_of(methods(kind)[name]).kind == kind

    def test_every_check_has_a_name_and_a_rule(self) -> None:
        for checked in CHECKED:
            names = [check.__name__ for check in checked.checks]
            assert len(set(names)) == len(names)
            assert all(check.__doc__ for check in checked.checks)
