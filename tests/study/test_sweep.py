from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tracecup import City, Clock, Grid, Traces, __version__
from tracecup.city import ContestClock, write_city, write_clock
from tracecup.cli.main import run
from tracecup.errors import InvalidFile, InvalidParameter, UnknownMethod, UnreadableFile
from tracecup.study import sweep as module
from tracecup.study.comparison import compare
from tracecup.study.results import Table
from tracecup.study.sweep import COLUMNS, attacks_called, sweep
from tracecup.study.sweepdata import find_data
from tracecup.study.sweeptable import summarize, write_tables
from tracecup.traces import files

CITY = City(Grid.from_metres(6, 6, width_m=500, height_m=500), hospitals=[7, 20])
CLOCK = ContestClock.regular(3, slots=4)
DEFENCES, ATTACKS = ["None", "RR(3)"], ["VisitProb-R", "VisitProb-T"]


def people(clock: Clock, seed: int) -> Traces:
    """Twelve people who mostly stay where they live."""
    rng = np.random.default_rng(seed)
    away = rng.integers(0, 36, (12, clock.times))
    stays = rng.random((12, clock.times)) < 0.8
    return Traces.of(np.where(stays, np.arange(12)[:, None] * 3, away), clock)


def write_team(folder, team: str, seed: int, ending: str = ".csv") -> None:
    folder.mkdir(exist_ok=True)
    write_city(folder / "info_region.csv", CITY)
    write_clock(folder / "info_time.csv", CLOCK)
    files.write_traces(folder / f"reftraces_{team}{ending}", people(CLOCK.reference, seed))
    files.write_traces(folder / f"orgtraces_{team}{ending}", people(CLOCK.original, seed + 1))


@pytest.fixture
def folder(tmp_path):
    """Two teams in one folder."""
    write_team(tmp_path / "city", "team001", 1)
    write_team(tmp_path / "city", "team002", 3, ".csv.gz")
    return tmp_path / "city"


def swept(folder, out, **other):
    options = {"defences": DEFENCES, "attacks": ATTACKS, "seeds": [1, 2], "floor": 0.6} | other
    return sweep(find_data([folder]), out, **options)


def untimed(table: Table) -> list[tuple]:
    """The rows without seconds, which differ from run to run."""
    seconds = {COLUMNS.index("seconds"), COLUMNS.index("defence_seconds")}
    return [tuple(v for k, v in enumerate(row) if k not in seconds) for row in table.rows]


class TestDefencesBySize:
    def test_every_data_set_gets_its_own(self, folder):
        small = folder / "orgtraces_team001.csv"
        files.write_traces(small, people(CLOCK.original, 2)[:6])
        files.write_traces(folder / "reftraces_team001.csv", people(CLOCK.reference, 1)[:6])
        made = swept(folder, folder / "out", defences=lambda users: [f"KMeans({users // 3})"])
        named = set(zip(made.table.column("team"), made.table.column("defence"), strict=True))
        assert named == {("team001", "KMeans(2)"), ("team002", "KMeans(4)")}

    def test_a_broken_file_fails_in_its_own_cells_only(self, folder):
        (folder / "orgtraces_team001.csv").write_text("user_id,time_id,reg_id\n1,x,1\n")
        made = swept(folder, folder / "out", defences=lambda users: DEFENCES)
        assert {one.team for one in made.failed} == {"team001"}
        assert set(made.table.column("team")) == {"team002"}

    def test_none_for_a_size_is_an_error(self, folder):
        with pytest.raises(InvalidParameter, match="needs a data set, a defence"):
            swept(folder, folder / "out", defences=lambda users: [])


