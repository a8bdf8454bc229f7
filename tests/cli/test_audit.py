from __future__ import annotations

import json

import numpy as np
import pytest

from tracecup import City, Grid, SetTraces, Traces
from tracecup.city import ContestClock, write_city, write_clock
from tracecup.cli.main import run
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.safeio import Limits
from tracecup.traces import files

CLOCK = ContestClock.regular(2, slots=3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Nine people who never leave their region; their release is unchanged but for the names."""
    city = City(Grid.from_metres(3, 3, width_m=900, height_m=900), hospitals=[4])
    write_city(tmp_path / "city.csv", city)
    write_clock(tmp_path / "clock.csv", CLOCK)
    stay = [[k] * 6 for k in range(9)]
    original = Traces.of(stay, CLOCK.original)
    released, table = pseudonymize(SetTraces.of_traces(original), 1)
    files.write_traces(tmp_path / "ref.csv", Traces.of(stay, CLOCK.reference))
    files.write_traces(tmp_path / "org.csv", original)
    files.write_obfuscated(tmp_path / "ano.csv", SetTraces.of_traces(original))
    files.write_release_and_table(tmp_path / "pub.csv", released, tmp_path / "ptable.csv", table)
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILES = "audit --city city.csv --clock clock.csv --reference ref.csv --original org.csv"
BASE = f"{FILES} --no-protections"
WITH = f"{BASE} --released pub.csv --id-table ptable.csv"


def answer(capsys, words: str) -> tuple[int, dict]:
    code = run([*words.split(), "--json"])
    return code, json.loads(capsys.readouterr().out)


class TestContestFiles:
    def test_everybody_is_found(self, folder, capsys):
        code, said = answer(capsys, WITH)
        assert code == 0
        assert said["reidentification"]["rate"] == 1
        assert said["reidentification"]["guessing"] == pytest.approx(1 / 9)
        assert said["reidentification"]["above_guessing"] is True
        assert said["utility"]["score"] == 1
        assert said["trace_inference"]["attacks"]["VisitProb-T"]["score"] == 0
        assert said["trace_inference"]["added"]["s_t"] == 0
        assert said["users"] == 9
        assert len(said["worst_users"]) == 9

    def test_protections_are_run(self, folder, capsys):
        said = answer(capsys, f"{FILES} --released pub.csv --id-table ptable.csv")[1]
        tried = {one["protection"]: one for one in said["what_to_do"]["protections"]}
        assert {"PL(4,1)", "MRLH(2,2,0)", "Swap(2,1)", "MDAV(10)"} <= set(tried)
        # Nine people in one group have one trace: who is named is chance.
        assert tried["MDAV(10)"]["named"] < 0.5

    def test_obfuscated_file_is_shuffled_here(self, folder, capsys):
        code, said = answer(capsys, f"{BASE} --obfuscated ano.csv --top 2")
        assert (code, said["reidentification"]["rate"]) == (0, 1)
        assert len(said["worst_users"]) == 2

    @pytest.mark.parametrize(
        "cells", ["--released pub.csv --id-table ptable.csv", "--obfuscated ano.csv"]
    )
    def test_files_that_are_read_in_parts(self, cells, folder, capsys, monkeypatch, in_small_parts):
        for name in ("ref", "org", "ano", "pub"):
            files.convert(f"{name}.csv", f"{name}.parquet")
        words = f"{BASE} {cells} --per-user"
        wanted = answer(capsys, words)[1]
        monkeypatch.setattr("tracecup.safeio.DEFAULT_LIMITS", Limits(max_rows=20))
        for name in ("ref", "org", "ano", "pub"):
            words = words.replace(f"{name}.csv", f"{name}.parquet")
        said = answer(capsys, words)[1]
        for one in (wanted, said):
            for attacks in (one["reidentification"], one["trace_inference"]):
                for told in attacks["attacks"].values():
                    told.pop("seconds")
        assert said == wanted
        mixed = answer(capsys, words.replace("ref.parquet", "ref.csv"))
        assert mixed[0] == 1
        assert "is read in parts: `tracecup convert" in mixed[1]["error"]

    def test_without_id_table(self, folder, capsys):
        code, said = answer(capsys, f"{BASE} --released pub.csv")
        assert code == 0
        assert said["reidentification"] is None
        assert said["utility"] is None
        assert "without the ID table" in said["sentences"][1]

    def test_gaps_in_reference_and_original(self, folder, capsys):
        for name, skip in (("ref.csv", 4), ("org.csv", 5)):
            lines = (folder / name).read_text().splitlines(keepends=True)
            kept = [line for k, line in enumerate(lines) if k == 0 or k % skip]
            (folder / name).write_text("".join(kept))
        code, said = answer(capsys, WITH)
        assert code == 0
        assert said["events"] == 54 - 10
        assert said["utility"]["score"] == 1
        assert said["reidentification"]["rate"] == 1

    def test_table_for_people(self, folder, capsys):
        assert run([*WITH.split(), "--top", "3"]) == 0
        said = capsys.readouterr().out
        assert "9 of 9" in said
        assert "no proof" in said
        assert "Prior-T" in said
        assert "Users at most risk" in said

    def test_page(self, folder, capsys):
        assert run([*WITH.split(), "--html", "audit.html"]) == 0
        page = (folder / "audit.html").read_text()
        assert page.startswith("<!doctype html>")
        assert "9 of 9 pseudonyms" in page
        assert "audit.html" in capsys.readouterr().err

    def test_another_attack_joins_in(self, folder, capsys):
        said = answer(capsys, f"{WITH} --attack Random-T --attack Random-R")[1]
        assert "Random-T" in said["trace_inference"]["attacks"]
        assert len(said["reidentification"]["attacks"]) == 6

    def test_at_full_strength_attackers_know_what_made_the_release(self, folder, capsys):
        words = f"{WITH} --protected-by RR(8)"
        assert run(words.split()) == 2
        assert "--strength max" in capsys.readouterr().err
        code, said = answer(capsys, f"{words} --strength max")
        assert code == 0
        assert "Bayes-R(channel=known(RR(8)))" in json.dumps(said)

    def test_per_user(self, folder, capsys):
        said = answer(capsys, f"{WITH} --per-user")[1]
        assert [risk["user"] for risk in said["per_user"]] == [str(k) for k in range(1, 10)]

    @pytest.mark.parametrize(
        "words",
        [
            "audit",
            BASE,
            f"{WITH} --obfuscated ano.csv",
            f"{BASE} --obfuscated ano.csv --id-table ptable.csv",
            f"{WITH} --raw-reference a.csv",
            f"{WITH} --attack Nobody-T",
            f"{WITH} --confidence 2",
            "audit --raw-reference a.csv",
        ],
    )
    def test_wrong_use(self, folder, words):
        assert run(words.split()) == 2

    def test_missing_file_and_wrong_file(self, folder, capsys):
        assert run(WITH.replace("pub.csv", "nothing.csv").split()) == 3
        (folder / "ptable.csv").write_text("pse_id,user_id\n10,1\n")
        assert run(WITH.split()) == 1


def write_raw(path, day: str, users: int = 6, missing: float = 0.0) -> None:
    """People near home, at 0.01 degree from each other, 8:00 to 10:00 every half an hour."""
    rng = np.random.default_rng(1)
    lines = ["user,time,lat,lon"]
    for k in range(users):
        for slot in range(4):
            if rng.random() < missing:
                continue
            time = f"{day}T{8 + slot // 2:02d}:{30 * (slot % 2):02d}:00"
            lines.append(f"person {k},{time},{60 + 0.01 * (k % 3):.4f},{24 + 0.02 * (k // 3):.4f}")
    path.write_text("\n".join(lines) + "\n")


RAW = "audit --raw-reference ref.csv --raw-released rel.csv --grid 2x3 --start 8:00 --end 10:00"


class TestRawTables:
    @pytest.fixture
    def raw(self, tmp_path, monkeypatch):
        write_raw(tmp_path / "ref.csv", "2024-03-01", missing=0.2)
        write_raw(tmp_path / "rel.csv", "2024-04-01", missing=0.3)
        monkeypatch.chdir(tmp_path)
        return tmp_path

    def test_people_who_stay_are_found(self, raw, capsys):
        code, said = answer(capsys, RAW)
        assert code == 0
        assert said["users"] == 6
        assert said["events"] == len((raw / "rel.csv").read_text().splitlines()) - 1
        assert said["reidentification"]["rate"] == 1
        assert said["worst_users"][0]["user"].startswith("person ")
        assert any("taken as the truth" in note for note in said["notes"])

    def test_with_original_the_utility_is_measured(self, raw, capsys):
        write_raw(raw / "org.csv", "2024-04-01")
        said = answer(capsys, f"{RAW} --raw-original org.csv")[1]
        released = len((raw / "rel.csv").read_text().splitlines()) - 1
        assert said["utility"]["score"] == pytest.approx(released / 24)  # the rest is deleted

    def test_box_and_columns(self, raw, capsys):
        for name in ("ref.csv", "rel.csv"):
            text = (raw / name).read_text().replace("user,time,lat,lon", "who,when,y,x")
            (raw / name).write_text(text)
        words = f"{RAW} --columns who,when,y,x --box 59.995,60.025,23.99,24.03"
        assert answer(capsys, words)[1]["reidentification"]["rate"] == 1

    def test_city_file(self, raw, capsys):
        grid = Grid.from_box(2, 3, south=59.99, north=60.03, west=23.99, east=24.03)
        write_city(raw / "city.csv", City(grid, hospitals=[0]))
        said = answer(capsys, f"{RAW} --city city.csv")[1]
        assert said["regions"] == 6
        assert not any("hospital" in note for note in said["notes"])

    @pytest.mark.parametrize(
        "words",
        [
            "--interval 7",
            "--start 10:00 --end 9:00 --interval 7",
            "--grid 3by2",
            "--box 1,2,3",
            "--box 1,1,3,4",
            "--columns user,time",
            "--time noon",
        ],
    )
    def test_wrong_use(self, raw, words):
        kept = RAW
        for word in words.split():
            if word.startswith("--"):
                kept = kept.replace(f"{word} 8:00", "").replace(f"{word} 10:00", "")
        assert run([*kept.split(), *words.split()]) == 2

    def test_missing_and_broken_tables(self, raw, capsys):
        assert run(RAW.replace("rel.csv", "none.csv").split()) == 3
        (raw / "rel.csv").write_text("user,time,lat,lon\nperson 1,now,60,24\n")
        assert run(RAW.split()) == 1
        assert "line 2, column time" in capsys.readouterr().err


def write_two_weeks(path, users: int = 6) -> None:
    """Nights at home, noons at work, on four days of March 2024; everybody lives elsewhere."""
    rng = np.random.default_rng(1)
    lines = ["user,time,lat,lon"]
    for k in range(users):
        for day in (1, 2, 3, 4):
            for hour, (y, x) in ((2, (k, 0)), (12, (k // 2, 3)), (23, (k, 0))):
                lat = 60 + 0.01 * y + rng.uniform(0, 0.0001)
                lon = 24 + 0.02 * x + rng.uniform(0, 0.0001)
                lines.append(f"person {k},2024-03-0{day} {hour:02d}:10:00,{lat:.5f},{lon:.5f}")
    path.write_text("\n".join(lines) + "\n")


ONE = "audit --raw gps.csv --split 2024-03-03"


class TestOneTable:
    @pytest.fixture
    def raw(self, tmp_path, monkeypatch):
        write_two_weeks(tmp_path / "gps.csv")
        monkeypatch.chdir(tmp_path)
        return tmp_path

    def test_verdict_first_with_what_was_audited(self, raw, capsys):
        code, said = answer(capsys, f"{ONE} --no-protections")
        assert code == 0
        first = said["verdict"]["sentences"][0]
        assert first.startswith("Not safe to release: the strongest attack, ")
        assert "names 6 of 6 users (100%, 61% to 100%); your limit is 5%" in first
        assert " 100% of your 72 records, 6 of 6 users were audited. 5 re-identifications" in first
        assert " were run. Known to be stronger: " in first
        assert [one["named"] for one in said["settings"]] == [1.0] * 4
        assert said["known_points"]["homes"]["found"] == 1
        assert said["what_to_do"]["protections"] == []

    def test_a_limit_decides_the_exit_code(self, raw, capsys):
        few = f"{ONE} --no-protections --grid 32x32 --interval 60"
        assert answer(capsys, f"{few} --limit 0.5")[0] == 1
        assert answer(capsys, f"{few} --limit 1")[0] == 0

    def test_from_a_verdict_to_a_protected_table_and_a_second_verdict(self, raw, capsys):
        some = f"{ONE} --grid 32x32 --interval 60"
        words = f"{some} --protection MRLH(0,0,1) --protect PL(0.1,1)"
        code, said = answer(capsys, f"{words} --protected-out safe.csv --protected-ids ids.csv")
        assert code == 0
        assert said["what_to_do"]["protections"][0]["points"] == 0
        assert "person" not in (raw / "safe.csv").read_text()
        again = f"{some} --no-protections --raw-released safe.csv --raw-ids ids.csv"
        code, second = answer(capsys, again)
        assert code == 0
        assert second["users"] == 6
        assert second["coverage"]["records"] == 36
        assert second["utility"]["score"] < 1

    def test_a_protected_table_has_the_times_of_the_raw_one(self, raw, capsys):
        some = f"{ONE} --grid 32x32 --interval 60 --no-protections --protect None --zone Asia/Tokyo"
        code, _ = answer(capsys, f"{some} --protected-out safe.csv --protected-ids ids.csv")
        assert code == 0
        safe = (raw / "safe.csv").read_text().splitlines()[1:]
        times = {line.split(",")[1] for line in (raw / "gps.csv").read_text().splitlines()[1:]}
        hours = {time[:13].replace("T", " ") for time in times}
        assert {line.split(",")[1][:13] for line in safe} <= hours
        again = f"{ONE} --grid 32x32 --interval 60 --no-protections --zone Asia/Tokyo"
        code, second = answer(capsys, f"{again} --raw-released safe.csv --raw-ids ids.csv")
        assert code == 0
        assert second["utility"]["score"] == pytest.approx(1, abs=1e-9)

    @pytest.mark.parametrize("columns", ["60", "80"])
    def test_nothing_is_cut(self, raw, capsys, monkeypatch, columns):
        monkeypatch.setenv("COLUMNS", columns)
        assert (
            run([*ONE.split(), "--interval", "60", "--grid", "16x16", "--protection", "PL(4,1)"])
            == 0
        )
        said = capsys.readouterr().out
        assert "…" not in said
        assert max(len(line) for line in said.splitlines()) <= int(columns)
        assert said.startswith("Verdict")
        assert said.index("What to do") < said.index("Known points") < said.index("What the num")
        assert "person 0" in said

    def test_page(self, raw, capsys):
        words = [*ONE.split(), "--interval", "60", "--grid", "16x16", "--protection", "PL(4,1)"]
        assert run([*words, "--html", "audit.html"]) == 0
        page = (raw / "audit.html").read_text()
        assert page.index('id="verdict"') < page.index('id="what-to-do"') < page.index('id="why"')

    @pytest.mark.parametrize(
        ("words", "code", "said"),
        [
            ("audit --raw gps.csv", 2, "--split DATE"),
            (f"{ONE} --raw-reference gps.csv", 2, "reference and original"),
            ("audit --raw-reference gps.csv --raw-released gps.csv", 2, "at once"),
            ("audit --raw gps.csv --split 2023-01-01", 1, "its days are 2024-03-01 to 2024-03-04"),
            ("audit --raw gps.csv --split 2025-01-01", 1, "no record from 2025-01-01"),
            ("audit --raw gps.csv --split March", 2, "a date like"),
            (f"{ONE} --box 10,11,10,11", 1, "no record of the table lies in the box"),
            (f"{ONE} --raw-released gps.csv --raw-ids other.csv", 1, "no row for 5 of 6"),
            (f"{ONE} --protect PL(4,1)", 2, "--protected-out"),
            (f"{ONE} --limit 0", 2, "limit"),
            (f"{ONE} --no-protections --protection Nobody --attack Nobody-R", 2, "Nobody-R"),
        ],
    )
    def test_bad_input(self, raw, capsys, words, code, said):
        (raw / "other.csv").write_text("pseudonym,user\nperson 0,ann\n")
        assert run(words.split()) == code
        assert said in capsys.readouterr().err.replace("\n", " ")

    def test_one_user(self, raw, capsys):
        write_two_weeks(raw / "gps.csv", users=1)
        code, said = answer(capsys, f"{ONE} --grid 8x8 --box 59.9,60.1,23.9,24.1 --interval 60")
        assert code == 0
        assert said["verdict"]["safe"] is None
        assert said["verdict"]["sentences"][0].startswith("No verdict: with one user")
