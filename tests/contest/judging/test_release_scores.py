import numpy as np
import pytest

from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import CellScores
from tracecup.contest.judging.flow import score_release, truth_of
from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.errors import InvalidFile
from tracecup.score import Interval, Score


def score(name, values):
    values = np.array(values)
    return Score(name, float(values.mean()), values, Interval(0.1, None, 0.95, "x"), unit="km")


ROW = ReleaseScores(
    Entry(3),
    {
        "001": CellScores(score("s_R", [0.1, 1 / 3]), score("s_T", [0.2, 0.7]), score("e", [1, 2])),
        "002": CellScores(trace=score("s_T", [0.3, 0.6])),
        "I1": CellScores(),
    },
    np.array([4.0, 13.0]),
    1 / 7,
)


class TestTargetScores:
    def test_parts_are_those_who_handed_in(self):
        assert list(ROW.of("reid")) == ["001"]
        assert list(ROW.of("trace")) == ["001", "002"]

    def test_everything_is_kept_to_the_last_bit(self, tmp_path):
        ROW.save(tmp_path / "s.npz")
        again = ReleaseScores.load(tmp_path / "s.npz", Entry(3))
        assert list(again.cells) == list(ROW.cells)
        assert (again.ceiling, again.weights.tolist()) == (ROW.ceiling, ROW.weights.tolist())
        for part in ("reid", "trace", "error"):
            for name, kept in ROW.of(part).items():
                found = again.of(part)[name]
                assert (found.value, found.interval, found.unit) == (
                    kept.value, kept.interval, kept.unit,
                )  # fmt: skip
                assert found.per_user.tolist() == kept.per_user.tolist()

    def test_other_files_are_refused(self, tmp_path):
        (tmp_path / "s.npz").write_bytes(b"no archive")
        with pytest.raises(InvalidFile):
            ReleaseScores.load(tmp_path / "s.npz", Entry(3))


class TestScoreTarget:
    def test_scores_every_answer_of_the_archive(self, played):
        row = score_release(played, Entry(1), ["002", "I2", "T3"])
        truth = truth_of(played, Entry(1))
        guess = played.judge.read_table(played.answer_file(Entry(1), "etable", "002"))
        wrong = (guess.users != truth.table.users).mean()
        assert row.cells["002"].reid.value == pytest.approx(wrong, abs=1e-12)
        assert list(row.of("reid")) == ["002", "I2"]
        assert list(row.of("trace")) == ["002", "T3"]

    def test_the_ceiling_does_not_depend_on_the_release(self, played):
        first = score_release(played, Entry(1), []).ceiling
        assert 0 < first < 1