class TestInformed:
    def test_attackers_know_what_each_cell_was_tuned_to(self, folder):
        out, options = folder / "out", {"defences": ["PL(4,1)"], "seeds": [1]}
        assert swept(folder, out, **options).computed == 2
        made = swept(folder, out, informed=True, **options)
        again = swept(folder, out, informed=True, **options)
        rows = made.table.records()
        known = [row for row in rows if "known" in row["attack"]]
        assert len(rows) == 2 * 4
        assert {row["attack"] for row in known} == {
            f"Bayes-{kind}(channel=known({row['tuned']}))" for row in rows for kind in "RT"
        }
        assert len({row["tuned"] for row in rows}) == 2
        assert (made.computed, again.computed, again.kept) == (2, 0, 2)
        assert untimed(again.table) == untimed(made.table)


class TestFindData:
    def test_every_team_is_a_data_set(self, folder):
        found = find_data([folder])
        assert [(one.data, one.team) for one in found] == [("city", "team001"), ("city", "team002")]
        assert found[1].original.name == "orgtraces_team002.csv.gz"

    def test_files_without_partner_are_left_alone(self, folder):
        (folder / "reftraces_team009.csv").write_text("")
        assert len(find_data([folder])) == 2

    def test_folders_of_one_name_keep_their_paths(self, tmp_path, folder):
        (tmp_path / "other").mkdir()
        write_team(tmp_path / "other" / "city", "team001", 5)
        other = tmp_path / "other" / "city"
        assert {one.data for one in find_data([folder, other])} == {str(folder), str(other)}

    def test_same_folder_twice_counts_once(self, folder):
        assert len(find_data([folder, folder])) == 2

    def test_two_containers_of_one_file_are_refused(self, folder):
        (folder / "orgtraces_team001.csv.gz").write_bytes(b"")
        with pytest.raises(InvalidParameter, match="one of them must go"):
            find_data([folder])

    def test_no_pair_and_no_folder(self, tmp_path, folder):
        for path in folder.glob("orgtraces*"):
            path.unlink()
        with pytest.raises(InvalidParameter, match="no team with both"):
            find_data([folder])
        with pytest.raises(UnreadableFile, match="no such folder"):
            find_data([tmp_path / "nothing"])

    def test_missing_city(self, folder):
        (folder / "info_region.csv").unlink()
        with pytest.raises(UnreadableFile, match="info_region"):
            find_data([folder])

    def test_digest_follows_the_content(self, tmp_path, folder):
        before = [one.digest() for one in find_data([folder])]
        folder.rename(tmp_path / "renamed")
        assert [one.digest() for one in find_data([tmp_path / "renamed"])] == before
        assert before[0] != before[1]


