from __future__ import annotations

import json

import numpy as np
import pytest

from tracecup import City, Clock, Grid, Traces
from tracecup.attack import parse_inference
from tracecup.attack.models import bayes
from tracecup.city import ContestClock, write_city, write_clock
from tracecup.cli.main import run
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.obfuscate import NoObfuscation, parse_obfuscator
from tracecup.study.comparison import DEFENCES, as_markdown, compare, usual_defences
from tracecup.traces import files

CITY = City(Grid.from_metres(6, 6, width_m=500, height_m=500), hospitals=[7, 20])
CLOCK = ContestClock.regular(3, slots=4)


def people(clock: Clock, seed: int) -> Traces:
    """Twelve people who mostly stay where they live, each in a corner of their own."""
    rng = np.random.default_rng(seed)
    homes = np.arange(12)[:, None] * 3
    away = rng.integers(0, 36, (12, clock.times))
    return Traces.of(np.where(rng.random((12, clock.times)) < 0.95, homes, away), clock)


REFERENCE, ORIGINAL = people(CLOCK.reference, 1), people(CLOCK.original, 2)


class Mine(NoObfuscation):
    """One of your own under the name of another."""


class TestCompare:
    def test_every_defence_meets_every_attack_at_the_floor(self):
        results = compare(CITY, REFERENCE, ORIGINAL, floor=0.6)
        assert all(row.utility.value >= 0.6 - 1e-9 for row in results)
        assert {len(row.reid) for row in results} == {6}  # four of the paper, two linked anew
        assert {len(row.trace) for row in results} == {8}

    def test_the_usual_defences_are_those_of_the_size(self):
        assert [row.defence for row in compare(CITY, REFERENCE, ORIGINAL, floor=None)] == [
            str(parse_obfuscator(name)) for name in usual_defences(12)
        ]
        assert usual_defences(12) == (*DEFENCES[:-1], "KMeans(2)")
        assert usual_defences(2000) == usual_defences(100_000) == DEFENCES

    def test_a_strength_adds_attacks_to_the_papers(self):
        row = compare(CITY, REFERENCE, ORIGINAL, defences=["None"], strength="standard")[0]
        names = [one.attack for one in (*row.reid, *row.trace)]
        assert {"VisitProb-R", "Bayes-R", "Bayes-T"} <= {name.partition("(")[0] for name in names}
        assert not any(name.startswith("Learned") for name in names)  # it knows no such city
        told = {one.attack: one.remark for one in row.trace}
        assert "nats per held-out location" in told[str(parse_inference("Bayes-T"))]
        assert told[str(parse_inference("Replay-T"))] == ""

    def test_attackers_at_full_strength_know_the_tuned_defence(self):
        told: list[tuple[float, float]] = []
        rows = compare(
            CITY, REFERENCE, ORIGINAL, defences=["PL(4,1)", "RR(8)", Mine()], strength="max",
            floor=0.6, progress=lambda done, total: told.append((done, total)),
        )  # fmt: skip
        for row in rows[:2]:
            known = f"channel=known({row.defence})"
            assert row.reid[-1].attack == f"Bayes-R({known})"
            assert row.trace[-1].attack == f"Bayes-T({known})"
            assert f"channel from running {row.defence}" in row.trace[-1].remark
        assert not any("known" in one.attack for one in (*rows[2].reid, *rows[2].trace))
        assert told[-1][0] == told[-1][1]
        text = as_markdown(rows)
        assert "Bayes-R(channel=known)" in text.splitlines()[0]
        assert "| – | " in text.splitlines()[4]

    def test_a_known_program_is_run_once_for_both_kinds(self, monkeypatch):
        ran = []
        run_defence = bayes.run_defence
        monkeypatch.setattr(
            bayes, "run_defence", lambda *given: ran.append(given) or run_defence(*given)
        )
        compare(CITY, REFERENCE, ORIGINAL, defences=["RR(8)"], strength="max", floor=None)
        assert len(ran) == 1

    def test_only_kinds_of_the_portfolio_are_joined(self):
        row = compare(
            CITY, REFERENCE, ORIGINAL, defences=["RR(8)"], reid_attacks=["VisitProb-R"],
            strength="max", floor=None,
        )[0]  # fmt: skip
        assert [one.attack for one in row.reid] == ["VisitProb-R"]
        assert "known" in row.trace[-1].attack

    def test_people_who_stay_home_are_found_without_obfuscation(self):
        row = compare(CITY, REFERENCE, ORIGINAL, defences=["None"])[0]
        assert row.weakest_reid.score.value == 0.0
        assert row.weakest_trace.score.value == 0.0

    def test_bounds(self):
        rows = compare(CITY, REFERENCE, ORIGINAL, defences=["None", "MDAV(4)"], floor=None)
        for row in rows:
            blind = [
                a.score.value for a in row.trace if a.attack.startswith(("Replay-T", "Prior-T"))
            ]
            assert row.bounds.prior == min(blind)
            assert row.bounds.guessing == pytest.approx(11 / 12)
            # A loss L within a share h of hospitals, which weigh ten: 10 min(h, L) + the others.
            loss, share = 1 - row.utility.value, float(np.isin(ORIGINAL.regions, [7, 20]).mean())
            heavy = min(share, loss)
            most = (10 * heavy + loss - heavy) / (1 + 9 * share)
            assert 0 < share < 0.1
            assert row.bounds.true_link == pytest.approx(most)
            assert row.bounds.true_link >= loss
        assert rows[0].bounds.reid == pytest.approx(11 / 12)
        assert rows[1].bounds.reid == 0.75

    def test_prior_only_does_not_look_at_the_release(self):
        rows = compare(
            CITY,
            REFERENCE,
            ORIGINAL,
            defences=["None", "RR(1)"],
            trace_attacks=["Prior-T"],
            floor=None,
        )
        assert rows[0].trace[0].score.value == rows[1].trace[0].score.value

    def test_same_seed_same_scores(self):
        def scores() -> list[float]:
            rows = compare(CITY, REFERENCE, ORIGINAL, defences=["RR(3)"], seed=4)
            return [a.score.value for row in rows for a in (*row.reid, *row.trace)]

        assert scores() == scores()

    def test_bad_input(self):
        with pytest.raises(InvalidTraces, match="11 users"):
            compare(CITY, REFERENCE.take_users(slice(1, None)), ORIGINAL)
        with pytest.raises(InvalidParameter, match="of each kind"):
            compare(CITY, REFERENCE, ORIGINAL, reid_attacks=[])


