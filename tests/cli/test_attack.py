"""`tracecup attack` and `tracecup tune` from files to files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tracecup.attack import (
    BayesR,
    BayesT,
    Case,
    FuzzyR,
    FuzzyT,
    HomeProbR,
    Measure,
    ReidAttack,
    VisitProbR,
    assignment_table,
    greedy_table,
)
from tracecup.city import City, ContestClock, Grid, write_city, write_clock
from tracecup.cli.main import run
from tracecup.device import NumpyArrays
from tracecup.registry import parse
from tracecup.risk import unicity
from tracecup.safeio import Limits
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces.files import (
    read_inferred_table,
    read_inferred_traces,
    write_id_table,
    write_obfuscated,
    write_released,
    write_traces,
)

CITY = City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875), hospitals=[3, 20])
CLOCK = ContestClock.regular(days=2, slots=3)
RANDOM = np.random.default_rng(4)
HAUNTS = RANDOM.integers(35, size=(20, 4))


def walk(clock_part: str) -> Traces:
    which = RANDOM.integers(4, size=(20, 6))
    clock = CLOCK.reference if clock_part == "reference" else CLOCK.original
    return Traces.of(np.take_along_axis(HAUNTS, which, axis=1), clock)


REFERENCE, ORIGINAL = walk("reference"), walk("original")
ORDER = RANDOM.permutation(20)
RELEASED = SetTraces.of_traces(ORIGINAL).take_users(ORDER).renamed(np.arange(21, 41))
CASE = Case(CITY, REFERENCE, RELEASED)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    write_city(tmp_path / "info_region.csv", CITY)
    write_clock(tmp_path / "info_time.csv", CLOCK)
    write_traces(tmp_path / "reftraces_x.csv", REFERENCE)
    write_traces(tmp_path / "orgtraces_x.csv", ORIGINAL)
    write_released(tmp_path / "pubtraces_x.csv", RELEASED)
    write_id_table(tmp_path / "ptable_x.csv", IdTable.of(ORDER))
    return [
        *("--city", str(tmp_path / "info_region.csv"), "--clock", str(tmp_path / "info_time.csv")),
        *("--reference", str(tmp_path / "reftraces_x.csv")),
        *("--released", str(tmp_path / "pubtraces_x.csv"), "--out", str(tmp_path / "out.csv")),
        "--json",
    ]


class TestReid:
    @pytest.mark.parametrize("name", ["VisitProb-R", "Fuzzy-R(0.33,0.5)", "Random-R"])
    def test_writes_what_the_library_finds(
        self, name: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["attack", "reid", name, *files, "--seed", "3"]) == 0
        attack = parse("reid", name)
        assert isinstance(attack, ReidAttack)
        expected = attack.identify(CASE, rng=3)
        assert read_inferred_table(tmp_path / "out.csv", users=20) == expected
        told = json.loads(capsys.readouterr().out)
        assert (told["attack"], told["users"], told["seed"]) == (name, 20, 3)
        assert told["users_named"] == len(set(expected.users.tolist()))

    def test_one_to_one(self, files: list[str], tmp_path: Path) -> None:
        assert run(["attack", "reid", "VisitProb-R", *files, "--match", "greedy"]) == 0
        expected = greedy_table(VisitProbR().scores(CASE))
        assert read_inferred_table(tmp_path / "out.csv", users=20) == expected
        assert run(["attack", "reid", "VisitProb-R", *files, "--match", "assignment"]) == 0
        assert read_inferred_table(tmp_path / "out.csv", users=20).is_permutation

    def test_reference_with_gaps(self, files: list[str], tmp_path: Path) -> None:
        seen = np.array(REFERENCE.regions)
        seen[3, 2], seen[19, 5] = -1, -1
        gaps = Traces.of(seen, CLOCK.reference)
        write_traces(tmp_path / "reftraces_x.csv", gaps)
        assert run(["attack", "reid", "VisitProb-R", *files]) == 0
        expected = VisitProbR().identify(Case(CITY, gaps, RELEASED))
        assert read_inferred_table(tmp_path / "out.csv", users=20) == expected

    @pytest.mark.parametrize("name", ["VisitProb-T", "VisitProb-R(cells=2)", "Fuzzy-R(1"])
    def test_wrong_names_are_wrong_use(self, name: str, files: list[str], tmp_path: Path) -> None:
        assert run(["attack", "reid", name, *files]) == 2
        assert not (tmp_path / "out.csv").exists()

    def test_a_missing_file_is_an_input_failure(self, files: list[str], tmp_path: Path) -> None:
        (tmp_path / "reftraces_x.csv").unlink()
        assert run(["attack", "reid", "VisitProb-R", *files]) == 3

    def test_a_device_finds_the_same_table(
        self, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tracecup.attack.base.device_arrays", lambda name: NumpyArrays(8, 4))
        for attack in (HomeProbR(), FuzzyR(), FuzzyR(idf="log")):
            assert run(["attack", "reid", str(attack), *files, "--device", "cuda"]) == 0
            found = read_inferred_table(tmp_path / "out.csv", users=20)
            assert found == attack.identify(CASE)

    def test_large_files_are_read_in_parts(
        self, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        large = [word.replace("traces_x.csv", "traces_x.parquet") for word in files]
        write_traces(tmp_path / "reftraces_x.parquet", REFERENCE)
        write_released(tmp_path / "pubtraces_x.parquet", RELEASED)
        monkeypatch.setattr("tracecup.safeio.DEFAULT_LIMITS", Limits(max_rows=100))
        for attack in (VisitProbR(), FuzzyR(), BayesR()):
            name = str(attack)
            assert run(["attack", "reid", name, *large]) == 0
            found = read_inferred_table(tmp_path / "out.csv", users=20)
            assert found == attack.identify(CASE)
        assert run(["attack", "trace", "Bayes-T", *large]) == 0
        found = read_inferred_traces(tmp_path / "out.csv", users=20, clock=RELEASED.clock)
        assert np.array_equal(found.regions, BayesT().infer(CASE).regions)

    def test_what_a_device_cannot_do_is_wrong_use(
        self, files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        cuda = [*files, "--device", "cuda"]
        monkeypatch.setattr("tracecup.device.arrays.find_spec", lambda name: None)
        assert run(["attack", "reid", "VisitProb-R", *cuda]) != 0
        assert "install tracecup[gpu]" in capsys.readouterr().err
        monkeypatch.setattr("tracecup.attack.base.device_arrays", lambda name: NumpyArrays(8, 4))
        assert run(["attack", "reid", "Markov-R", *cuda]) == 2
        assert run(["attack", "reid", "VisitProb-R", *cuda, "--match", "greedy"]) == 2

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_the_gap_of_an_assignment_on_shortlists_is_told(
        self,
        ending: str,
        files: list[str],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        if ending == "parquet":
            files = [word.replace("traces_x.csv", "traces_x.parquet") for word in files]
            write_traces(tmp_path / "reftraces_x.parquet", REFERENCE)
            write_released(tmp_path / "pubtraces_x.parquet", RELEASED)
            monkeypatch.setattr("tracecup.safeio.DEFAULT_LIMITS", Limits(max_rows=100))
        command = ["attack", "reid", "VisitProb-R", *files, "--match", "assignment"]
        assert run(command) == 0
        assert "assignment" not in json.loads(capsys.readouterr().out)
        monkeypatch.setitem(assignment_table.__kwdefaults__, "most_held", 10)
        assert run(command) == 0
        told = json.loads(capsys.readouterr().out)["assignment"]
        assert 0 <= told["gap"] <= 20e-9
        assert (told["passes"] >= 1, told["pairs"] >= 20) == (True, True)
        assert run([word for word in command if word != "--json"]) == 0
        assert "no assignment has a sum more than" in " ".join(capsys.readouterr().out.split())

    def test_a_missing_device_is_told_before_files_are_read(
        self,
        files: list[str],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr("tracecup.device.arrays.find_spec", lambda name: None)
        (tmp_path / "reftraces_x.csv").unlink()
        (tmp_path / "pubtraces_x.csv").unlink()
        assert run(["attack", "reid", "VisitProb-R", *files, "--device", "cuda"]) != 0
        assert "install tracecup[gpu]" in capsys.readouterr().err

    def test_people_get_a_table(self, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["attack", "reid", "VisitProb-R", *files[:-1]]) == 0
        assert "users named" in capsys.readouterr().out


class TestTrace:
    def test_writes_what_the_library_finds(
        self, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["attack", "trace", "Fuzzy-T(0.33,1,2)", *files, "--seed", "3"]) == 0
        written = read_inferred_traces(tmp_path / "out.csv", users=20, clock=CLOCK.original)
        assert written == FuzzyT(0.33, 1.0, 2).infer(CASE, rng=3)
        told = json.loads(capsys.readouterr().out)
        assert (told["attack"], told["users"], told["times"]) == ("Fuzzy-T(0.33,1,2)", 20, 6)

    def test_unknown_attack_is_wrong_use(self, files: list[str]) -> None:
        assert run(["attack", "trace", "VisitProb-R", *files]) == 2


class TestTune:
    @pytest.mark.usefixtures("files")
    def test_prints_the_strongest_setting(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["tune", "HomeProb-R", "--sample", str(tmp_path), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["samples"] == ["x"]
        assert told["score"] == min(trial["score"] for trial in told["trials"])
        assert told["trials"][0]["attack"] == told["best"]
        assert told["score"] <= told["default_score"]

    @pytest.mark.usefixtures("files")
    def test_people_get_a_table_with_the_default(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["tune", "HomeProb-R", "--sample", str(tmp_path), "--top", "1"]) == 0
        assert "HomeProb-R" in capsys.readouterr().out

    def test_an_empty_folder_is_an_input_failure(self, tmp_path: Path) -> None:
        assert run(["tune", "HomeProb-R", "--sample", str(tmp_path)]) == 3


class TestMeasure:
    @pytest.mark.parametrize(
        ("name", "option", "file"),
        [
            ("AggMIA(5)", "--reference", "reftraces_x.csv"),
            ("Unicity(2)", "--original", "orgtraces_x.csv"),
        ],
    )
    def test_prints_what_the_library_finds(
        self, name: str, option: str, file: str, files: list[str], tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        released = SetTraces.of_traces(ORIGINAL)
        write_obfuscated(tmp_path / "anotraces_x.csv", released)
        arguments = [*files[:4], option, str(tmp_path / file), "--seed", "3"]
        arguments += ["--obfuscated", str(tmp_path / "anotraces_x.csv")]
        assert run(["measure", name, *arguments, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        method = parse("measure", name)
        assert isinstance(method, Measure)
        truth = REFERENCE if option == "--reference" else ORIGINAL
        wanted = method.measure(CITY, truth, released, 3)
        assert (told["measure"], told["value"]) == (str(method), wanted.value)
        assert told["interval"] == [wanted.interval.low, wanted.interval.high]
        assert run(["measure", name, *arguments]) == 0
        assert f"{wanted.value:.4f}" in capsys.readouterr().out

    def test_large_files_are_read_in_parts(
        self, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        released = SetTraces.of_traces(ORIGINAL)
        write_obfuscated(tmp_path / "anotraces_x.parquet", released)
        write_traces(tmp_path / "orgtraces_x.parquet", ORIGINAL)
        monkeypatch.setattr("tracecup.safeio.DEFAULT_LIMITS", Limits(max_rows=100))
        arguments = [*files[:4], "--original", str(tmp_path / "orgtraces_x.parquet")]
        arguments += ["--obfuscated", str(tmp_path / "anotraces_x.parquet"), "--json"]
        assert run(["measure", "Unicity(2)", *arguments]) == 0
        assert json.loads(capsys.readouterr().out)["value"] == unicity(ORIGINAL, points=2).value

    def test_says_which_traces_are_missing(
        self, files: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        arguments = [*files[:4], "--obfuscated", files[7]]
        assert run(["measure", "AggMIA", *arguments]) == 2
        assert "AggMIA(100) looks at the reference traces: give --reference" in " ".join(
            capsys.readouterr().err.split()
        )
