"""Facts from a real archive: a tiny season is played and read back."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

from tracecup.city import City, Clock, Grid
from tracecup.contest.rules import ChallengeRules, ClockRules, Rules
from tracecup.contest.season import Season, play
from tracecup.errors import InvalidFile, UnreadableFile
from tracecup.facts import facts_of_archive
from tracecup.facts.archive import population_of
from tracecup.report import report_html
from tracecup.score import inference_score
from tracecup.traces import Traces

USERS, TEAMS = 24, 4


class Commuters:
    """People with a home and a work place who stray now and then."""

    name = "made-up commuters"
    city = City(Grid.from_metres(6, 5, width_m=400, height_m=500), hospitals=[3, 17])

    def prepare(self, model, say):
        pass

    def data(self, entry, clock, users, seed):
        rng = np.random.default_rng(seed)
        n = self.city.n_regions
        home, work = rng.integers(0, n, (2, users))

        def traces(part):
            at = np.where((part.slot_of < 1)[None], home[:, None], work[:, None])
            stray = rng.random(at.shape) < 0.2
            return Traces.of(np.where(stray, rng.integers(0, n, at.shape), at), part)

        return traces(clock.reference), traces(clock.original)


def season(folder, **challenges):
    rules = Rules(
        name="Little <cup>",
        users=USERS,
        clock=ClockRules(days=2, slots=4, start=8 * 60, interval=30),
        challenges=ChallengeRules(**challenges),
    )
    return play(folder, Season(rules, TEAMS, 1), Commuters())


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return season(tmp_path_factory.mktemp("season") / "archive")


@pytest.fixture(scope="module")
def facts(archive):
    return facts_of_archive(archive.root, {"001": "Ann & <b>"})


def sheet(archive, kind):
    """The published score sheet, read in the plainest way."""
    with (archive.results / f"{kind}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


class TestFactsOfArchive:
    def test_are_consistent_and_make_a_page(self, facts):
        facts.check()
        assert "Little &lt;cup&gt;" in report_html(facts)

    @pytest.mark.parametrize("kind", ["reid", "trace"])
    def test_scores_minima_and_sums_are_those_of_the_sheets(self, archive, facts, kind):
        matrix = facts.board.reid if kind == "reid" else facts.board.trace
        rows = sheet(archive, kind)
        told = {row.label: row for row in matrix.rows}
        for row in rows[:-1]:
            one = told[row["pubtraces"][14:17]]
            for attacker, value in zip(matrix.attackers, one.values, strict=True):
                shown = row[attacker.label if attacker.sample else f"team{attacker.label}"]
                assert (value is None) == (shown == "-")
                assert value is None or value == pytest.approx(float(shown))
            assert one.minimum == pytest.approx(float(row["SecI" if kind == "reid" else "SecT"]))
        for attacker in matrix.attackers:
            if attacker.sample:
                assert attacker.sum is None
            else:
                assert attacker.sum == pytest.approx(float(rows[-1][f"team{attacker.label}"]))

    def test_releases(self, facts):
        assert [(r.label, r.status) for r in facts.board.releases] == [
            ("000", "benchmark"),
            ("001", "team"),
            ("002", "team"),
            ("003", "hors concours"),
            ("004", "invalid"),
        ]
        assert facts.board.releases[3].method == "Cheat(1)"
        assert facts.board.releases[1].name == "Ann & <b>"
        assert facts.board.releases[2].name == "Team 002"

    def test_awards_and_correlation_are_those_of_the_summary(self, archive, facts):
        summary = json.loads((archive.results / "summary.json").read_text())
        assert vars(facts.board.correlation) == summary["correlation"]
        named = {"001": "Ann & <b>"}
        for award, told in zip(facts.board.awards, summary["awards"].values(), strict=True):
            assert award.title == told["title"]
            assert award.value == told["value"]
            numbers = [w.removeprefix("team") for w in told["winners"]]
            assert list(award.winners) == [named.get(w, f"Team {w}") for w in numbers]

    def test_risk_is_what_is_missing_to_one(self, archive, facts):
        with (archive.results / "users.csv").open(newline="") as file:
            rows = [r for r in csv.DictReader(file) if "team002" in r["pubtraces"]]
        risks = facts.risks["002"]
        np.testing.assert_allclose(risks.trace, [1 - float(r["s_T"]) for r in rows])
        np.testing.assert_allclose(
            risks.reid, [int(r["found_by"]) / int(r["attacks"]) for r in rows]
        )
        assert "004" not in facts.risks

    def test_bounds_stand_beside_every_score(self, facts):
        for one in facts.board.releases:
            assert one.guessing == pytest.approx(1 - 1 / USERS)
            assert one.true_link == pytest.approx(1 - one.utility)
            assert (one.ceiling is None) == (not one.attacked)
            assert one.group is None
        rows = zip(facts.board.releases, facts.board.reid.rows, facts.board.trace.rows, strict=True)
        assert all((r.bound, t.bound) == (one.guessing, one.ceiling) for one, r, t in rows)
        # Two of thirty regions are hospitals: the bound at the floor lies above 0.3.
        assert 0.3 < facts.true_link_at_floor < 0.81

    def test_everybody_is_somewhere_at_every_hour(self, facts):
        assert facts.population.hours == ("08:00", "09:00")
        np.testing.assert_allclose(facts.population.counts.sum(axis=1), USERS)

    def test_city(self, facts):
        assert (facts.city.nx, facts.city.ny, facts.city.hospitals) == (6, 5, (3, 17))
        assert facts.city.km_x == pytest.approx(0.4)
        assert facts.city.km_y == pytest.approx(0.5)

    def test_example_is_a_middling_user_of_a_middling_release(self, archive, facts):
        # Two valid teams: of these the one with the higher minimum is the (upper) median.
        valid = [e for e in archive.entries if e.team in {1, 2}]
        middling = max(valid, key=lambda e: facts.board.releases[e.team].trace_min)
        original, at = archive.original(middling), int(facts.example.user) - 1
        assert facts.example.original == tuple(original.regions[at].tolist())
        cells = archive.obfuscated(middling)
        assert facts.example.obfuscated[1] == tuple(cells.cell(at, 1).tolist())
        risk = facts.risks[middling.number].trace
        gap = np.abs(risk - np.median(risk))
        assert gap[at] == pytest.approx(gap.min())

    def test_the_inferred_trace_is_the_one_that_counted(self, archive, facts):
        example = facts.example
        one = inference_score(
            archive.city, Traces.of([example.original]), Traces.of([example.inferred])
        )
        team = int(example.defender.split()[1]) if example.defender.startswith("Team") else 1
        at = int(example.user) - 1
        assert one.value == pytest.approx(1 - facts.risks[f"{team:03d}"].trace[at])

    def test_without_the_secrets_there_is_no_example(self, archive, tmp_path):
        copy = tmp_path / "public"
        shutil.copytree(archive.root, copy, ignore=shutil.ignore_patterns("secret"))
        assert facts_of_archive(copy).example is None

    def test_with_two_challenges_releases_are_told_apart(self, tmp_path):
        played = season(tmp_path / "two", reidentification=True)
        facts = facts_of_archive(played.root)
        facts.check()
        assert [r.label for r in facts.board.releases][:5] == [
            "000", "001 IDP", "001 TRP", "002 IDP", "002 TRP",
        ]  # fmt: skip

    def test_a_folder_that_is_no_archive(self, tmp_path):
        with pytest.raises(InvalidFile, match="the archive of a contest"):
            facts_of_archive(tmp_path)

    def test_an_archive_without_results(self, archive, tmp_path):
        copy = tmp_path / "running"
        shutil.copytree(archive.root, copy, ignore=shutil.ignore_patterns("results"))
        with pytest.raises(UnreadableFile, match="no such file"):
            facts_of_archive(copy)

    def test_a_summary_that_says_something_else(self, archive, tmp_path):
        copy = tmp_path / "broken"
        shutil.copytree(archive.root, copy)
        (copy / "results" / "summary.json").write_text('{"correlation": 3}')
        with pytest.raises(InvalidFile, match="result tables of a contest"):
            facts_of_archive(copy)


class TestPopulationOf:
    def test_by_hand(self):
        # Two users, two days of three slots: two at eight, one at nine.
        clock = Clock(2, (480, 510, 540))
        city = City(Grid.from_metres(3, 1, width_m=100, height_m=100))
        traces = Traces.of([[0, 0, 1, 0, 2, 1], [1, -1, 2, 1, 1, 1]], clock)
        found = population_of(city, traces)
        assert found.hours == ("08:00", "09:00")
        np.testing.assert_allclose(found.counts, [[3 / 4, 3 / 4, 1 / 4], [0, 3 / 2, 1 / 2]])
