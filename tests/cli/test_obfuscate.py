"""`tracecup obfuscate` from files to files: what it writes, prints and leaves with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tracecup.city import City, ContestClock, Grid, write_city, write_clock
from tracecup.cli.main import run
from tracecup.obfuscate import RR, Equalise, KMeans, parse_obfuscator
from tracecup.rng import Rng
from tracecup.score import utility_score
from tracecup.traces import Traces
from tracecup.traces.files import read_obfuscated, write_traces

CITY = City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875), hospitals=[3, 20])
CLOCK = ContestClock.regular(days=2, slots=3)
ORIGINAL = Traces.of([[(7 * i + 3 * j) % 35 for j in range(6)] for i in range(20)], CLOCK.original)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    write_city(tmp_path / "city.csv", CITY)
    write_clock(tmp_path / "time.csv", CLOCK)
    write_traces(tmp_path / "org.csv", ORIGINAL)
    return [
        *("--city", str(tmp_path / "city.csv"), "--original", str(tmp_path / "org.csv")),
        *("--clock", str(tmp_path / "time.csv"), "--out", str(tmp_path / "ano.csv"), "--json"),
    ]


class TestObfuscate:
    @pytest.mark.parametrize("name", ["None", "MRLH(1,1,0.2)", "KMeans(3)", "RR(4)+Cheat(0.5)"])
    def test_writes_what_the_library_makes(
        self, name: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["obfuscate", name, *files, "--seed", "5"]) == 0
        written = read_obfuscated(tmp_path / "ano.csv", users=20, clock=ORIGINAL.clock)
        expected = parse_obfuscator(name).obfuscate(CITY, ORIGINAL, rng=5)
        assert written == expected
        told = json.loads(capsys.readouterr().out)
        assert told["method"] == name
        score = utility_score(CITY, ORIGINAL, expected)
        assert told["utility"]["score"] == pytest.approx(score.value, abs=1e-9)
        assert told["valid"] == score.valid

    def test_guarantee_is_for_the_length_of_these_traces(
        self, files: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        run(["obfuscate", "PL(4,1)", *files])
        assert json.loads(capsys.readouterr().out)["guarantee"].endswith("6 events compose to 24")

    def test_report_of_kmeans(self, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        run(["obfuscate", "KMeans(3)", *files, "--seed", "5"])
        _, report = KMeans(3).obfuscate_with_report(CITY, ORIGINAL, rng=5)
        assert json.loads(capsys.readouterr().out)["report"] == str(report)

    def test_equalise_says_what_it_lacks(
        self, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["obfuscate", "RR(4)", *files, "--seed", "5"]) == 0
        assert json.loads(capsys.readouterr().out)["notes"] == []
        assert run(["obfuscate", "Equalise(4)", *files, "--seed", "5"]) == 0
        told = capsys.readouterr()
        (note,) = json.loads(told.out)["notes"]
        assert "without --reference" in note
        assert "without --reference" in told.err
        at = files.index("--clock")
        bare = [*files[:at], *files[at + 2 :], "--reference", str(tmp_path / "org.csv")]
        assert run(["obfuscate", "Equalise(4)", *bare, "--seed", "5"]) == 0
        (note,) = json.loads(capsys.readouterr().out)["notes"]
        assert "without --clock" in note

    def test_what_one_should_know_of_a_method_is_told(
        self, files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(RR, "note", lambda self, users: f"not for {users}")
        assert run(["obfuscate", "RR(4)", *files, "--seed", "5"]) == 0
        told = capsys.readouterr()
        (note,) = json.loads(told.out)["notes"]
        assert note in told.err
        assert note == f"not for {ORIGINAL.n_users}"

    def test_equalise_is_tuned_with_its_references(
        self, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        met = []
        whole = Equalise._obfuscate_knowing

        def noted(self: Equalise, city: City, original: Traces, known: Traces, rng: Rng) -> object:
            met.append(known is original)
            return whole(self, city, original, known, rng)

        monkeypatch.setattr(Equalise, "_obfuscate_knowing", noted)
        at = files.index("--clock")
        bare = [*files[:at], *files[at + 2 :], "--reference", str(tmp_path / "org.csv")]
        assert run(["obfuscate", "Equalise(4,sweeps=1)", *bare, "--tune-to", "0.8"]) == 0
        assert met == [False, False]  # the trial and the release

    def test_floor_is_an_exit_code(self, files: list[str]) -> None:
        assert run(["obfuscate", "RR(0)", *files, "--seed", "1", "--floor", "0.7"]) == 1
        assert run(["obfuscate", "RR(0)", *files, "--seed", "1"]) == 0
        assert run(["obfuscate", "None", *files, "--floor", "0.7"]) == 0

    def test_tunes_to_a_utility(self, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["obfuscate", "MRLH(0,0)", *files, "--tune-to", "0.5"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["utility"]["score"] == pytest.approx(0.5, abs=1e-9)
        assert isinstance(told["seed"], int)

    @pytest.mark.parametrize("name", ["Nobody", "RR(-1)", "RR(1"])
    def test_wrong_names_are_wrong_use(
        self, name: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["obfuscate", name, *files]) == 2
        assert "error" in json.loads(capsys.readouterr().out)
        assert not (tmp_path / "ano.csv").exists()

    def test_people_get_a_table(self, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["obfuscate", "None", *files[:-1]]) == 0
        assert "1.000000000" in capsys.readouterr().out
