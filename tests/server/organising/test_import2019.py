"""Importing a folder of 2019: a played season, written in 2019's names, gives the same results."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
import subprocess
import sys

import pytest

from archived import archive_folder
from tracecup.contest.archive.folder import Archive
from tracecup.contest.archive.verify import verify
from tracecup.contest.entries import Entry
from tracecup.contest.judging.reasons import Reason
from tracecup.contest.legacy2019.folder import scan, take_samples
from tracecup.contest.season import Season, play, season_rules
from tracecup.contest.worlds import BuiltinWorld
from tracecup.errors import BrokenFolder
from tracecup.safeio import read_blocks
from tracecup.server.access import SYSTEM, role_of
from tracecup.server.config import ServerConfig
from tracecup.server.errors import Refused
from tracecup.server.models import Contest, Job, LogEntry, Release, StoredFile, Submission, Team
from tracecup.server.organising.archiveimport import As, finish, import_folder
from tracecup.server.storage import store

TEAMS, USERS = 4, 24
# What bots say about themselves is in no file of 2019.
TOLD = ("method", "attack")
TABLES = ("releases", "cells", "sums", "awards", "users", "utility", "reid", "trace")
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def season(tmp_path_factory) -> Archive:
    """Four bots: the third plays hors concours, the fourth is below the floor."""
    rules = season_rules(users=USERS, days=2)
    folder = tmp_path_factory.mktemp("season") / "archive"
    return play(folder, Season(rules, TEAMS, 7), BuiltinWorld())


@pytest.fixture
def folder(season, tmp_path):
    """The season as 2019 would have left it: one flat folder, files packed in several ways."""
    made = tmp_path / "files2019"
    made.mkdir()
    shutil.copy(season.root / "contest.toml", made)
    for path in sorted([*season.root.rglob("*.csv.zst"), *season.public.glob("info_*.csv")]):
        plain = b"".join(read_blocks(path))
        name = path.name.removesuffix(".zst")
        if "team001" in name:
            (made / f"{name}.gz").write_bytes(gzip.compress(plain))
        elif "team002" in name:
            shutil.copy(path, made)
        else:
            (made / name).write_bytes(plain)
    return made


def brought_in(folder, **more):
    more = {"slug": "y2019", "name": "Of 2019", "hors_concours": [3]} | more
    return import_folder(folder, SYSTEM, As(**more))


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{key: value for key, value in row.items() if key not in TOLD} for row in rows]


class TestImportFolder:
    def test_the_results_are_the_simulation_s(self, folder, season):
        made = finish(brought_in(folder))
        for table in TABLES:
            wanted = rows_of(season.results / f"{table}.csv")
            assert wanted
            assert rows_of(store().path(made.files[f"{table}.csv"][0])) == wanted, table

    def test_without_sample_answers_the_server_attacks(self, folder, season):
        for path in folder.glob("et*_[IT]?-*"):
            path.unlink()
        done = brought_in(folder)
        assert all(not row.scores for row in done.round.releases.all())
        made = finish(done)
        fixed = ("I2", "I3")  # the others draw from a seed that no file tells
        wanted = [r for r in rows_of(season.results / "cells.csv") if r["attacker"] in fixed]
        found = rows_of(store().path(made.files["cells.csv"][0]))
        assert [row for row in found if row["attacker"] in fixed] == wanted

    def test_a_release_is_told_back_from_the_shuffled_one(self, folder, season):
        for path in folder.glob("anotraces_*"):
            path.unlink()
        made = finish(brought_in(folder))
        wanted = rows_of(season.results / "utility.csv")
        found = rows_of(store().path(made.files["utility.csv"][0]))
        # The invalid release was never shuffled, so nothing is left of it.
        assert found == [row for row in wanted if "team004" not in row["pubtraces"]]

    def test_answers_keep_their_scores(self, folder, season):
        brought_in(folder)
        cells = {
            (row["pubtraces"], row["attacker"]): float(row["score"])
            for row in rows_of(season.results / "cells.csv")
            if row["kind"] == "trace"
        }
        found = Submission.objects.filter(kind="trace").select_related("team")
        assert found
        for one in found:
            cell = Entry(one.target, one.challenge).release, f"team{one.team.number:03d}"
            assert one.score == pytest.approx(cells[cell], abs=1e-15)

    def test_the_pages_show_it(self, folder, client, new_person):
        person = new_person("head")
        finish(brought_in(folder, organisers=[person], is_public=True))
        answer = client.get("/c/y2019/results/")
        assert answer.status_code == 200
        assert "Team 001" in answer.content.decode()
        assert client.get("/c/y2019/").status_code == 200
        client.force_login(person)
        assert client.get("/c/y2019/run/").status_code == 200
        assert role_of(Contest.objects.get(slug="y2019"), person).organiser

    def test_its_archive_can_be_verified(self, folder, tmp_path):
        done = brought_in(folder)
        finish(done)
        out = archive_folder(done.round, tmp_path / "out")
        assert verify(out) == []

    def test_what_is_secret_stays_with_the_judge(self, folder):
        brought_in(folder)
        secret = StoredFile.objects.filter(kind="ptable").exclude(entry_team__gte=901)
        assert {one.audience for one in secret} == {"judge"}

    def test_it_stands_in_the_log(self, folder):
        brought_in(folder)
        assert LogEntry.objects.filter(action="contest.imported").count() == 1


class TestMissingTruth:
    def test_a_release_without_an_id_table_is_said(self, folder):
        next(folder.glob("ptable_team002*")).unlink()
        done = brought_in(folder)
        row = Release.objects.get(label="team002_data02_TRP")
        assert not row.valid
        assert "ptable_team002_data02_TRP.csv" in row.reason
        assert any("team002_data02_TRP: cannot be scored" in one for one in done.said)

    def test_answers_to_it_failed_and_are_no_scores(self, folder):
        next(folder.glob("orgtraces_team002*")).unlink()
        brought_in(folder)
        against = Submission.objects.filter(target=2)
        assert against
        assert {(one.state, one.score, one.charged) for one in against} == {("failed", None, False)}
        assert {Reason.read(one.reason).code for one in against} == {"truth-missing"}

    def test_the_others_still_have_results(self, folder):
        for path in folder.glob("*_team002_data02_TRP*"):
            path.unlink()
        made = finish(brought_in(folder))
        rows = rows_of(store().path(made.files["releases.csv"][0]))
        assert [row["valid"] for row in rows if row["team"] == "001"] == ["yes"]

    def test_without_a_benchmark_and_samples(self, folder):
        for number in ("000", "005", "006"):
            for path in folder.glob(f"*_team{number}_*"):
                path.unlink()
        for path in folder.glob("et*-000_*"):
            path.unlink()
        made = finish(brought_in(folder))
        assert made.state == "published"


class TestRealFiles:
    def test_the_preliminary_round_of_2019_without_its_truth(self, data_dir, client):
        done = import_folder(
            data_dir / "tokyo_preliminary", SYSTEM, As("tokyo", "Tokyo", is_public=True)
        )
        finish(done)
        assert (done.teams, done.releases, done.valid) == (17, 4, 0)
        # Five releases were published; for none of them is the truth in the folder.
        assert len([one for one in done.said if "cannot be scored" in one]) == 5
        assert done.contest.rules.challenges_played == ("reid", "trace")
        for page in ("", "results/"):
            assert client.get(f"/c/tokyo/{page}").status_code == 200


class TestBothChallenges:
    def test_the_results_are_the_simulation_s(self, tmp_path):
        rules = season_rules(users=12, days=1, reid=True)
        season = play(tmp_path / "archive", Season(rules, 2, 3), BuiltinWorld())
        # Folders below are looked into as well, so an archive is a folder of 2019, too.
        made = finish(brought_in(season.root, hors_concours=()))
        for table in TABLES:
            wanted = rows_of(season.results / f"{table}.csv")
            assert rows_of(store().path(made.files[f"{table}.csv"][0])) == wanted, table


class TestRules:
    def test_without_a_rules_file_they_are_those_of_2019(self, folder):
        (folder / "contest.toml").unlink()
        done = brought_in(folder)
        rules = done.contest.rules
        assert (rules.users, rules.clock.days, rules.scores.utility_rule) == (
            USERS,
            2,
            "organisers",
        )
        assert rules.challenges_played == ("trace",)
        assert rules.awards.winner_excluded

    def test_a_clock_that_contradicts_the_rules(self, folder):
        text = (folder / "contest.toml").read_text()
        (folder / "contest.toml").write_text(text.replace("days = 2", "days = 3"))
        with pytest.raises(Exception, match="2 \\+ 2 days of 20 slots.*expected 3 \\+ 3 days"):
            brought_in(folder)


class TestRefusals:
    def expect(self, folder, *words):
        with pytest.raises(BrokenFolder) as caught:
            brought_in(folder)
        for word in words:
            assert word in str(caught.value)
        tables = (Contest, Team, Submission, Release, StoredFile, Job)
        assert [table.objects.count() for table in tables] == [0] * len(tables)

    def test_no_city(self, folder):
        (folder / "info_region.csv").unlink()
        self.expect(folder, "info_region.csv: not there")

    def test_broken_files_are_named_with_their_lines(self, folder):
        one, other = (next(folder.glob(f"{k}_team003*")) for k in ("ptable", "orgtraces"))
        lines = one.read_text().splitlines()
        lines[5] = lines[4]
        one.write_text("\n".join(lines))
        other.write_text(other.read_text().replace("\n3,", "\nx,", 1))
        self.expect(folder, f"{one.name}: line 6", f"{other.name}: line ")

    def test_a_release_that_is_not_the_shuffled_file(self, folder):
        path = folder / "pubtraces_team003_data02_TRP.csv"
        lines = path.read_text().splitlines()
        head, cell = lines[9].rsplit(",", 1)
        lines[9] = f"{head},{int(cell) % 1024 + 1}"
        path.write_text("\n".join(lines) + "\n")
        self.expect(folder, "pubtraces_team003_data02_TRP.csv: line 10")

    def test_one_file_twice(self, folder):
        path = folder / "ptable_team003_data02_TRP.csv"
        shutil.copy(path, folder / f"{path.name}.gz")
        self.expect(folder, "the same file as")

    def test_an_answer_to_the_own_release(self, folder):
        path = next(folder.glob("etable_team001-003*"))
        path.rename(folder / path.name.replace("001-003", "003-003"))
        self.expect(folder, "a team does not attack its own release")

    def test_more_tries_than_the_rules_allow(self, folder):
        path = next(folder.glob("etable_team002-003*"))
        shutil.copy(path, folder / "etable_team002-003_data02_TRP_try3.csv.zst")
        self.expect(folder, "found try 3, the rules allow 2")

    def test_an_address_that_is_taken(self, folder, contest):
        before = Submission.objects.count()
        with pytest.raises(Refused, match="address"):
            brought_in(folder, slug=contest.slug)
        assert Submission.objects.count() == before

    def test_nothing_is_left_when_the_last_step_fails(self, folder, monkeypatch):
        def fail(*_, **__):
            raise RuntimeError

        monkeypatch.setattr("tracecup.server.organising.archiverows.compute_result_set", fail)
        with pytest.raises(RuntimeError):
            brought_in(folder)
        assert not Contest.objects.exists()
        assert not Submission.objects.exists()


class TestCommand:
    """In processes of their own, as organisers call it."""

    @pytest.fixture
    def tracecup(self, tmp_path):
        env = {**os.environ, "DATABASE_URL": "", "TRACECUP_CLOCK": ""}
        server = tmp_path / "contests"
        ServerConfig(server).prepare()

        def run(*words):
            command = [sys.executable, "-m", "tracecup", "import", *map(str, words)]
            command += ["--server", str(server), "--slug", "y2019", "--name", "Of 2019", "--json"]
            done = subprocess.run(
                command, env=env, capture_output=True, text=True, check=False, timeout=600
            )
            return done.returncode, json.loads(done.stdout), done.stderr

        return run

    def test_it_ends_with_the_winners(self, tracecup, folder, season):
        code, told, _ = tracecup(folder, "--hors-concours", "3")
        assert code == 0
        wanted = json.loads((season.results / "summary.json").read_text())["awards"]
        assert {key: one["winners"] for key, one in told["awards"].items()} == {
            key: one["winners"] for key, one in wanted.items()
        }

    def test_a_broken_folder_is_a_no(self, tracecup, folder):
        (folder / "info_time.csv").unlink()
        code, told, stderr = tracecup(folder)
        assert code == 1
        assert "info_time.csv: not there" in told["error"]
        assert "info_time.csv: not there" in stderr.replace("\n", " ")


class TestScan:
    def test_the_last_two_are_the_sample_teams(self, folder):
        found = scan(folder)
        assert [entry.team for entry in take_samples(found)] == [5, 6]

    def test_other_files_are_told(self, folder):
        (folder / "README.txt").write_text("hello")
        assert any("README.txt" in one for one in brought_in(folder).said)
