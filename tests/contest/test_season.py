import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tracecup.contest.archive.folder import Archive
from tracecup.contest.entries import BENCHMARK, Entry
from tracecup.contest.season import Season, is_finished, play, season_rules
from tracecup.errors import InvalidParameter

# Plays the tiny season again and again in child processes that are killed (SIGKILL) just before
# or after their n-th rename, n drawn from a fixed seed, until one of them reaches the end.
# One thread, because a fork beside threads may hang, and once unharmed before, so that the
# children find every kernel compiled; a child that hangs says where.
KILLED_AGAIN_AND_AGAIN = """
import faulthandler, os, random, signal, sys, pathlib
sys.path.insert(0, sys.argv[1])
from conftest import TinyWorld, tiny_rules
from tracecup.contest.season import Season, play

play(pathlib.Path(sys.argv[3]), Season(tiny_rules(), teams=5, seed=1), TinyWorld())
draw, kills = random.Random(7), 0
rename = pathlib.Path.replace
while True:
    # The first eight make 164 of the season's 168 renames at most, so there are eight kills at
    # least; more and more each time, because one step, done whole or again, has over 20.
    left, late = draw.randrange(1, 20 + kills // 2), draw.random() < 0.5
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(120, exit=True)
        def counted(self, target):
            global left
            left -= 1
            if left == 0 and not late:
                os.kill(os.getpid(), signal.SIGKILL)
            rename(self, target)
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        pathlib.Path.replace = counted
        play(pathlib.Path(sys.argv[2]), Season(tiny_rules(), teams=5, seed=1), TinyWorld())
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL, status
    kills += 1
print(kills)
"""


class Stop(Exception):
    pass


def _stop(stage, done, total):
    if stage == "data":
        raise Stop