class TestSweep:
    def test_one_row_per_cell_and_attack(self, folder, tmp_path):
        made = swept(folder, tmp_path / "out")
        assert (made.computed, made.kept, made.failed) == (8, 0, ())
        assert made.table.columns == COLUMNS
        keys = [
            tuple(row[name] for name in ("team", "defence", "seed", "kind"))
            for row in made.table.records()
        ]
        assert len(set(keys)) == len(keys) == 16
        assert set(made.table.column("tracecup")) == {__version__}

    def test_numbers_are_those_of_compare(self, folder, tmp_path):
        made = swept(folder, tmp_path / "out", seeds=[2])
        rows = [
            r for r in made.table.records() if r["team"] == "team001" and r["defence"] != "None"
        ]
        expected = compare(
            *find_data([folder])[0].load(),
            defences=["RR(3)"],
            reid_attacks=["VisitProb-R"],
            trace_attacks=["VisitProb-T"],
            floor=0.6,
            seed=2,
        )[0]
        assert rows[0]["tuned"] == expected.defence != "RR(3)"
        assert rows[0]["utility"] == expected.utility.value
        assert [r["score"] for r in rows] == [
            expected.reid[0].score.value,
            expected.trace[0].score.value,
        ]
        assert rows[1]["expected_error_km"] == expected.trace[0].expected_error
        assert rows[0]["expected_error_km"] is None
        assert rows[1]["low"] <= rows[1]["score"] <= rows[1]["high"]

    def test_finished_cells_are_kept(self, folder, tmp_path, monkeypatch):
        first = swept(folder, tmp_path / "out")
        monkeypatch.setattr(module, "release", None)  # any further work would fail
        again = swept(folder, tmp_path / "out")
        assert (again.computed, again.kept) == (0, 8)
        assert again.table == first.table

    def test_stopped_run_goes_on_and_ends_the_same(self, folder, tmp_path, monkeypatch):
        whole = swept(folder, tmp_path / "whole")
        calls = []

        def stopping(*args, **kwargs):
            calls.append(1)
            if len(calls) == 6:
                raise KeyboardInterrupt
            return genuine(*args, **kwargs)

        genuine = module.attack
        monkeypatch.setattr(module, "attack", stopping)
        with pytest.raises(KeyboardInterrupt):
            swept(folder, tmp_path / "out")
        monkeypatch.setattr(module, "attack", genuine)
        made = swept(folder, tmp_path / "out")
        assert (made.kept, made.computed) == (2, 6)
        assert untimed(made.table) == untimed(whole.table)

    def test_added_attack_is_the_only_work(self, folder, tmp_path, monkeypatch):
        whole = swept(folder, tmp_path / "whole", attacks=[*ATTACKS, "Fuzzy-R"])
        swept(folder, tmp_path / "out")
        run = []
        genuine = module.attack
        monkeypatch.setattr(
            module,
            "attack",
            lambda made, method, seed: run.append(1) or genuine(made, method, seed),
        )
        made = swept(folder, tmp_path / "out", attacks=[*ATTACKS, "Fuzzy-R"])
        assert len(run) == made.computed == 8
        assert untimed(made.table) == untimed(whole.table)

    def test_damaged_cell_is_run_again(self, folder, tmp_path):
        first = swept(folder, tmp_path / "out")
        cells = sorted((tmp_path / "out" / "cells").glob("*.json"))
        cells[0].write_text(cells[0].read_text()[:40])
        cells[1].write_text('{"tuned": "None", "utility": 1, "seconds": 1, "attacks": {"x": 3}}')
        again = swept(folder, tmp_path / "out")
        assert again.computed == 2
        assert untimed(again.table) == untimed(first.table)

    def test_other_data_floor_or_seed_are_other_cells(self, folder, tmp_path):
        swept(folder, tmp_path / "out", seeds=[1])
        assert swept(folder, tmp_path / "out", seeds=[1], floor=None).kept == 0
        assert swept(folder, tmp_path / "out", seeds=[3]).kept == 0
        write_team(folder, "team001", 9)
        assert swept(folder, tmp_path / "out", seeds=[1]).kept == 2

    def test_moved_folder_keeps_its_cells(self, folder, tmp_path):
        swept(folder, tmp_path / "out")
        folder.rename(tmp_path / "moved")
        made = swept(tmp_path / "moved", tmp_path / "out")
        assert (made.computed, set(made.table.column("data"))) == (0, {"moved"})

    def test_force(self, folder, tmp_path):
        swept(folder, tmp_path / "out")
        assert swept(folder, tmp_path / "out", force=True).computed == 8

    def test_as_written(self, folder, tmp_path):
        made = swept(folder, tmp_path / "out", floor=None)
        assert set(made.table.column("tuned")) == {"None", "RR(3)"}
        assert set(made.table.column("floor")) == {None}

    def test_failed_cell_does_not_stop_the_others(self, folder, tmp_path):
        made = swept(folder, tmp_path / "out", defences=["None", "KMeans(100)", "MRLH(5,5,0)"])
        bad = {failure.defence for failure in made.failed}
        assert bad == {"MRLH(5,5,0)"}
        assert "out of reach" in str(made.failed[0])
        assert len(made.table) == 2 * 2 * 2 * 2

    def test_other_spellings_are_the_same(self, folder, tmp_path):
        made = swept(folder, tmp_path / "out", defences=["rr(3)", "RR( 3.0 )"], seeds=[1, 1])
        assert made.computed == 2
        assert set(made.table.column("defence")) == {"RR(3)"}

    def test_progress_ends_at_the_total(self, folder, tmp_path):
        told = []
        swept(folder, tmp_path / "out", progress=lambda done, total: told.append((done, total)))
        swept(folder, tmp_path / "out", progress=lambda done, total: told.append((done, total)))
        assert told[-1] == (24, 24)
        assert all(0 <= done <= total == 24 for done, total in told)

    def test_bad_input(self, folder, tmp_path):
        with pytest.raises(InvalidParameter, match="needs a data set"):
            swept(folder, tmp_path / "out", seeds=[])
        with pytest.raises(InvalidParameter, match="floor"):
            swept(folder, tmp_path / "out", floor=1.5)
        with pytest.raises(UnknownMethod, match="did you mean"):
            swept(folder, tmp_path / "out", attacks=["VisitProb"])
        (tmp_path / "file").write_text("")
        with pytest.raises(UnreadableFile, match="cannot be made"):
            swept(folder, tmp_path / "file")

    def test_users_that_do_not_fit_are_a_failure(self, folder, tmp_path):
        files.write_traces(
            folder / "orgtraces_team001.csv", people(CLOCK.original, 2).take_users(slice(0, 5))
        )
        with pytest.raises(InvalidFile, match="user_id"):
            find_data([folder])[0].load()
        made = swept(folder, tmp_path / "out")
        assert {failure.team for failure in made.failed} == {"team001"}


