"""`tracecup city new`, `train` and `synth`: from a seed to the data of a contest, by files."""

from __future__ import annotations

import json

import pytest

from tracecup.city import read_city, read_clock
from tracecup.cli.main import run
from tracecup.records import Timetable
from tracecup.traces import files
from tracecup.usefulness import read_day_traces

CITY = "city new --out town --nx 8 --ny 6 --inhabitants 40 --days 1 --interval 30 --seed 3"
METHOD = "PPMTF+(4,200,iterations=3,rho=50,masks=true,home=own)"
TRAIN = "--training town/traintraces.csv.zst --city town/info_region.csv --interval 30 --seed 1"
CONTEST = (
    "synth contest --model model.npz --city town/info_region.csv --teams 2 --users 5 --days 2 "
    "--slots 4 --interval 60 --step 30 --seed 9"
)


def answer(capsys, words: list[str]) -> tuple[int, dict]:
    code = run([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A town and a model trained on it, made once."""
    folder = tmp_path_factory.mktemp("synth")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(CITY.split()) == 0
        assert run(["train", METHOD, *TRAIN.split(), "--out", "model.npz"]) == 0
    return folder


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


class TestCityNew:
    def test_files_fit_together(self, folder):
        city = read_city(folder / "town/info_region.csv", folder / "town/places.csv")
        traces = files.read_traces(folder / "town/traintraces.csv.zst", n_regions=city.n_regions)
        assert (city.grid.nx, city.grid.ny) == (8, 6)
        assert traces.shape == (40, 24)
        assert len(city.places) > 0

    def test_time_of_day(self, folder, capsys):
        assert run([*CITY.split(), "--start", "25:00"]) == 2
        assert "25:00" in capsys.readouterr().err


class TestTrain:
    def test_same_seed_same_model(self, folder):
        assert run(["train", METHOD, *TRAIN.split(), "--out", "again.npz"]) == 0
        assert (folder / "again.npz").read_bytes() == (folder / "model.npz").read_bytes()
        assert not (folder / "again.npz.part").exists()

    def test_wrong_use(self, folder, capsys):
        assert run(["train", "SGD", *TRAIN.split(), "--out", "x.npz"]) == 2
        assert run(["train", "SGLT", *TRAIN.split(), "--out", "x.npz", "--device", "cuda"]) == 2
        words = [word for word in TRAIN.split() if word not in ("--city", "town/info_region.csv")]
        assert run(["train", METHOD, *words, "--out", "x.npz"]) == 2
        assert "--city" in capsys.readouterr().err
        assert run(["train", METHOD, *TRAIN.split(), "--out", "x.npz", "--slot-minutes", "7"]) == 2
        assert not (folder / "x.npz").exists()

    def test_a_device_that_is_missing_is_told_before_anything_is_read(
        self, folder, capsys, monkeypatch
    ):
        monkeypatch.setattr("tracecup.device.arrays.find_spec", lambda name: None)
        monkeypatch.setattr("tracecup.cli.train.load_training", None)
        words = ["train", METHOD, *TRAIN.split(), "--out", "x.npz", "--device", "cuda"]
        assert run(words) != 0
        assert "install tracecup[gpu]" in capsys.readouterr().err


class TestSglt:
    """One model file of SGLT: trained, told, refused where it has no sense."""

    @pytest.fixture
    def model(self, folder):
        words = ["train", "SGLT(6,0.5)", *TRAIN.split(), "--out", "sglt.npz"]
        assert run(words) == 0
        return "synth traces --model sglt.npz --out day.csv --days 2 --seed 2"

    def test_tells_days_of_all_training_users(self, folder, model, capsys):
        code, said = answer(capsys, model.split())
        assert (code, said["users"], said["instants_a_day"]) == (0, 40, 24)
        read = read_day_traces(folder / "day.csv", 48, Timetable(360, 30, 24, 12))
        assert read.locations.shape == (40, 2, 24)

    def test_other_settings_of_the_same_classes(self, model, capsys):
        code, said = answer(capsys, [*model.split(), "--method", "SGLT(6,1,par_v=1)"])
        assert (code, said["method"]) == (0, "SGLT(6,1,par_v=1)")
        assert run([*model.split(), "--method", "PPMTF"]) == 2
        assert "can be used as SGLT" in capsys.readouterr().err

    def test_instants_are_those_of_the_training(self, model, capsys):
        assert run([*model.split(), "--instants", "1"]) == 2
        assert "2 instants per slot, got 1" in capsys.readouterr().err

    def test_is_no_source_of_contest_data(self, model, capsys):
        assert run([*CONTEST.replace("model.npz", "sglt.npz").split(), "--out", "x"]) == 2
        assert "draws fresh users, such as PPMTF+" in capsys.readouterr().err


class TestSynthContest:
    def test_every_team_gets_its_own_people(self, folder, capsys):
        code, said = answer(capsys, [*CONTEST.split(), "--out", "data"])
        assert (code, said["teams"]) == (0, 2)
        clock = read_clock(folder / "data/info_time.csv")
        read = [
            files.read_traces(
                folder / f"data/orgtraces_team{team:03d}_data02_TRP.csv.zst",
                n_regions=48,
                clock=clock.original,
                users=5,
            )
            for team in (1, 2)
        ]
        assert clock.original.times == 8
        assert read[0] != read[1]

    def test_a_seed_repeats_it_and_warns(self, folder, capsys):
        for out in ("one", "two"):
            assert run([*CONTEST.split(), "--out", out]) == 0
        assert "warning" in capsys.readouterr().err
        name = "reftraces_team002_data02_TRP.csv.zst"
        assert (folder / "one" / name).read_bytes() == (folder / "two" / name).read_bytes()

    def test_times_outside_the_models_day(self, folder, capsys):
        assert run([*CONTEST.split(), "--out", "x", "--start", "17:00"]) == 2
        assert "not within" in capsys.readouterr().err

    def test_another_city(self, folder, capsys):
        assert run([*CITY.replace("town", "other").replace("--nx 8", "--nx 7").split()]) == 0
        words = CONTEST.replace("town", "other").split()
        assert run([*words, "--out", "x"]) == 1
        assert "48 locations" in capsys.readouterr().err


class TestOneFormat:
    """What `train` reads, `evaluate synth` reads."""

    TOWN = "--city town/info_region.csv --timetable contest --interval 30"

    def test_training_file_is_evaluated(self, folder, capsys):
        told = "synth traces --model model.npz --out told.csv --users 40 --days 2 --instants 2"
        assert run([*told.split(), "--seed", "1"]) == 0
        capsys.readouterr()
        people = "town/traintraces.csv.zst"
        files = f"--train {people} --test {people} --synthetic told.csv {self.TOWN}"
        code, said = answer(capsys, ["evaluate", "synth", *files.split()])
        assert code == 0
        assert said["real"]["TM-EMD"] == 0
        assert said["synthetic"]["TM-EMD"] > 0

    def test_published_layout_trains(self, folder, capsys):
        rows = ["user_index,poi_index,unixtime,hour,min"]
        rows += [f"{u},{(u + h) % 6},{3600 * h},{h},0" for u in range(4) for h in range(24)]
        (folder / "visits.csv").write_text("\n".join(rows) + "\n")
        words = "--training visits.csv --grid 3x2 --timetable check-ins --out v.npz --seed 1"
        code, said = answer(capsys, ["train", METHOD, *words.split()])
        assert (code, said["users"], said["records"], said["slots_a_day"]) == (0, 4, 96, 12)

    def test_one_kind_of_place_is_given(self, folder, capsys):
        words = "--train x --test x --synthetic x --grid 3x2 --city town/info_region.csv"
        assert run(["evaluate", "synth", *words.split()]) == 2
        assert "one of --city, --grid and --cells" in capsys.readouterr().err


class TestSynthTraces:
    def test_is_what_the_evaluation_reads(self, folder, capsys):
        words = "synth traces --model model.npz --out day.csv --users 6 --days 3 --seed 2"
        code, said = answer(capsys, words.split())
        assert (code, said["users"], said["instants_a_day"]) == (0, 6, 12)
        read = read_day_traces(folder / "day.csv", 48, Timetable(360, 60, 12, 12))
        assert read.locations.shape == (6, 3, 12)

    def test_factors_as_another_method(self, folder, capsys):
        words = "synth traces --model model.npz --out day.csv --days 1 --seed 2 --method"
        code, said = answer(capsys, [*words.split(), METHOD.replace("PPMTF+", "PPMTF")])
        assert (code, said["users"]) == (0, 40)
        assert run([*words.split(), "Markov"]) == 2
