"""Importing score sheets: a played season's own sheets give its board back, without any file."""

from __future__ import annotations

import csv
import shutil

import pytest

from tracecup.contest.season import Season, play, season_rules
from tracecup.contest.worlds import BuiltinWorld
from tracecup.errors import InvalidTraces
from tracecup.server.access import SYSTEM
from tracecup.server.errors import Refused
from tracecup.server.models import Contest, Job, Release, ResultSet, StoredFile, Team
from tracecup.server.organising.sheetsimport import import_sheets
from tracecup.server.results.service import (
    compute_result_set,
)
from tracecup.server.resultsets import (
    table_rows,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    folder = tmp_path_factory.mktemp("season") / "archive"
    return play(folder, Season(season_rules(users=30, days=2), 4, 7), BuiltinWorld())


@pytest.fixture
def folder(season, tmp_path):
    """The sheets of the season under the names of published ones."""
    made = tmp_path / "sheets"
    made.mkdir()
    names = {"reid": "reidentification", "trace": "traceinference", "utility": "utility"}
    for there, here in names.items():
        shutil.copy(season.results / f"{there}.csv", made / f"final_{here}.csv")
    shutil.copy(season.root / "contest.toml", made)
    return made


def brought_in(folder, **more):
    return import_sheets(folder, SYSTEM, **({"slug": "sheets", "name": "Sheets"} | more))


class TestImportSheets:
    def test_scores_are_those_of_the_season(self, folder, season):
        made = brought_in(folder)
        held = {
            (row["kind"], row["pubtraces"], row["attacker"]): row["score"]
            for row in table_rows(made.results, "cells")
        }
        with (season.results / "cells.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                cell = row["kind"], row["pubtraces"], row["attacker"]
                if cell in held:
                    assert held.pop(cell) == float(row["score"])
        # What is left was not attacked: sheets write 1 for it.
        assert set(held.values()) <= {1.0}

    def test_everything_is_over_and_public(self, folder):
        made = brought_in(folder)
        round = made.contest.rounds.get()
        assert round.released_at is not None
        assert round.closed_at is not None
        assert made.results.state == "published"
        assert made.results.summary["scores_only"] is True
        assert Team.objects.filter(contest=made.contest).count() == made.teams
        assert Release.objects.filter(round=round).count() == made.releases + 1

    def test_no_files_and_no_jobs(self, folder):
        made = brought_in(folder)
        kinds = set(StoredFile.objects.values_list("kind", flat=True))
        assert kinds == {"results"}
        assert not Job.objects.filter(contest=made.contest).exists()
        with pytest.raises(Refused, match="Scores only"):
            compute_result_set(made.contest.rounds.get(), "again", SYSTEM)

    def test_nothing_is_half_imported(self, folder):
        for sheet in folder.glob("*.csv"):
            sheet.write_text(sheet.read_text().replace("pubtraces_team000", "bench_team000"))
        with pytest.raises(InvalidTraces, match="no name of a released file"):
            brought_in(folder)
        assert not Contest.objects.exists()
        assert not ResultSet.objects.exists()

    def test_a_folder_without_sheets(self, tmp_path):
        with pytest.raises(InvalidTraces, match="no round has both sheets"):
            brought_in(tmp_path)

    def test_the_pages_say_so(self, folder, client):
        brought_in(folder, is_public=True)
        page = client.get("/c/sheets/results/").content.decode()
        assert "Scores only, no files." in page
        assert "Team 001" in page
        assert "sha256sum" not in page
        page = client.get("/c/sheets/").content.decode()
        assert "the city of this contest is not here" in page
        assert client.get("/api/v1/contests/sheets/results").json()["board"]["scores_only"] is True


class TestPublished:
    def test_both_rounds_of_2019(self, data_dir, tmp_path, client):
        for path in (data_dir / "results").glob("*_[rtu][ert]*.csv"):
            shutil.copy(path, tmp_path)
        made = brought_in(tmp_path, is_public=True)
        assert [one.name for one in made.contest.rounds.all()] == ["preliminary", "final"]
        assert (made.teams, made.releases, made.valid) == (21, 59, 59)
        assert made.said == (
            "final: trace: cell Z1: found 'SecI', read as SecT: the values are trace inference "
            "scores",
        )
        page = client.get("/api/v1/contests/sheets/results").json()
        assert page["round"] == "final"
        assert len(page["board"]["releases"]) == 34
        winners = {one["key"]: one["winners"] for one in page["season"]}
        assert winners == {
            "best_anonymization_trace": ["Team 009"],
            "best_anonymization_reid": ["Team 001"],
            "best_reidentification": ["Team 004"],
            "best_trace_inference": ["Team 002"],
            "overall": ["Team 001"],
        }
        values = {one["key"]: one["value"] for one in page["season"]}
        assert values["overall"] == 14.499078728548504
