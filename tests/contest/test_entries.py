import pytest

from tracecup.contest.entries import BENCHMARK, Entry, sample_entries, team_entries
from tracecup.errors import InvalidParameter


class TestEntry:
    def test_files_have_the_names_of_2019(self):
        entry = Entry(7, "reid")
        assert entry.file("pubtraces", ".csv") == "pubtraces_team007_data01_IDP.csv"
        assert entry.release == "pubtraces_team007_data01_IDP.csv"
        assert Entry(12).file("ptable") == "ptable_team012_data02_TRP.csv.zst"

    def test_answers_of_teams_name_attacker_and_target(self):
        assert Entry(2).answer("etraces", "011") == "etraces_team011-002_data02_TRP.csv.zst"

    def test_answers_of_sample_attacks_name_the_column(self):
        assert Entry(2, "reid").answer("etable", "I3") == "etable_I3-002_data01_IDP.csv.zst"

    def test_a_second_try_has_a_name_of_its_own(self):
        names = {
            Entry(2).answer("etable", attacker, k) for attacker in ("001", "I1") for k in (1, 2)
        }
        assert len(names) == 4

    def test_unknown_kinds_are_refused(self):
        for attacker in ("001", "I1"):
            with pytest.raises(InvalidParameter, match="etable"):
                Entry(2).answer("ptable", attacker)

    def test_the_benchmark_is_the_one_of_2019(self):
        assert BENCHMARK.release == "pubtraces_team000_data01_IDP.csv"
        assert BENCHMARK.is_benchmark
        assert not Entry(1).is_benchmark


class TestTeamEntries:
    def test_one_for_each_team_and_challenge(self):
        labels = [entry.label for entry in team_entries(2, ("trace", "reid"))]
        assert labels == [
            "team001_data01_IDP", "team001_data02_TRP", "team002_data01_IDP", "team002_data02_TRP",
        ]  # fmt: skip

    @pytest.mark.parametrize("teams", [0, 901])
    def test_numbers_that_do_not_fit_names(self, teams):
        with pytest.raises(InvalidParameter, match="teams"):
            team_entries(teams, ("trace",))


class TestSampleEntries:
    def test_numbers_follow_the_teams(self):
        assert [entry.team for entry in sample_entries(21)] == [22, 23]
