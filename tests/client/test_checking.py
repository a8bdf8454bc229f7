from __future__ import annotations

import json
import zipfile

import pytest

from tracecup.city import City, Grid, write_city
from tracecup.cli.main import run
from tracecup.client.checking import LocalJudge, round_of_folder
from tracecup.client.naming import Meant, meant_by
from tracecup.contest.judging.judge import Judge
from tracecup.contest.rules.file import parse_rules
from tracecup.errors import InvalidFile, InvalidParameter, UnreadableFile
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces import files as trace_files

RULES = "users = 3\n[clock]\ndays = 1\nslots = 4\n[limits]\nfile_mib = 1\n"
RELEASE = "anotraces_team001_data02_TRP.csv"
TABLE = "etable_team001-002_data02_TRP.csv"
INFERRED = "etraces_team001-002_data02_TRP.csv"


@pytest.fixture
def original():
    clock = parse_rules(RULES).clock_of("final").original
    return Traces.of([[0, 2, 1, 0], [3, 3, 4, 4], [2, 3, 3, 3]], clock)


@pytest.fixture
def folder(tmp_path, original):
    """What a download leaves: rules, city, the team's original traces (compressed)."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "contest.toml").write_text(RULES)
    write_city(data / "info_region.csv", City(Grid.from_metres(5, 1, width_m=300, height_m=300)))
    trace_files.write_traces(data / "orgtraces_team001_data02_TRP.csv.zst", original)
    return data


@pytest.fixture
def local(folder):
    return LocalJudge(folder, "final", 1)


def write_release(path, original, moved: int = 0):
    cells = original.regions.copy()
    cells[:, :moved] = (cells[:, :moved] + 2) % 5
    trace_files.write_obfuscated(path, SetTraces.of_traces(Traces.of(cells, original.clock)))
    return path


class TestRelease:
    def test_named_as_another_teams(self, local, tmp_path, original):
        path = write_release(tmp_path / RELEASE.replace("001", "002"), original)
        (found,) = local.check(path, meant_by(path.name))
        assert not found.ok
        assert "you are team 1" in found.reason

    def test_says_the_judges_number(self, local, folder, tmp_path, original):
        path = write_release(tmp_path / RELEASE, original, moved=1)
        (found,) = local.check(path, meant_by(RELEASE))
        rules = parse_rules(RULES)
        judge = Judge(rules, local.judge.city, rules.clock_of("final"))
        verdict = judge.verdict(original, judge.read_submission(path))
        assert (found.utility, found.valid) == (verdict.utility.value, verdict.valid)
        assert found.low <= found.utility <= found.high

    def test_below_the_floor_is_in_the_format_but_not_fine(self, local, tmp_path, original):
        path = write_release(tmp_path / RELEASE, original, moved=4)
        (found,) = local.check(path, meant_by(RELEASE))
        assert (found.ok, found.valid, found.fine) == (True, False, False)
        assert "below the floor" in found.reason

    def test_names_the_bad_lines(self, local, tmp_path):
        path = tmp_path / RELEASE
        path.write_text("reg_id\n1\nnine\n" + "1\n" * 10)
        (found,) = local.check(path, meant_by(RELEASE))
        assert found.ok is False
        assert found.problems[0]["line"] == 3

    def test_without_the_teams_originals_it_says_what_to_do(self, folder, tmp_path, original):
        path = write_release(tmp_path / "x.csv", original)
        with pytest.raises(UnreadableFile, match="tracecup client download"):
            LocalJudge(folder, "final", 2).check(path, Meant("release", "trace"))

    def test_whose_release_it_is_has_to_be_known(self, folder, tmp_path, original):
        path = write_release(tmp_path / "x.csv", original)
        with pytest.raises(InvalidParameter, match="which team"):
            LocalJudge(folder, "final").check(path, Meant("release", "trace"))

    def test_a_file_over_the_contests_limit(self, local, tmp_path):
        path = tmp_path / RELEASE
        path.write_bytes(b"reg_id\n" + b"1\n" * (600 * 1024))
        (found,) = local.check(path, meant_by(RELEASE))
        assert "larger than 1 MiB" in found.reason


class TestAnswers:
    def test_table_and_traces(self, local, tmp_path, original):
        trace_files.write_inferred_table(tmp_path / TABLE, IdTable.of([0, 1, 2]))
        trace_files.write_inferred_traces(tmp_path / INFERRED, original)
        for name, kind in ((TABLE, "reid"), (INFERRED, "trace")):
            (found,) = local.check(tmp_path / name, meant_by(name))
            assert (found.kind, found.target, found.fine) == (kind, 2, True)

    def test_too_few_rows(self, local, tmp_path):
        (tmp_path / TABLE).write_text("user_id\n1\n")
        (found,) = local.check(tmp_path / TABLE, meant_by(TABLE))
        assert found.fine is False
        assert found.problems


class TestArchive:
    def pack(self, path, members):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in members:
                archive.writestr(name, text)
        return path

    def test_every_member_is_checked_by_its_name(self, local, tmp_path):
        path = self.pack(
            tmp_path / "a.zip",
            [(f"deep/{TABLE}", "user_id\n1\n2\n3\n"), (INFERRED, "reg_id\n1\n")],
        )
        found = local.check(path, Meant("archive"))
        assert [(one.name, one.fine) for one in found] == [(TABLE, True), (INFERRED, False)]

    def test_a_member_cannot_leave_the_folder(self, local, tmp_path):
        path = self.pack(tmp_path / "a.zip", [(f"../../{TABLE}", "user_id\n1\n2\n3\n")])
        before = set(tmp_path.rglob("*"))
        local.check(path, Meant("archive"))
        assert set(tmp_path.rglob("*")) == before

    def test_a_member_that_says_nothing(self, local, tmp_path):
        members = [("readme.txt", "hello"), (TABLE, "user_id\n1\n2\n3\n"), ("..", "out")]
        found = local.check(self.pack(tmp_path / "a.zip", members), Meant("archive"))
        assert [one.ok for one in found] == [False, True, False]
        assert (found[0].name, "does not say" in found[0].reason) == ("readme.txt", True)

    def test_what_file_managers_add_is_left_out(self, local, tmp_path):
        members = [("__MACOSX/._x", "?"), ("a/.DS_Store", "?"), (TABLE, "user_id\n1\n2\n3\n")]
        found = local.check(self.pack(tmp_path / "a.zip", members), Meant("archive"))
        assert [one.name for one in found] == [TABLE]

    def test_the_same_name_twice(self, local, tmp_path):
        path = self.pack(tmp_path / "a.zip", [(f"a/{TABLE}", "x"), (f"b/{TABLE}", "y")])
        with pytest.raises(InvalidFile, match="twice"):
            local.check(path, Meant("archive"))

    def test_a_bomb_is_not_unpacked(self, local, tmp_path):
        path = self.pack(tmp_path / "a.zip", [(TABLE, "0" * (2 << 20))])
        with pytest.raises(InvalidFile, match="at most"):
            local.check(path, Meant("archive"))

    def test_no_zip(self, local, tmp_path):
        (tmp_path / "a.zip").write_bytes(b"PK nothing")
        with pytest.raises(InvalidFile, match="broken archive"):
            local.check(tmp_path / "a.zip", Meant("archive"))


class TestRoundOfFolder:
    def test_the_only_round(self, folder, tmp_path):
        assert round_of_folder(folder) == "final"
        assert round_of_folder(tmp_path / "nothing") is None

    def test_the_command_stands_in_it(self, folder, original, monkeypatch, capsys):
        write_release(folder / RELEASE, original)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("TRACECUP_URL", "https://nowhere.invalid")  # nobody is asked
        assert run(["client", "check", RELEASE, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["ok"] is True


class TestLocalJudge:
    def test_an_empty_folder_says_what_to_do(self, tmp_path):
        with pytest.raises(UnreadableFile, match="download first"):
            LocalJudge(tmp_path, "final")

    def test_no_such_file(self, local, tmp_path):
        with pytest.raises(UnreadableFile, match="no such file"):
            local.check(tmp_path / RELEASE, meant_by(RELEASE))
