"""Importing archives: a played season comes back out of the server as it went in."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from archived import archive_folder
from tracecup.contest.archive.export import zip_archive
from tracecup.contest.archive.folder import COMMITMENTS_FILE, Archive
from tracecup.contest.archive.verify import verify
from tracecup.contest.rules import SampleRules
from tracecup.contest.season import Season, play, season_rules
from tracecup.contest.worlds import BuiltinWorld
from tracecup.errors import BrokenFolder
from tracecup.server.access import SYSTEM
from tracecup.server.models import Contest, Release, Submission, Team
from tracecup.server.organising.archiveimport import As, finish, import_archive, is_archive

TEAMS = 3
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def season(tmp_path_factory) -> Archive:
    """Three bots, the third plays hors concours; one sample attack tells what it knew."""
    rules = season_rules(users=12, days=1, reid=True)
    samples = SampleRules(rules.samples.reid, (*rules.samples.trace, "Prior-T(habits=mixture)"))
    rules = replace(rules, samples=samples)
    folder = tmp_path_factory.mktemp("season") / "archive"
    return play(folder, Season(rules, TEAMS, 5), BuiltinWorld())


def brought_in(path, slug="again"):
    return import_archive(path, SYSTEM, As(slug, "Again"))


def submissions(contest):
    fields = ("team__number", "kind", "challenge", "target", "attempt", "state", "score", "sha256")
    return set(contest.submissions.values_list(*fields))


class TestImportArchive:
    def test_what_comes_out_is_what_went_in(self, season, tmp_path):
        done = brought_in(season.root)
        finish(done)
        out = Archive(archive_folder(done.round, tmp_path / "out"))
        assert verify(out.root) == []
        for path in sorted(season.results.iterdir()):
            assert (out.results / path.name).read_bytes() == path.read_bytes(), path.name
        same = (f"public/{COMMITMENTS_FILE}", "answers/attacks.json", "answers/knew.json")
        for name in same:
            assert (out.root / name).read_bytes() == (season.root / name).read_bytes()

    def test_an_export_comes_in_again_with_those_who_left(self, season, tmp_path):
        done = brought_in(season.root)
        done.contest.teams.filter(number=2).update(status="disqualified")
        finish(done)
        out = archive_folder(done.round, tmp_path / "out")
        again = brought_in(zip_archive(out, tmp_path / "out.zip"), "third")
        assert submissions(again.contest) == submissions(done.contest)
        assert len(submissions(again.contest)) == again.answers + again.releases
        left = again.contest.teams.values_list("number", "status", "hors_concours")
        assert set(left) == {(1, "active", False), (2, "disqualified", False), (3, "active", True)}

    def test_a_flipped_byte_stops_it(self, season, tmp_path):
        copied = shutil.copytree(season.root, tmp_path / "season")
        (copied / "secret" / "seed.json").write_text('{"seed": 6}\n')
        with pytest.raises(BrokenFolder, match=r"seed.json: its content is not"):
            brought_in(copied)
        for table in (Contest, Team, Release, Submission):
            assert not table.objects.exists()


class TestIsArchive:
    def test_a_folder_with_the_mark_or_a_file(self, season, tmp_path):
        assert is_archive(season.root)
        assert is_archive(season.root / "archive.json")
        assert not is_archive(tmp_path)