CELL = """
from dataclasses import dataclass
from tracecup.obfuscate import Obfuscator
from tracecup.obfuscate.base import Knob
from tracecup.registry import parameter
from tracecup.traces import SetTraces, Traces

@dataclass(frozen=True)
class MyShift(Obfuscator):
    name, knobs = "MyShift", (Knob("steps", 0, 5),)
    steps: int = parameter(2, "regions eastward", low=0, high=5)

    def _obfuscate(self, city, original, rng):
        moved = (original.regions + self.steps) % city.n_regions
        return SetTraces.of_traces(Traces(moved, original.users, original.clock))
"""


def from_a_cell(source: str = CELL):
    """What a notebook holds after the cell was run: a class without a file, in no registry."""
    space = {"__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), space)
    return space["MyShift"]


class TestOwnMethods:
    def test_an_edited_class_of_a_notebook_is_run_again(self, folder, tmp_path):
        first = swept(folder, tmp_path / "out", defences=[from_a_cell()(2)], floor=None)
        again = swept(folder, tmp_path / "out", defences=[from_a_cell()(2)], floor=None)
        assert (first.kept, again.kept) == (0, 4)
        identity = from_a_cell(CELL.replace("original.regions + self.steps", "original.regions"))
        edited = swept(folder, tmp_path / "out", defences=[identity(2)], floor=None)
        assert edited.kept == 0
        assert set(edited.table.column("utility")) == {1.0} != set(first.table.column("utility"))

    def test_the_label_names_what_ran(self, folder, tmp_path):
        made = swept(folder, tmp_path / "out", defences=[from_a_cell()(2)], floor=0.7)
        assert set(made.table.column("tuned")) == {"MyShift(1)"}
        rows = summarize(made.table).records()
        assert {(row["defence"], row["ran"]) for row in rows} == {("MyShift(2)", "MyShift(1)")}

    def test_a_knob_too_coarse_is_marked(self, folder, tmp_path):
        made = swept(folder, tmp_path / "out", defences=[from_a_cell()(2), "None"], floor=0.7)
        rows = {row["ran"][:2]: row for row in summarize(made.table).records()}
        assert rows["My"]["tuning"] == "coarse"
        assert rows["My"]["utility"] > 0.705
        assert rows["No"]["tuning"] == "as written"

    def test_tuned_cells_go_on_without_a_registry(self, folder, tmp_path):
        swept(folder, tmp_path / "out", defences=[from_a_cell()(2)], attacks=["VisitProb-R"])
        more = swept(folder, tmp_path / "out", defences=[from_a_cell()(2)])
        whole = swept(folder, tmp_path / "whole", defences=[from_a_cell()(2)])
        assert untimed(more.table) == untimed(whole.table)

    def test_what_cannot_be_keyed_is_not_kept(self, folder, tmp_path):
        opened = "import io\nFILE = io.StringIO()\n" + CELL.replace(
            "moved = ", "FILE.write('x'); moved = "
        )
        for _ in range(2):
            made = swept(folder, tmp_path / "out", defences=[from_a_cell(opened)(1)], floor=None)
            assert (made.kept, made.computed, len(made.table)) == (0, 4, 8)
        assert list((tmp_path / "out" / "cells").iterdir()) == []


KILLED = """
import os, signal, sys
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from tracecup.attack import ReidAttack
from tracecup.registry import register
from tracecup.study.sweep import sweep
from tracecup.study.sweepdata import find_data

@register("reid", "Deadly-R", "kills its own process in the third cell")
@dataclass(frozen=True)
class Deadly(ReidAttack):
    def score_matrix(self, case, rng=None):
        marks = Path(sys.argv[2]) / "marks"
        marks.mkdir(exist_ok=True)
        (marks / str(len(list(marks.iterdir())))).touch()
        if len(list(marks.iterdir())) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.eye(case.n_users)

made = sweep(
    find_data([Path(sys.argv[1])]), Path(sys.argv[2]), defences=["None", "RR(3)"],
    attacks=["Deadly-R"], seeds=[1, 2], floor=None,
)
print(made.kept, made.computed, len(made.table))
"""


class TestElsewhere:
    def test_another_process_finds_the_same(self, folder, tmp_path, monkeypatch):
        here = swept(folder, tmp_path / "here", defences=[*DEFENCES, "MRLH(5,5,0)"])
        monkeypatch.chdir(folder.parent)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            options = {"defences": [*DEFENCES, "MRLH(5,5,0)"], "executor": pool}
            there = swept(Path(folder.name), tmp_path / "there", **options)
            again = swept(Path(folder.name), tmp_path / "there", **options)
        assert untimed(there.table) == untimed(here.table)
        assert (there.computed, there.kept, there.failed) == (8, 0, here.failed)
        assert (again.computed, again.kept) == (0, 8)
        assert again.table == there.table

    def test_what_is_finished_is_kept_when_a_worker_breaks(self, folder, tmp_path):
        class Breaking(ThreadPoolExecutor):
            """Breaks after three tasks."""

            def submit(self, work, *args, **options):
                future: Future = Future()
                self.sent = getattr(self, "sent", 0) + 1
                if self.sent > 3:
                    future.set_exception(RuntimeError("the worker is gone"))
                else:
                    future.set_result(work(*args, **options))
                return future

        with Breaking() as pool, pytest.raises(RuntimeError, match="gone"):
            swept(folder, tmp_path / "out", executor=pool)
        assert swept(folder, tmp_path / "out").kept == 3

    def test_the_command_takes_an_engine(self, folder, tmp_path, capsys):
        words = ["benchmark", "--data", str(folder), "--out", str(tmp_path), "--engine"]
        assert run([*words, "cloud"]) == 2
        assert "local, processes or dask://HOST:PORT" in capsys.readouterr().err


class TestKilled:
    def test_kill_minus_nine_loses_one_cell(self, folder, tmp_path):
        script = tmp_path / "run.py"
        script.write_text(KILLED)
        words = [sys.executable, str(script), str(folder), str(tmp_path / "out")]
        ended = subprocess.run(words, check=False, timeout=600)
        assert ended.returncode == -signal.SIGKILL
        done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=600)
        assert done.stdout.split() == ["2", "6", "8"]
        script.write_text(KILLED.replace("np.eye(case.n_users)", "np.ones((case.n_users,) * 2)"))
        done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=600)
        assert done.stdout.split() == ["0", "8", "8"]  # the attack's own code changed