class TestPlay:
    def test_the_same_seed_gives_the_same_bytes(
        self, played, tiny_season, tiny_world, tmp_path, contents_of, monkeypatch
    ):
        monkeypatch.setenv("TRACECUP_THREADS", "3")
        again = play(tmp_path / "again", tiny_season, tiny_world)
        assert contents_of(again.root) == contents_of(played.root)

    def test_another_seed_gives_other_traces(self, played, tiny_season, tiny_world, tmp_path):
        other = play(tmp_path / "other", replace(tiny_season, seed=2), tiny_world)
        for entry in (BENCHMARK, Entry(1)):
            assert other.original(entry) != played.original(entry)
            assert other.id_table(entry) != played.id_table(entry)

    def test_stopped_between_any_two_steps_it_goes_on_to_the_same_bytes(
        self, played, tiny_season, tiny_world, tmp_path, contents_of
    ):
        stages = []
        for stop_at in ("training", "data", "obfuscation", "publication", "commitments", "attacks",
                        "results", "openings", "manifest"):  # fmt: skip
            seen = []

            def progress(stage, done, total, stop_at=stop_at, seen=seen):
                seen.append(stage)
                if stage == stop_at and (done > 0 or stage in ("training", "manifest")):
                    raise Stop

            with pytest.raises(Stop):
                play(tmp_path / "a", tiny_season, tiny_world, progress)
            stages.append(seen)
        archive = play(tmp_path / "a", tiny_season, tiny_world)
        assert contents_of(archive.root) == contents_of(played.root)

    @pytest.mark.skipif(not hasattr(Path, "replace") or sys.platform == "win32", reason="forks")
    def test_killed_at_many_moments_it_goes_on_to_the_same_bytes(
        self, played, tmp_path, contents_of
    ):
        here = str(Path(__file__).parent)
        done = subprocess.run(
            [sys.executable, "-c", KILLED_AGAIN_AND_AGAIN, here,
             str(tmp_path / "a"), str(tmp_path / "unharmed")],
            env=os.environ | {"TRACECUP_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                              "OMP_NUM_THREADS": "1"},
            capture_output=True, text=True, check=False, timeout=900,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        assert int(done.stdout) >= 8
        assert contents_of(tmp_path / "a") == contents_of(played.root)

    def test_finished_work_is_not_done_again(self, tiny_season, tiny_world, tmp_path):
        made = []

        class Counting(type(tiny_world)):
            def data(self, entry, clock, users, seed):
                made.append(entry)
                if len(made) == 5:
                    raise Stop
                return tiny_world.data(entry, clock, users, seed)

        with pytest.raises(Stop):
            play(tmp_path / "a", tiny_season, Counting())
        play(tmp_path / "a", tiny_season, Counting())
        assert 8 <= len(made) <= 9  # eight data sets; one was cut off, another may have been

    def test_a_finished_season_is_left_alone(self, own_copy, tiny_season, tiny_world):
        before = {p: p.stat().st_mtime_ns for p in own_copy.root.rglob("*")}
        play(own_copy.root, tiny_season, tiny_world)
        assert {p: p.stat().st_mtime_ns for p in own_copy.root.rglob("*")} == before

    @pytest.mark.parametrize(
        "other",
        [{"seed": 2}, {"teams": 6}, {"rules": season_rules(users=30, days=2)}],
    )
    def test_another_season_is_not_mixed_in(self, own_copy, tiny_season, tiny_world, other):
        with pytest.raises(InvalidParameter, match="another season"):
            play(own_copy.root, replace(tiny_season, **other), tiny_world)

    def test_a_folder_with_other_things_is_refused(self, tiny_season, tiny_world, tmp_path):
        (tmp_path / "precious.txt").write_text("mine")
        with pytest.raises(InvalidParameter, match="not empty"):
            play(tmp_path, tiny_season, tiny_world)
        assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]

    def test_rules_that_somebody_wrote_are_not_touched(self, tiny_season, tiny_world, tmp_path):
        (tmp_path / "contest.toml").write_text("users = 5")
        (tmp_path / ".other.tmp").write_text("mine")
        with pytest.raises(InvalidParameter, match="not empty"):
            play(tmp_path, tiny_season, tiny_world)
        assert len(list(tmp_path.iterdir())) == 2

    def test_what_killed_writers_left_is_removed(
        self, played, tiny_season, tiny_world, tmp_path, contents_of
    ):
        (tmp_path / ".archive.json.0123456789ab.tmp").write_text("cut o")
        with pytest.raises(Stop):
            play(tmp_path, tiny_season, tiny_world, _stop)
        (tmp_path / "public" / ".info_time.csv.0123456789ab.tmp").write_text("cut o")
        archive = play(tmp_path, tiny_season, tiny_world)
        assert contents_of(archive.root) == contents_of(played.root)

    def test_nothing_of_the_work_is_left(self, played):
        assert not (played.root / ".work").exists()
        assert is_finished(played)

    def test_both_challenges_have_their_own_data(self, tiny_world, tmp_path):
        from dataclasses import replace as other

        rules = season_rules(users=12, days=1, reid=True)
        rules = other(rules, clock=other(rules.clock, slots=4))
        archive = play(tmp_path / "a", Season(rules, 3, 1), tiny_world)
        assert len(archive.published()) == 7
        assert archive.original(Entry(1, "reid")) != archive.original(Entry(1, "trace"))
        summary = json.loads((archive.results / "summary.json").read_text())
        assert {"best_anonymization_trace", "best_anonymization_reid"} <= set(summary["awards"])


class TestSubmissions:
    def test_one_invalid_one_hors_concours(self, played):
        given = {entry.team: played.judged(entry) for entry in played.entries}
        assert [team for team, one in given.items() if not one.valid] == [3, 4]
        assert [team for team, one in given.items() if one.hors_concours] == [3]
        assert [team for team, one in given.items() if not one.published] == [4]

    def test_valid_ones_reach_the_floor(self, played):
        for entry in played.entries:
            one = played.judged(entry)
            assert one.valid == (one.utility >= 0.7 - 1e-9)


class TestIsFinished:
    def test_not_without_its_digest(self, own_copy):
        (own_copy.root / "MANIFEST.sha256").unlink()
        assert not is_finished(own_copy)

    def test_not_before(self, tmp_path):
        assert not is_finished(Archive(tmp_path))