class TestAsMarkdown:
    def test_the_attack_that_counts_is_bold(self):
        text = as_markdown(compare(CITY, REFERENCE, ORIGINAL, defences=["None"]))
        assert "**0.000**" in text
        assert "| `None` | 1.000 |" in text


class TestCommand:
    def test_compare(self, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        write_city("city.csv", CITY)
        write_clock("clock.csv", CLOCK)
        files.write_traces("ref.csv", REFERENCE)
        files.write_traces("org.csv", ORIGINAL)
        words = "compare --city city.csv --clock clock.csv --reference ref.csv --original org.csv"
        code = run([*words.split(), "--defence", "PL(4,1)", "--markdown", "t.md", "--json"])
        said = json.loads(capsys.readouterr().out)
        assert code == 0
        assert said["defences"][0]["utility"] >= 0.7 - 1e-9
        assert "PL(" in (tmp_path / "t.md").read_text()
        assert run([*words.split(), "--defence", "RR(8)", "--strength", "max", "--json"]) == 0
        met = json.loads(capsys.readouterr().out)["defences"][0]
        assert f"Bayes-T(channel=known({met['defence']}))" in met["trace"]
        assert run([*words.split(), "--defence", "PLL(4,1)"]) == 2
        assert "did you mean PL" in capsys.readouterr().err
