"""What sample attacks knew: kept in the archive, beside their scores, and shown."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from tracecup.contest.archive.folder import Archive
from tracecup.contest.archive.manifest import write_manifest
from tracecup.contest.archive.verify import verify
from tracecup.contest.entries import BENCHMARK
from tracecup.contest.results.tables import read_table
from tracecup.contest.rules import SampleRules
from tracecup.contest.season import Season, play
from tracecup.facts.archive import facts_of_archive
from tracecup.report.page import report_html

SAMPLES = SampleRules(
    ("VisitProb-R", "Bayes-R", "Learned-R"), ("VisitProb-T", "Prior-T(habits=mixture)")
)


class Stopped(Exception):
    pass


@pytest.fixture(scope="module")
def told(tmp_path_factory, tiny_world, tiny_season) -> Archive:
    """A season of two teams with sample attacks that have something to tell; only read."""
    season = Season(replace(tiny_season.rules, samples=SAMPLES), teams=2, seed=1)
    return play(tmp_path_factory.mktemp("told") / "archive", season, tiny_world)


class TestArchive:
    def test_tells_what_each_sample_attack_knew_of_each_release(self, told):
        of_one = {column: said for (file, column), said in told.knew.items()
                  if file == BENCHMARK.release}  # fmt: skip
        assert set(of_one) == {"I2", "I3", "T2"}
        assert "nats per held-out location; channel learnt from the release" in of_one["I2"]
        assert of_one["I3"] == f"its model knows another city, Bayes-R ran; {of_one['I2']}"
        assert of_one["T2"].startswith("prior of ")
        assert {file for file, _ in told.knew} == {one.release for one in told.published()}

    def test_stands_beside_the_scores_of_samples_alone(self, told):
        rows = read_table(told.results / "cells.parquet").rows()
        beside = {(row["pubtraces"], row["attacker"]): row["knew"] for row in rows}
        assert {key: said for key, said in beside.items() if said} == told.knew

    def test_is_verified(self, told):
        assert verify(told.root, rerun_samples=True) == []

    def test_a_changed_remark_is_found(self, told, tmp_path):
        shutil.copytree(told.root, tmp_path, dirs_exist_ok=True)
        own = Archive(tmp_path)
        path = own.root / "answers" / "knew.json"
        held = json.loads(path.read_text())
        held[BENCHMARK.release]["T2"] = "nothing at all"
        path.write_text(json.dumps(held))
        write_manifest(own.root)
        found = verify(own.root, rerun_samples=True)
        assert any("results/cells.csv" in line and "nothing at all" in line for line in found)
        assert any("T2 knew 'prior of" in line for line in found)
        path.write_text("[]")
        write_manifest(own.root)
        assert any("knew.json" in line for line in verify(own.root))

    def test_a_season_that_is_stopped_tells_the_same(
        self, told, tmp_path, tiny_world, tiny_season, contents_of
    ):
        season = Season(replace(tiny_season.rules, samples=SAMPLES), teams=2, seed=1)

        def stop(stage: str, done: int, total: int) -> None:
            if stage == "attacks" and done >= total // 2:
                raise Stopped

        with pytest.raises(Stopped):
            play(tmp_path / "archive", season, tiny_world, stop)
        play(tmp_path / "archive", season, tiny_world)
        assert contents_of(tmp_path / "archive") == contents_of(told.root)

    def test_nothing_is_told_where_no_sample_attack_tells(self, played):
        assert played.knew == {}
        assert not (played.root / "answers" / "knew.json").exists()
        assert "knew" not in read_table(played.results / "cells.parquet").columns


class TestShown:
    def test_the_facts_have_it_with_the_score(self, told):
        facts = facts_of_archive(told.root)
        found = {(one.release, one.attacker): one for one in facts.board.reid.knew}
        first = facts.board.releases[0]
        one = found[first.label, "I2"]
        assert (one.attack, one.knew) == ("Bayes-R", told.knew[first.file, "I2"])
        row = next(row for row in facts.board.reid.rows if row.label == first.label)
        columns = [attacker.label for attacker in facts.board.reid.attackers]
        assert one.score == row.values[columns.index("I2")]

    def test_the_report_shows_it(self, told, played):
        page = report_html(facts_of_archive(told.root))
        assert "What the sample attacks knew" in page
        assert "nats per held-out location" in page
        assert "What the sample attacks knew" not in report_html(facts_of_archive(played.root))