class TestAttacksCalled:
    def test_kind_follows_from_the_name(self):
        assert [type(a).__name__ for a in attacks_called("visitprob-r")] == ["VisitProbR"]
        assert [type(a).__name__ for a in attacks_called("Prior-T(user=1)")] == ["PriorT"]


class TestSmallerGrid:
    def test_never_overwrites_a_larger_ones_tables(self, folder, tmp_path):
        large = swept(folder, tmp_path)
        first = write_tables(tmp_path, large.table)
        before = [path.read_bytes() for path in first]
        small = swept(folder, tmp_path, seeds=[1])
        second = write_tables(tmp_path, small.table)
        assert [path.read_bytes() for path in first] == before
        assert not set(first) & set(second)
        assert len(pq.read_table(second[1])) == len(small.table)
        assert write_tables(tmp_path, small.table) == second

    def test_the_same_or_a_larger_one_does(self, folder, tmp_path):
        small = swept(folder, tmp_path, seeds=[1])
        names = write_tables(tmp_path, small.table)
        large = swept(folder, tmp_path)
        assert write_tables(tmp_path, large.table) == names
        assert len(pq.read_table(names[1])) == len(large.table)


def row(defence: str, seed: int, kind: str, attack: str, score: float, **other) -> tuple:
    given = {
        "data": "d",
        "team": "t",
        "defence": defence,
        "tuned": defence,
        "seed": seed,
        "tuning": "tuned",
        "floor": 0.7,
        "utility": 0.7,
        "group": None,
        "true_link": 0.5,
        "kind": kind,
        "attack": attack,
        "knew": "",
        "score": score,
        "low": 0.0,
        "high": 1.0,
        "expected_error_km": 1.0 if kind == "trace" else None,
        "seconds": 0.1,
        "defence_seconds": 0.2,
        "tracecup": "0",
    } | other
    return tuple(given[name] for name in COLUMNS)


