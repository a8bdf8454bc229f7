import json
import threading

import pytest

from tracecup.contest import stages
from tracecup.contest.ledger import Ledger
from tracecup.contest.stages import StageClock, Stages, in_threads, read_timings


def stages_of(folder, said=None):
    tell = None if said is None else lambda *step: said.append(step)
    return Stages(folder, Ledger(folder / "ledger.jsonl", folder), tell)


class TestEach:
    def test_what_is_done_is_not_done_again(self, tmp_path):
        done = []

        def work(name):
            done.append(name)
            (tmp_path / name).write_text(name)
            return [tmp_path / name]

        stages_of(tmp_path).each("letters", ["a", "b"], str, work)
        stages_of(tmp_path).each("letters", ["a", "b", "c"], str, work)
        assert sorted(done) == ["a", "b", "c"]

    def test_an_error_comes_out_and_what_was_done_stays(self, tmp_path, monkeypatch):
        monkeypatch.setenv("TRACECUP_THREADS", "1")
        done = []

        def work(n):
            if n == 2:
                raise ValueError("no")
            done.append(n)
            return []

        with pytest.raises(ValueError, match="no"):
            stages_of(tmp_path).each("numbers", [0, 1, 2, 3], str, work)
        assert done == [0, 1]
        stages_of(tmp_path).each("numbers", [0, 1], str, work)
        assert done == [0, 1]

    def test_tells_how_far_it_is(self, tmp_path):
        said = []
        stages_of(tmp_path, said).each("x", ["a", "b"], str, lambda _: [])
        assert said[0] == ("x", 0, 1)
        assert said[-1] == ("x", 2, 2)


class TestTimings:
    def test_a_stage_that_runs_again_adds_up(self, tmp_path):
        for _ in range(2):
            with StageClock(tmp_path).stage("sleep"):
                pass
        found = read_timings(tmp_path)["sleep"]
        assert found["runs"] == 2
        assert found["seconds"] >= 0
        assert found["peak_mb"] > 1

    def test_a_broken_file_is_forgotten(self, tmp_path):
        for text in ("{", "[]", '{"a": 1}', json.dumps({"a": {"seconds": "x"}})):
            (tmp_path / "timings.json").write_text(text)
            assert read_timings(tmp_path) == {}


class TestInThreads:
    def test_results_of_all(self):
        assert sorted(in_threads(lambda n: 2 * n, list(range(50)))) == list(range(0, 100, 2))

    def test_none_is_an_item_like_any_other(self):
        assert list(in_threads(lambda n: n, [None, None])) == [None, None]

    def test_after_an_error_nothing_new_starts(self, monkeypatch):
        monkeypatch.setenv("TRACECUP_THREADS", "2")
        started, heard = [], threading.Event()
        really_wait = stages.wait

        def wait(*args, **more):
            found = really_wait(*args, **more)
            heard.set()
            return found

        def work(n):
            started.append(n)
            if n == 0:
                raise ValueError(n)
            heard.wait(600)  # nothing else ends before the error is known

        monkeypatch.setattr(stages, "wait", wait)
        with pytest.raises(ValueError, match="0"):
            list(in_threads(work, list(range(100))))
        assert sorted(started) == [0, 1]
