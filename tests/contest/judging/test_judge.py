import numpy as np
import pytest

from tracecup import ContestClock, IdTable, SetTraces, Traces
from tracecup.contest.judging.answers import Truth
from tracecup.contest.judging.judge import Judge
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.contest.rules import Rules, ScoreRules
from tracecup.errors import InvalidFile, InvalidParameter, InvalidTraces
from tracecup.score import expected_error_score, inference_score, reid_score, utility_score
from tracecup.traces.files import (
    write_inferred_table,
    write_inferred_traces,
)


@pytest.fixture
def judge(toy_city):
    return Judge(Rules(users=3), toy_city, ContestClock.regular(days=1, slots=4))


@pytest.fixture
def original(judge, toy_original):
    return Traces.of(toy_original.regions, judge.clock.original)


@pytest.fixture
def reference(judge, toy_original):
    return Traces.of(toy_original.regions[::-1], judge.clock.reference)


class TestCheckData:
    def test_data_of_the_right_shape_pass(self, judge, reference, original):
        judge.check_data(reference, original)

    def test_data_on_another_clock_do_not(self, judge, reference, original):
        with pytest.raises(InvalidTraces, match="reference"):
            judge.check_data(original, original)

    def test_originals_have_no_gaps(self, judge, reference, original):
        gaps = Traces.of(np.where(original.regions == 2, -1, original.regions), original.clock)
        judge.check_data(Traces.of(gaps.regions, reference.clock), original)
        with pytest.raises(InvalidTraces, match="gaps"):
            judge.check_data(reference, gaps)


class TestVerdict:
    def test_follows_the_rules(self, toy_city, toy_original, toy_obfuscated):
        clock = ContestClock.regular(days=1, slots=4)
        original = Traces.of(toy_original.regions, clock.original)
        rules = Rules(users=3, scores=ScoreRules(utility_floor=0.5, lambda_u=4.0))
        verdict = Judge(rules, toy_city, clock).verdict(original, toy_obfuscated)
        assert verdict.valid
        wanted = utility_score(toy_city, original, toy_obfuscated, reach_km=4.0, floor=0.5)
        assert verdict.utility.value == wanted.value


class TestCase:
    def test_holds_no_truth(self, judge, reference, original):
        cells = SetTraces.of_traces(original)
        released, table = pseudonymize(cells, 5)
        case = judge.case(reference, released)
        held = [value for value in vars(case).values() if isinstance(value, (Traces, SetTraces))]
        assert all(value is reference or value is released for value in held)
        assert table not in vars(case).values()


class TestScore:
    def test_scores_what_was_handed_in(self, judge, toy_city, original, toy_table):
        guess, inferred = IdTable.of([1, 1, 0]), Traces.of([[0, 0, 1, 3]] * 3, original.clock)
        cell = judge.score(Truth(original, toy_table), {"reid": [guess], "trace": [inferred]})
        assert cell.reid.value == reid_score(toy_table, guess).value
        assert cell.trace.value == inference_score(toy_city, original, inferred).value
        assert cell.error.value == expected_error_score(toy_city, original, inferred).value

    def test_the_stronger_try_counts_whatever_the_order(self, judge, original, toy_table):
        tables = [IdTable.of([1, 1, 0]), toy_table, IdTable.of([0, 0, 1])]
        inferred = [Traces.of([[4, 4, 4, 4]] * 3, original.clock), original]
        truth = Truth(original, toy_table)
        for tries in (1, -1):
            cell = judge.score(truth, {"reid": tables[::tries], "trace": inferred[::tries]})
            assert (cell.reid.value, cell.trace.value, cell.error.value) == (0, 0, 0)

    def test_nothing_handed_in_is_no_score(self, judge, original, toy_table):
        cell = judge.score(Truth(original, toy_table), {})
        assert cell.reid is None
        assert cell.trace is None

    def test_a_table_needs_a_shuffle(self, judge, original, toy_table):
        with pytest.raises(InvalidParameter, match="never shuffled"):
            judge.score(Truth(original), {"reid": [toy_table]})

    def test_weights_of_users_give_the_score_from_their_own(self, judge, original):
        inferred = Traces.of([[0, 0, 1, 3], [1, 1, 1, 1], [4, 0, 2, 2]], original.clock)
        score = judge.score(Truth(original), {"trace": [inferred]}).trace
        weights = judge.scorer.user_weights(original)
        assert weights.tolist() == [13, 4, 4]
        assert np.average(score.per_user, weights=weights) == pytest.approx(score.value, abs=1e-15)


class TestTruth:
    def test_is_never_shown(self, original, toy_table):
        assert repr(Truth(original, toy_table)) == "Truth(<3 users>)"


class TestRead:
    def test_answers_come_back(self, judge, original, tmp_path):
        table = IdTable.of([2, 2, 0])
        write_inferred_table(tmp_path / "t.csv", table)
        write_inferred_traces(tmp_path / "i.csv.zst", original)
        assert judge.read_table(tmp_path / "t.csv") == table
        assert judge.read_inferred(tmp_path / "i.csv.zst") == original

    def test_answers_for_another_contest_are_refused(self, judge, original, tmp_path):
        write_inferred_table(tmp_path / "t.csv", IdTable.of([0, 1, 2, 3]))
        write_inferred_traces(tmp_path / "i.csv", original.take_users([0, 1]))
        with pytest.raises(InvalidFile):
            judge.read_table(tmp_path / "t.csv")
        with pytest.raises(InvalidFile):
            judge.read_inferred(tmp_path / "i.csv")
