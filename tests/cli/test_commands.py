"""The command line as people and programs meet it: exit codes, one JSON object, precise errors."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest

from tracecup import Clock
from tracecup.city import City, ContestClock, Grid, write_city, write_clock
from tracecup.cli.main import run
from tracecup.traces import files


@pytest.fixture
def folder(tmp_path, toy_original, toy_obfuscated, toy_table, monkeypatch):
    """The paper's example as files, and the working folder."""
    city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=341.25), hospitals=[1])
    write_city(tmp_path / "city.csv", city)
    write_clock(tmp_path / "clock.csv", ContestClock.regular(1, slots=4))
    clock = Clock.regular(1, slots=4, first_time=4)
    files.write_traces(tmp_path / "org.csv", type(toy_original).of(toy_original.regions, clock))
    files.write_obfuscated(tmp_path / "ano.csv", toy_obfuscated)
    files.write_id_table(tmp_path / "ptable.csv", toy_table)
    (tmp_path / "etable.csv").write_text("user_id\n2\n2\n1\n")
    (tmp_path / "etraces.csv").write_text("reg_id\n" + "1\n1\n2\n4\n4\n4\n5\n5\n3\n4\n4\n4\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


UTILITY = "score utility --city city.csv --original org.csv --obfuscated ano.csv"
TRACE = "score trace --city city.csv --original org.csv --inferred etraces.csv"


def answer(capsys, command: str) -> tuple[int, dict]:
    code = run([*command.split(), "--json"])
    return code, json.loads(capsys.readouterr().out)


def _printed(capsys, command: str) -> str:
    assert run(command.split()) == 0
    return " ".join(capsys.readouterr().out.split())


class TestScore:
    def test_utility(self, folder, capsys):
        code, said = answer(capsys, UTILITY)
        assert code == 0
        assert said["score"] == pytest.approx(6.9478125 / 12, abs=1e-6)
        assert said["valid"] is False
        assert len(said["interval"]) == 2

    def test_what_begins_like_a_reference_is_told(self, folder, capsys):
        assert run(UTILITY.split()) == 0
        assert "as reference traces do" not in capsys.readouterr().err
        text = (folder / "org.csv").read_text()
        for time in range(4):
            text = text.replace(f",{time + 5},", f",{time + 1},")
        (folder / "org.csv").write_text(text)
        assert run(UTILITY.split()) == 0
        assert "org.csv begins at time 1, as reference traces do" in capsys.readouterr().err
        assert run([*UTILITY.split(), "--clock", "clock.csv"]) == 1
        assert "swapped" in capsys.readouterr().err

    def test_floor_decides_the_exit_code(self, folder, capsys):
        assert answer(capsys, UTILITY + " --floor 0.7")[0] == 1
        assert answer(capsys, UTILITY + " --floor 0.5")[0] == 0

    def test_rule(self, folder, capsys):
        assert answer(capsys, UTILITY + " --rule organisers")[1]["rule"] == "organisers"
        assert run([*UTILITY.split(), "--rule", "mine"]) == 2

    def test_trace_with_what_bounds_it(self, folder, capsys):
        assert "never sees the release" in _printed(capsys, TRACE)
        text = (folder / "org.csv").read_text()
        for time in range(4):
            text = text.replace(f",{time + 5},", f",{time + 1},")
        (folder / "ref.csv").write_text(text)
        more = f"{TRACE} --clock clock.csv --reference ref.csv --obfuscated ano.csv"
        code, said = answer(capsys, more)
        utility = answer(capsys, UTILITY)[1]
        assert code == 0
        assert said["score"] == pytest.approx((0.34125 + 0.511875) / 21, abs=1e-6)
        blind = said["without_the_release"]
        assert 0 <= blind["score"] < 1
        assert blind["attack"].startswith("Prior-T")
        told = utility["s_t_at_most_if_the_link_is_known"]
        assert said["s_t_at_most_if_the_link_is_known"] == pytest.approx(told)
        assert "without the release" in _printed(capsys, more)

    def test_reid(self, folder, capsys):
        code, said = answer(capsys, "score reid --truth ptable.csv --guess etable.csv --per-user")
        assert (code, said["score"]) == (0, pytest.approx(1 / 3))
        assert said["per_user"] == [0.0, 0.0, 1.0]

    def test_trace(self, folder, capsys):
        code, said = answer(capsys, TRACE)
        assert code == 0
        assert said["score"] == pytest.approx((0.34125 + 0.511875) / 21, abs=1e-6)
        assert said["expected_error_km"] == pytest.approx(
            (2 * 0.34125 + 3 * 0.34125) / 12, abs=1e-6
        )

    def test_hospital_weight(self, folder, capsys):
        low = answer(capsys, TRACE + " --hospital-weight 1")[1]["score"]
        assert low == pytest.approx((0.34125 + 0.511875) / 12, abs=1e-6)
        assert run([*TRACE.split(), "--hospital-weight", "0"]) == 2

    def test_table_for_people(self, folder, capsys):
        assert run(UTILITY.split()) == 0
        assert "0.578984" in capsys.readouterr().out


class TestErrors:
    def test_invalid_file_is_a_no(self, folder, capsys):
        (folder / "ano.csv").write_text("reg_id\n" + "7\n" * 12)
        code, said = answer(capsys, UTILITY)
        assert code == 1
        assert said["problem_count"] == 12
        assert said["problems"][0] == {
            "line": 2,
            "column": "reg_id",
            "found": "'7'",
            "expected": "region ids 1 to 5 separated by single spaces, without leading zeros, or *",
        }

    def test_missing_file_is_an_io_failure(self, folder, capsys):
        code, said = answer(capsys, UTILITY.replace("ano.csv", "nothing.csv"))
        assert code == 3
        assert "no such file" in said["error"]

    def test_directory_is_an_io_failure(self, folder, capsys):
        (folder / "dir").mkdir()
        assert answer(capsys, UTILITY.replace("ano.csv", "dir"))[0] == 3

    def test_wrong_use(self, folder, capsys):
        assert run(["score", "utility"]) == 2
        assert "--city" in capsys.readouterr().err
        assert run(["nonsense"]) == 2

    def test_errors_go_to_stderr(self, folder, capsys):
        assert run(UTILITY.replace("ano.csv", "nothing.csv").split()) == 3
        said = capsys.readouterr()
        assert said.out == ""
        assert "nothing.csv" in said.err


class TestValidate:
    @pytest.mark.parametrize(
        "command",
        [
            "original org.csv",
            "orgtraces org.csv --clock clock.csv --users 3 --times 4",
            "obfuscated ano.csv",
            "obfuscated ano.csv --users 3 --times 4",
            "inferred-traces etraces.csv --users 3 --times 4",
            "id-table ptable.csv --users 3",
            "inferred-table etable.csv",
            "region-info city.csv",
            "time-info clock.csv",
        ],
    )
    def test_valid(self, folder, capsys, command):
        code, said = answer(capsys, f"validate {command} --city city.csv")
        assert (code, said["valid"]) == (0, True)

    def test_says_what_is_inside(self, folder, capsys):
        said = answer(capsys, "validate obfuscated ano.csv --city city.csv")[1]
        assert (said["single"], said["generalised"], said["deleted"]) == (5, 3, 4)

    @pytest.mark.parametrize(
        "command",
        [
            "obfuscated ano.csv --users 3 --times 5",
            "obfuscated org.csv",
            "original ano.csv",
            "original org.csv --users 4 --clock clock.csv",
            "original org.csv --times 3",
            "released org.csv",
            "inferred-table etable.csv --users 2",
        ],
    )
    def test_invalid(self, folder, capsys, command):
        code, said = answer(capsys, f"validate {command} --city city.csv")
        assert (code, said["valid"]) == (1, False)
        assert said["problems"]

    def test_unknown_kind(self, folder, capsys):
        assert run(["validate", "thing", "ano.csv"]) == 2

    def test_the_caller_sets_the_limit(self, folder, capsys):
        (folder / "big.csv").write_text("reg_id\n" + "1\n" * 600_000)
        code, said = answer(capsys, "validate obfuscated big.csv --city city.csv --max-mb 1")
        assert code == 1
        assert "at most 1048576 bytes" in said["problems"][0]["expected"]


PUBLISH = "publish --obfuscated ano.csv --original org.csv --released pub.csv --id-table pt.csv"


class TestPublish:
    def test_release_and_table_fit(self, folder, capsys):
        assert answer(capsys, PUBLISH)[0] == 0
        table = files.read_id_table(folder / "pt.csv")
        released = files.read_released(folder / "pub.csv")
        cells = files.read_obfuscated(folder / "ano.csv", users=3, clock=released.clock)
        assert cells.take_users(table.users).renamed([4, 5, 6]) == released
        assert stat.S_IMODE((folder / "pt.csv").stat().st_mode) == 0o600

    def test_a_seed_repeats_it_and_warns(self, folder, capsys):
        assert run([*PUBLISH.split(), "--seed", "7"]) == 0
        first = (folder / "pub.csv").read_bytes()
        assert "warning" in capsys.readouterr().err
        assert run([*PUBLISH.split(), "--seed", "7"]) == 0
        assert (folder / "pub.csv").read_bytes() == first

    def test_no_pairs_on_the_terminal(self, folder, capsys):
        run(PUBLISH.split())
        said = capsys.readouterr()
        for line in (folder / "pt.csv").read_text().splitlines()[1:]:
            assert line not in said.out + said.err

    def test_nothing_is_left_on_bad_input(self, folder, capsys):
        before = sorted(os.listdir(folder))
        (folder / "ano.csv").write_text("reg_id\n1\n")
        assert run(PUBLISH.split()) == 1
        assert sorted(os.listdir(folder)) == before

    def test_one_file_for_both_is_refused(self, folder, capsys):
        assert run(PUBLISH.replace("pt.csv", "pub.csv").split()) == 2


class TestConvert:
    def test_there_and_back(self, folder, capsys):
        assert answer(capsys, "convert ano.csv a.parquet")[0] == 0
        assert answer(capsys, "convert a.parquet b.csv.zst")[0] == 0
        assert answer(capsys, "convert b.csv.zst c.csv")[0] == 0
        assert (folder / "c.csv").read_bytes() == (folder / "ano.csv").read_bytes()

    def test_unknown_ending(self, folder, capsys):
        assert run(["convert", "ano.csv", "a.xlsx"]) == 2


class TestProgram:
    @pytest.mark.parametrize(
        ("raised", "told"),
        [("Unable to allocate 8 GiB", "Unable to allocate 8 GiB"), ("", "no more to be had")],
    )
    def test_memory_that_ends_is_told(self, folder, capsys, monkeypatch, raised, told):
        def fail(*_: object) -> None:
            raise MemoryError(*filter(None, [raised]))

        monkeypatch.setattr("tracecup.traces.files.convert", fail)
        code, said = answer(capsys, "convert ano.csv a.parquet")
        assert code == 1
        assert f"memory is not enough: {told}" in said["error"]

    def test_module_and_version(self, tmp_path):
        done = subprocess.run(
            [sys.executable, "-m", "tracecup", "--version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
        )
        assert done.stdout.startswith("tracecup ")

    def test_example(self, capsys):
        code, said = answer(capsys, "example")
        assert code == 0
        assert said["s_U"] == pytest.approx(0.578984375)

    @pytest.mark.parametrize("command", ["", "score", "score utility", "validate", "publish"])
    def test_help_teaches(self, capsys, command):
        assert run([*command.split(), "--help"]) == 0
        assert "tracecup" in capsys.readouterr().out