HAND = Table.of(
    COLUMNS,
    [
        row("A", 1, "reid", "Fuzzy-R", 0.5, utility=0.8),
        row("A", 1, "reid", "HomeProb-R", 0.6, utility=0.8),
        row("A", 1, "trace", "Prior-T", 0.3, utility=0.8, expected_error_km=2.0),
        row("A", 1, "trace", "Fuzzy-T", 0.4, utility=0.8),
        row("A", 2, "reid", "Fuzzy-R", 0.9, utility=0.9),
        row("A", 2, "reid", "HomeProb-R", 0.7, utility=0.9),
        row("A", 2, "trace", "Prior-T", 0.3, utility=0.9, expected_error_km=2.0),
        row("A", 2, "trace", "Fuzzy-T", 0.2, utility=0.9),
        row("B", 1, "reid", "Fuzzy-R", 1.0, utility=0.6),
    ],
)


class TestSummarize:
    def test_minima_are_taken_per_seed_before_the_mean(self):
        first = summarize(HAND).row(defence="A")
        assert first["seeds"] == 2
        assert first["utility"] == pytest.approx(0.85)
        assert first["utility_sd"] == pytest.approx(0.1 / 2**0.5)
        assert first["s_r_min"] == pytest.approx(0.6)  # 0.5 and 0.7
        assert first["s_r_min_sd"] == pytest.approx(0.2 / 2**0.5)
        assert first["s_t_min"] == pytest.approx(0.25)  # 0.3 and 0.2
        assert first["expected_error_km"] == pytest.approx(1.5)

    def test_intervals_by_hand(self):
        narrow = [
            row("A", 1, "reid", "R", 0.5, low=0.4, high=0.7),
            row("A", 2, "reid", "R", 0.5, low=0.4, high=0.7),
            row("B", 1, "reid", "R", 0.4, low=0.4, high=0.4),
            row("B", 2, "reid", "R", 0.41, low=0.41, high=0.41),
        ]
        first, second = summarize(Table.of(COLUMNS, narrow)).records()
        assert (first["s_r_low"], first["s_r_high"]) == pytest.approx((0.4, 0.7))
        half = 12.7062 * 0.01 / 2**0.5 / 2**0.5  # Student's t with one degree of freedom
        assert second["s_r_high"] - second["s_r_min"] == pytest.approx(half, rel=1e-4)
        assert first["s_t_low"] is None

    def test_attacks_that_do_not_look_are_kept_apart(self):
        first = summarize(HAND).row(defence="A")
        assert first["s_t_linked"] == pytest.approx(0.3)  # 0.4 and 0.2
        assert first["s_t_prior"] == pytest.approx(0.3)

    def test_bounds_are_means_over_seeds(self):
        rows = [
            row("A", 1, "reid", "R", 0.5, group=0.75, true_link=0.4),
            row("A", 2, "reid", "R", 0.5, group=0.75, true_link=0.6),
        ]
        (first,) = summarize(Table.of(COLUMNS, rows)).records()
        assert (first["s_r_group"], first["s_t_true_link"]) == pytest.approx((0.75, 0.5))
        second = summarize(HAND).row(defence="B")
        assert (second["s_r_group"], second["s_t_true_link"]) == (None, 0.5)

    def test_one_seed_has_no_spread_and_a_missing_kind_no_minimum(self):
        second = summarize(HAND).row(defence="B")
        assert (second["s_r_min"], second["s_r_min_sd"], second["s_t_min"]) == (1.0, None, None)
        assert second["s_r_by"] == "Fuzzy-R"

    def test_floor_decides_validity(self):
        assert [r["valid"] for r in summarize(HAND).records()] == [True, False]

    def test_usual_attack_ties_go_to_the_first(self):
        assert summarize(HAND).row(defence="A")["s_r_by"] == "Fuzzy-R"


