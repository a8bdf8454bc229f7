"""The oracle cases: exact scores of real files, from the command line, plain and compressed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tracecup.cli.main import run

CASES = ("s01_none", "s02_mrlh_1_1_0.2", "s03_pl_4_1", "s04_cheat_1", "s05_mixed_far")


@pytest.fixture(params=["compressed", "plain"])
def container(request) -> str:
    return request.param


@pytest.fixture(params=CASES)
def case(request, data_dir: Path, container: str, tmp_path: Path) -> Path:
    """A case's folder, as it is or with every file unpacked."""
    source = data_dir / "oracle" / request.param
    if container == "compressed":
        return source
    for packed in source.glob("*.gz"):
        (tmp_path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    (tmp_path / "scores.json").write_bytes((source / "scores.json").read_bytes())
    return tmp_path


class TestOracle:
    def test_every_score(self, case, data_dir, container, capsys):
        ending = ".csv.gz" if container == "compressed" else ".csv"
        wanted = json.loads((case / "scores.json").read_text())
        city = str(data_dir / "osaka" / "info_region.csv")

        def score(*words: str) -> dict:
            assert run(["score", *words, "--json"]) == 0
            return json.loads(capsys.readouterr().out)

        def file(name: str) -> str:
            return str(case / (name + ending))

        place = ["--city", city, "--original", file("orgtraces")]
        for rule, key in (("paper", "utility_paper"), ("organisers", "utility_organiser")):
            said = score("utility", *place, "--obfuscated", file("anotraces"), "--rule", rule)
            assert said["score"] == pytest.approx(wanted[key], abs=1e-9)
            assert said["valid"] == (wanted[key] >= 0.7)
        for name, values in wanted["reidentification"].items():
            said = score("reid", "--truth", file("ptable"), "--guess", file(f"etable_{name}"))
            assert said["score"] == pytest.approx(values["s_R"], abs=1e-9)
        for name, values in wanted["trace_inference"].items():
            guess = ["--inferred", file(f"etraces_{name}")]
            for key, value in values.items():
                weight = key.removeprefix("s_T_hospital_weight_") if key != "s_T" else "10"
                if not key.startswith("s_T"):
                    continue
                said = score("trace", *place, *guess, "--hospital-weight", weight)
                assert said["score"] == pytest.approx(value, abs=1e-9)
                assert said["expected_error_km"] == pytest.approx(
                    values["expected_error_km"], abs=1e-9
                )
        for parameters, values in wanted["best_attack"].items():
            rate = parameters.rpartition("lambda0=")[2]
            table = file(f"etable_fuzzy_lambda{rate}")
            said = score("reid", "--truth", file("ptable"), "--guess", table)
            assert said["score"] == pytest.approx(values["s_R"], abs=1e-9)
            for threshold in (1, 2):
                traces = case / f"etraces_fuzzy_lambda{rate}_thr{threshold}{ending}"
                if traces.exists():
                    said = score("trace", *place, "--inferred", str(traces))
                    assert said["score"] == pytest.approx(
                        values[f"s_T_threshold_{threshold}"], abs=1e-9
                    )


class TestPublishedUtilities:
    """Identities of the real preliminary round (data README)."""

    def test_mrlh_block_utility(self, data_dir, capsys):
        from tracecup.city import read_city

        grid = read_city(data_dir / "osaka" / "info_region.csv").grid
        wx, wy = grid.km_x, grid.km_y
        assert 1 - (wx + wy + (wx**2 + wy**2) ** 0.5) / 8 == pytest.approx(0.85316011, abs=1e-8)

    def test_example_run_is_consistent(self, data_dir):
        """The organisers' own example: the release is the shuffled obfuscation."""
        from tracecup.city import read_clock
        from tracecup.traces import files

        folder = data_dir / "osaka"
        clock = read_clock(folder / "info_time.csv").original
        run_of = folder / "example_outputs"
        table = files.read_id_table(run_of / "ptable_team001_data01_IDP.csv.gz")
        cells = files.read_obfuscated(
            run_of / "anotraces_team001_data01_IDP.csv.gz",
            users=len(table),
            clock=clock,
            n_regions=1024,
        )
        released = files.read_released(
            run_of / "pubtraces_team001_data01_IDP.csv.gz", clock=clock, n_regions=1024
        )
        assert cells.take_users(table.users).renamed(released.users) == released

    @pytest.mark.parametrize(
        "name", ["team000_data01_IDP", "team003_data01_IDP", "team003_data02_TRP"]
    )
    def test_real_releases_are_valid(self, data_dir, capsys, name):
        folder = data_dir / "tokyo_preliminary"
        words = [
            "--city",
            str(folder / "info_region.csv"),
            "--clock",
            str(folder / "info_time.csv"),
        ]
        release = str(folder / f"pubtraces_{name}.csv.gz")
        assert run(["validate", "released", release, *words, "--users", "2000", "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        if name == "team003_data01_IDP":
            assert said["single"] == 56_000
