"""`tracecup demo`, `tracecup contest simulate | verify | export` on a small season."""

import json
import zipfile

import pytest

from tracecup.cli.main import run
from tracecup.datasets import Metropolis


def answer(capsys, *arguments):
    code = run([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    """Four teams of 20 users in the built-in city, one day."""
    folder = tmp_path_factory.mktemp("cli") / "season"
    small = ["--teams", "4", "--users", "20", "--days", "1", "--no-report", "--json"]
    assert run(["contest", "simulate", "--out", str(folder), *small]) == 0
    return folder


class TestSimulate:
    def test_interrupted_it_says_how_to_go_on(self, tmp_path, monkeypatch, capsys):
        def interrupted(*given, **named):
            raise KeyboardInterrupt

        monkeypatch.setattr("tracecup.cli._contest_play.play_and_tell", interrupted)
        assert run(["contest", "simulate", "--out", str(tmp_path / "season")]) == 130
        said = capsys.readouterr().err
        assert "interrupted: what is finished is kept; the same command goes on" in said

    def test_writes_archive_and_zip(self, season):
        assert (season / "MANIFEST.json").exists()
        assert season.with_name("season.zip").exists()

    def test_given_again_it_says_the_same(self, capsys, season):
        small = ["--teams", "4", "--users", "20", "--days", "1", "--no-report"]
        code, said = answer(capsys, "contest", "simulate", "--out", season, *small)
        assert code == 0
        assert said["valid"] == 2
        assert said["awards"]["overall"]["winners"]
        assert said["manifest_sha256"] in (season / "MANIFEST.sha256").read_text()
        assert {"data", "attacks", "results"} <= set(said["seconds"])

    def test_another_season_in_the_same_folder_is_wrong_use(self, capsys, season):
        code, said = answer(capsys, "contest", "simulate", "--out", season, "--teams", "5")
        assert code == 2
        assert "another season" in said["error"]

    def test_tables_for_people(self, capsys, season):
        small = ["--teams", "4", "--users", "20", "--days", "1", "--no-report"]
        assert run(["contest", "simulate", "--out", str(season), *small]) == 0
        said = capsys.readouterr().out
        for word in ("Stages", "Releases", "Awards", "hors concours", "invalid", "benchmark"):
            assert word in said

    def test_training_traces_of_your_own(self, capsys, tmp_path):
        assert run(["city", "new", "--out", str(tmp_path), "--nx", "6", "--ny", "6",
                    "--inhabitants", "30", "--days", "1", "--json"]) == 0  # fmt: skip
        capsys.readouterr()
        code, said = answer(
            capsys, "contest", "simulate", "--out", tmp_path / "season", "--teams", 2, "--users",
            12, "--days", 1, "--data", tmp_path / "traintraces.csv.zst", "--city",
            tmp_path / "info_region.csv", "--challenges", "both", "--no-report", "--no-zip",
        )  # fmt: skip
        assert code == 0
        assert said["zip"] is None
        assert said["releases"] == 5
        about = json.loads((tmp_path / "season" / "archive.json").read_text())
        assert about["source"].startswith("training traces traintraces.csv.zst (SHA-256 ")
        assert (tmp_path / "season" / "secret" / "model.npz").exists()
        assert run(["contest", "verify", str(tmp_path / "season")]) == 0

    def test_rules_of_your_own(self, capsys, tmp_path):
        (tmp_path / "contest.toml").write_text(
            "users = 12\n[clock]\ndays = 1\nslots = 4\n[scores]\nutility_floor = 0.8\n"
            '[samples]\nreid = ["Random-R"]\ntrace = ["Replay-T"]\n'
        )
        given = ["--teams", 2, "--rules", tmp_path / "contest.toml", "--no-report", "--no-zip"]
        code, said = answer(capsys, "contest", "simulate", "--out", tmp_path / "s", *given)
        assert (code, said["valid"]) == (0, 2)
        sheet = (tmp_path / "s" / "results" / "trace.csv").read_text()
        assert sheet.startswith("pubtraces,team001,team002,T1,SecT\n")
        assert "utility_floor = 0.8" in (tmp_path / "s" / "contest.toml").read_text()
        code, said = answer(
            capsys, "contest", "simulate", "--out", tmp_path / "t", "--days", 1, *given
        )
        assert code == 2
        assert "--rules" in said["error"]

    def test_training_traces_need_their_city(self, capsys, tmp_path):
        code, said = answer(
            capsys, "contest", "simulate", "--out", tmp_path / "s", "--data", tmp_path / "t.csv"
        )
        assert code == 2
        assert "--city" in said["error"]


class TestDemo:
    def test_is_a_season(self, capsys, tmp_path):
        code, said = answer(
            capsys, "demo", "--out", tmp_path / "demo", "--teams", 2, "--users", 10, "--days", 1
        )
        assert code == 0
        assert said["published"] == 3
        assert said["zip"] is None
        if said["report"] is not None:
            assert (tmp_path / "demo" / "report.html").exists()


class TestVerify:
    def test_all_equal_also_as_a_zip(self, capsys, season):
        for path in (season, season.with_name("season.zip")):
            code, said = answer(capsys, "contest", "verify", path, "--rerun-samples")
            assert (code, said["equal"], said["differences"]) == (0, True, [])

    def test_for_people(self, capsys, season):
        assert run(["contest", "verify", str(season)]) == 0
        assert "all equal" in capsys.readouterr().out

    def test_a_difference_is_exit_code_1(self, capsys, season, tmp_path):
        import shutil

        shutil.copytree(season, tmp_path / "copy")
        (tmp_path / "copy" / "results" / "sums.csv").write_text("nothing")
        code, said = answer(capsys, "contest", "verify", tmp_path / "copy")
        assert code == 1
        assert any(line.startswith("results/sums.csv") for line in said["differences"])
        assert run(["contest", "verify", str(tmp_path / "copy")]) == 1
        assert "results/sums.csv" in capsys.readouterr().out

    def test_another_digest_is_a_difference(self, season):
        assert run(["contest", "verify", str(season), "--digest", "0" * 64]) == 1

    def test_no_archive(self, capsys, tmp_path):
        assert answer(capsys, "contest", "verify", tmp_path / "missing")[0] == 3
        (tmp_path / "a.zip").write_text("no zip")
        assert answer(capsys, "contest", "verify", tmp_path / "a.zip")[0] == 1
        assert answer(capsys, "contest", "verify", tmp_path)[0] == 1


class TestExport:
    def test_public(self, capsys, season, tmp_path):
        code, said = answer(capsys, "contest", "export", "--public", season, tmp_path / "p.zip")
        assert code == 0
        with zipfile.ZipFile(tmp_path / "p.zip") as pack:
            assert sorted(pack.namelist()) == sorted(said["files"])
        assert not any("secret" in name for name in said["files"])

    def test_whole(self, capsys, season, tmp_path):
        code, _ = answer(capsys, "contest", "export", season, tmp_path / "a.zip")
        assert code == 0
        assert (tmp_path / "a.zip").read_bytes() == season.with_name("season.zip").read_bytes()

    def test_phase(self, capsys, season, tmp_path):
        code, said = answer(
            capsys,
            "contest",
            "export",
            "--public",
            "--phase",
            "anonymize",
            season,
            tmp_path / "p.zip",
        )
        assert code == 0
        assert not any("team001" in name for name in said["files"])


def test_the_built_in_city_is_the_one_of_the_archive(season):
    from tracecup.city import read_city

    assert read_city(season / "public" / "info_region.csv").hospitals == Metropolis().city.hospitals