class TestWriteTables:
    def test_csv_and_parquet_say_the_same(self, tmp_path):
        whole, packed, short = write_tables(tmp_path, HAND)
        table = pq.read_table(packed)
        assert tuple(table.column_names) == COLUMNS
        assert [tuple(r.values()) for r in table.to_pylist()] == list(HAND.rows)
        with whole.open() as file:
            rows = list(csv.DictReader(file))
        assert [float(r["score"]) for r in rows] == HAND.column("score")
        assert rows[0]["expected_error_km"] == ""
        assert len(short.read_text().splitlines()) == 3

    def test_types_hold_without_any_value(self, tmp_path):
        _, packed, _ = write_tables(tmp_path, Table.of(COLUMNS, []))
        schema = pq.read_schema(packed)
        assert str(schema.field("expected_error_km").type) == "double"
        assert str(schema.field("seed").type) == "int64"


class TestCellFile:
    def test_is_small_json(self, folder, tmp_path):
        swept(folder, tmp_path / "out")
        cells = list((tmp_path / "out" / "cells").iterdir())
        assert len(cells) == 8
        assert all(path.stat().st_size < 2000 for path in cells)
        assert set(json.loads(cells[0].read_text())["attacks"]) == {
            "reid VisitProb-R",
            "trace VisitProb-T",
        }


class TestLoad:
    def test_reference_may_have_gaps(self, folder):
        known = people(CLOCK.reference, 1)
        regions = known.regions.copy()
        regions[3, 4] = -1
        files.write_traces(folder / "reftraces_team001.csv", Traces.of(regions, known.clock))
        _, reference, original = find_data([folder])[0].load()
        assert reference.has_gaps
        assert reference.n_users == original.n_users

    def test_original_may_not(self, folder):
        truth = people(CLOCK.original, 2)
        regions = truth.regions.copy()
        regions[3, 4] = -1
        files.write_traces(folder / "orgtraces_team001.csv", Traces.of(regions, truth.clock))
        with pytest.raises(InvalidFile, match="rows"):
            find_data([folder])[0].load()
