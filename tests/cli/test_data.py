"""`tracecup data`: from raw files to everything that other commands read."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pytest

from tracecup.city import read_city, read_clock
from tracecup.cli.main import run
from tracecup.contest.rules.file import read_rules
from tracecup.records import Timetable, read_records
from tracecup.traces.files import read_traces

HOURS = "--timetable check-ins --start 8:00 --end 12:00"
WORDS = f"--out made --box 0,4,0,4 --grid 4x4 {HOURS}"
METHOD = "PPMTF+(4,200,iterations=3,rho=50)"


def rows(users: int = 12, days: int = 4) -> list[tuple[int, str, float, float]]:
    """User 0 and others, every hour from 8 to 12 of every second day, now and then outside."""
    rng = np.random.default_rng(1)
    return [
        (u, f"2012-04-{1 + 2 * d:02d}T{h:02d}:10:00Z", rng.uniform(0, 4.2), rng.uniform(0, 4))
        for u in range(users)
        for d in range(days)
        for h in range(7, 13)
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"{u}\t{when}\t{y}\t{x}\tp{u}\n" for u, when, y, x in rows()]
    (tmp_path / "checkins.txt").write_text("".join(lines))
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], words: str, *more: str) -> tuple[int, dict]:
    code = run([*words.split(), *more, "--json"])
    return code, json.loads(capsys.readouterr().out)


class TestData:
    def test_files_fit_together(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        code, said = answer(capsys, f"data gowalla checkins.txt {WORDS}")
        assert code == 0
        city, clock = read_city("made/info_region.csv"), read_clock("made/info_time.csv")
        assert (city.grid.nx, city.grid.ny) == (4, 4)
        # Four recorded days out of seven, two of them for each part; four hours a day.
        assert (clock.reference.times, clock.original.times) == (8, 8)
        users = said["reference_and_original_users"]
        for name, part in (("reftraces", clock.reference), ("orgtraces", clock.original)):
            read = read_traces(f"made/{name}.csv", n_regions=16, clock=part, users=users, gaps=True)
            assert read.n_users == users == 6
        hours = Timetable.of_hours(480, 720, 60, 120)
        parts = [read_records(f"made/{part}traces.csv", 16, hours) for part in ("train", "test")]
        assert sum(map(len, parts)) == said["records"]
        assert said["training_users"] + said["testing_users"] == said["users"] == 12

    def test_every_line_is_kept_or_counted(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        _, said = answer(capsys, f"data gowalla checkins.txt {WORDS}")
        assert said["records"] + sum(said["dropped"].values()) == len(rows())
        assert said["dropped"]["outside"] == sum(y > 4 for _, _, y, _ in rows())

    def test_names_are_private(self, folder: Path):
        assert run(f"data gowalla checkins.txt {WORDS}".split()) == 0
        path = folder / "made/names.csv"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        listed = [line.split(",") for line in path.read_text().splitlines()[1:]]
        assert {name for part, _, name in listed if part != "reftraces and orgtraces"} == {
            str(user) for user in range(12)
        }
        assert all(int(user) >= 1 for _, user, _ in listed)

    def test_prepared_files_stay_split_as_they_are(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ):
        """Two days of two training users and a testing one, on a grid of two regions."""
        columns = "user_index,poi_index,category,unixtime,dow,hour,min"
        first, second, other = (f"{k},{k % 2},-,32400.0,Thu,9,0" for k in range(3))
        texts = {
            "POIindex": "poi_id,poi_index,category,counts\n0,0,-,-\n1,1,-,-",
            "tuserindex": "user_id,user_index\n15,0\n17,1",
            "euserindex": "user_id,user_index\n16,2",
            "traintraces": f"{columns}\n{first}\n{second}\n1,0,-,32460.0,Thu,9,0",
            "testtraces": f"{columns}\n{other}\n2,1,-,122400.0,Fri,10,0",
        }
        for name, text in texts.items():
            (folder / f"{name}_XX.csv").write_text(f"{text}\n")
        code, said = answer(
            capsys, f"data prepared . --box 0,1,0,1 --grid 2x1 {HOURS} --training-share 0 --out o"
        )
        assert (code, said["training_users"], said["testing_users"]) == (0, 2, 1)
        assert said["notes"] == ["2 training and 1 testing users, as the files have them"]
        assert (said["records"], said["dropped"]["same_instant"]) == (4, 1)
        names = (folder / "o/names.csv").read_text().splitlines()
        assert names[1:4] == ["traintraces,1,15", "traintraces,2,17", "testtraces,1,16"]
        code, said = answer(capsys, "data prepared . --box 0,1,0,1 --grid 2x1 --fewest 2 --out o")
        assert (code, "read as they are" in said["error"]) == (2, True)

    def test_train_evaluate_and_audit_read_them(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ):
        assert run(f"data gowalla checkins.txt {WORDS}".split()) == 0
        town = f"--city made/info_region.csv {HOURS}"
        trained = f"train {METHOD} --training made/traintraces.csv {town} --out m.npz --seed 1"
        assert run(trained.split()) == 0
        made = "synth traces --model m.npz --out s.csv --users 6 --days 2 --instants 2 --seed 1"
        assert run(made.split()) == 0
        capsys.readouterr()
        files = "--train made/traintraces.csv --test made/testtraces.csv --synthetic s.csv"
        code, said = answer(capsys, f"evaluate synth {files} {town}")
        assert (code, set(said)) == (0, {"synthetic", "real", "uniform"})
        code, said = answer(
            capsys, f"train {METHOD} --training made/testtraces.csv {town}", "--out", "t.npz"
        )
        assert (code, said["users"]) == (0, 6)

    def test_a_release_with_gaps_from_end_to_end(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ):
        assert run(f"data gowalla checkins.txt {WORDS} --training-share 0".split()) == 0
        capsys.readouterr()
        town = "--city made/info_region.csv --clock made/info_time.csv"
        truth = "--original made/orgtraces.csv --clock made/info_time.csv --gaps"
        original = f"--city made/info_region.csv {truth}"
        assert run(f"obfuscate RR(1) {original} --out a.csv".replace("--gaps", "").split()) == 1
        assert "say --gaps" in capsys.readouterr().err.replace("\n", " ")
        code, hidden = answer(capsys, f"obfuscate PL(4,1) {original} --out ano.csv --seed 1")
        assert (code, hidden["times"]) == (0, 8)
        code, said = answer(capsys, f"score utility {original} --obfuscated ano.csv")
        assert (code, said["score"]) == (0, hidden["utility"]["score"])
        files = "--released pub.csv --id-table ids.csv --seed 2"
        assert answer(capsys, f"publish --obfuscated ano.csv {truth} {files}")[0] == 0
        case = f"{town} --reference made/reftraces.csv --released pub.csv"
        assert answer(capsys, f"attack reid VisitProb-R {case} --out etable.csv --seed 1")[0] == 0
        assert answer(capsys, "score reid --truth ids.csv --guess etable.csv")[0] == 0
        assert answer(capsys, f"attack trace VisitProb-T {case} --out etraces.csv --seed 1")[0] == 0
        code, said = answer(capsys, f"score trace {original} --inferred etraces.csv")
        assert code == 0
        assert 0 <= said["score"] <= 1
        assert run(f"score trace {original} --inferred etraces.csv --reach-km 1".split()) == 2

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ("data nothing checkins.txt", "no data format is called 'nothing'"),
            ("data foursquare checkins.txt", "a file of check-ins and one of venues, got 1"),
            ("data tsmc2014 checkins.txt --utc-offset 60", "tell the local time"),
            ("data gowalla checkins.txt --training-share 1", "0 to below 1, got 1.0"),
            ("data gowalla checkins.txt --zone Mars/Base", "no time zone is called"),
            ("data gowalla checkins.txt --zone Asia/Tokyo --utc-offset 9", "an offset or a zone"),
            ("data parquet checkins.txt --time unix", "know their types"),
            ("data gpx checkins.txt --max-speed 0", "max_speed must be a finite number > 0"),
            ("data csv checkins.txt --columns nothing", "or by a preset"),
            ("data gowalla checkins.txt --grid 4by4", "like 32x32"),
        ],
    )
    def test_wrong_use(
        self, folder: Path, capsys: pytest.CaptureFixture[str], words: str, message: str
    ):
        given = WORDS.split() if "--grid" not in words else WORDS.replace("--grid 4x4", "").split()
        assert run([*words.split(), *given]) == 2
        assert message in capsys.readouterr().err.replace("\n", " ")
        assert not (folder / "made").exists()

    def test_one_recorded_day(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        lines = (folder / "checkins.txt").read_text().splitlines(keepends=True)
        day = lines[0].split("\t")[1][:10]
        (folder / "one.txt").write_text("".join(line for line in lines if day in line))
        code, said = answer(capsys, f"data gowalla one.txt {WORDS}")
        assert code == 0
        assert (said["reference_days"], said["original_days"]) == (0, 0)
        assert "all records are of one day" in said["notes"][-1]
        assert not (folder / "made/orgtraces.csv").exists()
        assert (folder / "made/traintraces.csv").exists()

    def test_a_box_is_needed(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        assert run(["data", "gowalla", "checkins.txt", "--out", "made"]) == 2
        assert "gowalla has no box of its own" in capsys.readouterr().err

    def test_bad_lines(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        with (folder / "checkins.txt").open("a") as file:
            file.write("x\t2012\t1\t1\tp\n")
        assert answer(capsys, f"data gowalla checkins.txt {WORDS}")[0] == 1
        code, said = answer(capsys, f"data gowalla checkins.txt {WORDS} --bad-lines skip")
        assert (code, said["dropped"]["bad_lines"]) == (0, 1)

    def test_hours_past_midnight(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        words = WORDS.replace("--start 8:00 --end 12:00", "--start 11:00 --end 9:00")
        code, said = answer(capsys, f"data gowalla checkins.txt {words}")
        clock = read_clock("made/info_time.csv")
        assert (code, clock.reference.slots, clock.reference.minutes[-1]) == (0, 22, 32 * 60)
        # 7:00 and 8:00 belong to the day before.
        assert said["dropped"]["off_hours"] == sum(
            "T09" in when or "T10" in when for _, when, y, _ in rows() if y <= 4
        )

    def test_kilometres_of_the_latitude(self, folder: Path):
        assert run(f"data gowalla checkins.txt {WORDS}".split()) == 0
        grid = read_city("made/info_region.csv").grid
        assert grid.km_x == pytest.approx(111 * np.cos(np.radians(2)))
        assert grid.km_y == 111

    def test_cleaning_is_counted(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        with (folder / "checkins.txt").open("a") as file:
            file.write("3\t2012-04-01T09:30:00Z\t1\t1\tp\n" * 2)
        words = f"data gowalla checkins.txt {WORDS} --duplicates drop --max-speed 900"
        code, said = answer(capsys, words)
        assert (code, said["dropped"]["duplicates"]) == (0, 1)
        assert said["records"] + sum(said["dropped"].values()) == len(rows()) + 2

    def test_a_contest_in_that_city(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        assert run(f"data gowalla checkins.txt {WORDS}".split()) == 0
        assert run(["contest", "init", "cup", "--data", "made"]) == 0
        rules = read_rules(folder / "cup/contest.toml")
        assert rules.city.file == "../made/info_region.csv"
        assert (rules.clock.days, rules.clock.slots, rules.clock.start) == (2, 4, 480)
        # The learned attack knows another city.
        assert (rules.samples.reid[-1], rules.samples.trace[-1]) == ("Bayes-R", "Bayes-T")

    def test_csv_with_columns_and_a_tab(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        lines = [f"n{u}\t{when}\t{y}\t{x}\n" for u, when, y, x in rows()]
        (folder / "t.csv").write_text("uid\twhen\tlat\tlng\n" + "".join(lines))
        form = "--columns uid,when,lat,lng --delimiter \\t"
        code, said = answer(capsys, f"data csv t.csv {WORDS} {form} --training-share 0")
        assert (code, said["training_users"], said["testing_users"]) == (0, 0, 12)
        assert not (folder / "made/traintraces.csv").exists()
        assert "n11" in (folder / "made/names.csv").read_text()
