"""Kinds of files: each is declared once, and what is made of the declarations fits the rest."""

from __future__ import annotations

import pytest

from tracecup.contest.archive import folder
from tracecup.contest.challenges import ANSWER_FILES
from tracecup.contest.entries import Entry, opening_name
from tracecup.contest.filenames import TEAM_FILES as FILES_OF_TEAMS
from tracecup.server.entries import SAMPLES, DataSet, keep_file
from tracecup.server.judging.compute.data import OWN_CITY, OWN_MODEL
from tracecup.server.models import filekinds
from tracecup.server.models.filekinds import FILE_KINDS, KIND_OF_FILE
from tracecup.server.organising.acts_contest import CITY_CHOICES
from tracecup.server.results.downloads import TYPES
from tracecup.server.storage import Blob
from tracecup.traces.files import PREFIXES


class TestDeclared:
    def test_each_has_its_name_for_itself(self):
        assert len(KIND_OF_FILE) == len(FILE_KINDS)

    def test_everything_that_can_be_fetched_is_described(self):
        fetched = [one for one in FILE_KINDS if one.audience != "judge" or one.goes_out]
        assert all(one.label and one.about for one in fetched)

    def test_every_file_of_a_contest_has_a_kind_with_its_columns(self):
        assert {name for name, kind in KIND_OF_FILE.items() if kind.line} == {
            *PREFIXES,
            *filekinds.SHARED_FILES,
        }

    def test_their_endings_have_types_but_a_page_which_is_to_be_saved(self):
        endings = {one.name: one.suffix.rpartition(".")[2] for one in FILE_KINDS if one.suffix}
        assert {name for name, last in endings.items() if f".{last}" not in TYPES} == {"report"}


class TestNames:
    @pytest.mark.parametrize("name", FILES_OF_TEAMS)
    def test_of_data_sets(self, name):
        found = Entry(3).file(name)
        assert found.startswith(name)
        assert found.endswith(KIND_OF_FILE[name].suffix)

    @pytest.mark.parametrize("name", ANSWER_FILES.values())
    def test_of_answers(self, name):
        found = Entry(3).answer(name, "004")
        assert found.startswith(name)
        assert found.endswith(KIND_OF_FILE[name].suffix)

    def test_of_openings(self):
        assert opening_name(3) == f"opening_team003{KIND_OF_FILE['opening'].suffix}"

    def test_where_a_round_has_one(self):
        assert [KIND_OF_FILE[name].file for name in filekinds.SHARED_FILES] == [
            folder.CITY_FILE,
            folder.CLOCK_FILE,
        ]
        assert KIND_OF_FILE["commitments"].file == folder.COMMITMENTS_FILE


class TestLists:
    """What is derived; the same in code that knows no database."""

    def test_what_goes_out_with_releases_is_what_archives_make_public(self):
        assert set(filekinds.RELEASED) == set(folder.PUBLIC_KINDS)

    def test_what_goes_out_with_results(self):
        assert set(filekinds.OF_RESULTS) == {"results", "opening", "archive", "report"}

    def test_what_a_data_set_has(self):
        assert set(filekinds.TRUTH) == {"reftraces", "orgtraces", "pubtraces", "ptable"}
        assert set(filekinds.TEAM_FILES) == {"reftraces", "orgtraces"}

    def test_what_the_page_of_results_offers_tells_scores(self):
        assert set(filekinds.OFFERED) == {"archive", "report", "results"}
        assert set(filekinds.OFFERED) < set(filekinds.TELLING)

    def test_files_of_an_own_city_are_named_as_in_its_payload(self):
        assert filekinds.CITY_FILES == (OWN_CITY, OWN_MODEL)
        assert [name for name, _words in CITY_CHOICES] == [OWN_CITY, OWN_MODEL]

    def test_secrets_never_go_out(self):
        for name in ("orgtraces", "ptable", "anotraces", "etable", "etraces", "city", "model"):
            kind = KIND_OF_FILE[name]
            assert kind.audience != "all"
            assert (kind.goes_out, kind.paper, kind.offered) == ("", False, False)


@pytest.mark.django_db
class TestAudience:
    """Who gets a file when it is made."""

    @staticmethod
    def kept(round, kind, data_set=None, **more):
        blob = Blob("0" * 64, 1)
        return keep_file(round, f"{kind}.csv", blob, kind=kind, data_set=data_set, **more).audience

    def test_a_team_gets_its_traces_and_the_judge_the_rest(self, desk, team):
        own = DataSet(Entry(team.number), team)
        found = {name: self.kept(desk.round, name, own) for name in FILES_OF_TEAMS}
        assert {name for name, audience in found.items() if audience == "team"} == {
            "reftraces",
            "orgtraces",
        }
        assert set(found.values()) == {"team", "judge"}

    def test_of_the_benchmark_no_team_gets_anything(self, desk):
        for name in FILES_OF_TEAMS:
            assert self.kept(desk.round, name, DataSet(Entry(0, "reid"))) == "judge"

    def test_everything_of_a_sample_team_is_for_all(self, desk):
        for name in filekinds.TRUTH:
            assert self.kept(desk.round, name, DataSet(SAMPLES[0])) == "all"

    def test_the_archive_is_for_whom_it_is_opened(self, desk):
        assert self.kept(desk.round, "archive") == "judge"
        assert self.kept(desk.round, "archive", audience="all") == "all"
