import numpy as np
import pytest

from tracecup import City, ContestClock, Grid, IdTable, SetTraces, Traces
from tracecup.contest.entries import BENCHMARK, Entry
from tracecup.contest.judging.judge import Judge, Truth
from tracecup.contest.rules import Rules, ScoreRules
from tracecup.errors import InvalidFile, InvalidParameter, InvalidTraces
from tracecup.score import expected_error_score, inference_score, reid_score, utility_score
from tracecup.traces.files import (
    write_inferred_table,
    write_inferred_traces,
    write_obfuscated,
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


class TestCheckSubmission:
    def test_a_valid_file(self, judge, original, tmp_path):
        write_obfuscated(tmp_path / "a.csv", SetTraces.of_traces(original))
        verdict = judge.check_submission(tmp_path / "a.csv", original)
        assert verdict.valid
        assert verdict.utility.value == 1
        assert "reaches the floor 0.7" in verdict.reason

    def test_a_file_below_the_floor_is_invalid_with_its_utility(
        self, judge, original, toy_obfuscated, tmp_path
    ):
        write_obfuscated(tmp_path / "a.csv", toy_obfuscated)
        verdict = judge.check_submission(tmp_path / "a.csv", original)
        assert not verdict.valid
        assert verdict.readable
        assert "0.578984 is below the floor 0.7" in verdict.reason

    @pytest.mark.parametrize("text", ["", "reg_id\n1\n", "reg_id\n" + "6\n" * 12, "x\n", "\0"])
    def test_other_files_are_invalid_with_a_reason(self, judge, original, tmp_path, text):
        (tmp_path / "a.csv").write_text(text)
        verdict = judge.check_submission(tmp_path / "a.csv", original)
        assert not verdict.valid
        assert not verdict.readable
        assert "not in the format" in verdict.reason

    def test_a_file_over_the_size_limit(self, judge, original, tmp_path):
        (tmp_path / "a.csv").write_text("reg_id\n" + "1 " * 40_000)
        assert not judge.check_submission(tmp_path / "a.csv", original).readable


class TestVerdict:
    def test_follows_the_rules(self, toy_city, toy_original, toy_obfuscated):
        clock = ContestClock.regular(days=1, slots=4)
        original = Traces.of(toy_original.regions, clock.original)
        rules = Rules(users=3, scores=ScoreRules(utility_floor=0.5, lambda_u=4.0))
        verdict = Judge(rules, toy_city, clock).verdict(original, toy_obfuscated)
        assert verdict.valid
        wanted = utility_score(toy_city, original, toy_obfuscated, reach_km=4.0, floor=0.5)
        assert verdict.utility.value == wanted.value


class TestPublish:
    def test_an_invalid_release_is_not_published(self, judge, original, toy_obfuscated):
        verdict = judge.verdict(original, toy_obfuscated)
        with pytest.raises(InvalidParameter, match="below the floor"):
            judge.publish(toy_obfuscated, verdict)

    def test_hors_concours_is_published_all_the_same(self, judge, original, toy_obfuscated):
        verdict = judge.verdict(original, toy_obfuscated)
        released, table = judge.publish(toy_obfuscated, verdict, 1, hors_concours=True)
        assert table.is_permutation
        assert released.users.tolist() == [4, 5, 6]

    def test_without_a_seed_no_two_shuffles_are_alike(self):
        # 100 users: two equal permutations have probability 1/100!, about 1e-158.
        clock = ContestClock.regular(days=1, slots=1)
        city = City(Grid.from_metres(2, 1, width_m=300, height_m=300))
        judge = Judge(Rules(users=100), city, clock)
        original = Traces.of(np.zeros((100, 1), dtype=int), clock.original)
        cells = SetTraces.of_traces(original)
        verdict = judge.verdict(original, cells)
        assert judge.publish(cells, verdict)[1] != judge.publish(cells, verdict)[1]


class TestCase:
    def test_holds_no_truth(self, judge, reference, original):
        cells = SetTraces.of_traces(original)
        released, table = judge.publish(cells, judge.verdict(original, cells), 5)
        case = judge.case(reference, released)
        held = [value for value in vars(case).values() if isinstance(value, (Traces, SetTraces))]
        assert all(value is reference or value is released for value in held)
        assert table not in vars(case).values()


class TestTargets:
    def test_everything_but_ones_own(self, judge):
        entries = [BENCHMARK, Entry(1, "reid"), Entry(1), Entry(2)]
        assert judge.targets(1, entries) == [BENCHMARK, Entry(2)]


class TestScore:
    def test_scores_what_was_handed_in(self, judge, toy_city, original, toy_table):
        guess, inferred = IdTable.of([1, 1, 0]), Traces.of([[0, 0, 1, 3]] * 3, original.clock)
        cell = judge.score(Truth(original, toy_table), [guess], [inferred])
        assert cell.reid.value == reid_score(toy_table, guess).value
        assert cell.trace.value == inference_score(toy_city, original, inferred).value
        assert cell.error.value == expected_error_score(toy_city, original, inferred).value

    def test_the_stronger_try_counts_whatever_the_order(self, judge, original, toy_table):
        tables = [IdTable.of([1, 1, 0]), toy_table, IdTable.of([0, 0, 1])]
        inferred = [Traces.of([[4, 4, 4, 4]] * 3, original.clock), original]
        truth = Truth(original, toy_table)
        for tries in (1, -1):
            cell = judge.score(truth, tables[::tries], inferred[::tries])
            assert (cell.reid.value, cell.trace.value, cell.error.value) == (0, 0, 0)

    def test_nothing_handed_in_is_no_score(self, judge, original, toy_table):
        cell = judge.score(Truth(original, toy_table))
        assert cell.reid is None
        assert cell.trace is None

    def test_a_table_needs_a_shuffle(self, judge, original, toy_table):
        with pytest.raises(InvalidParameter, match="never shuffled"):
            judge.score(Truth(original), [toy_table])

    def test_weights_of_users_give_the_score_from_their_own(self, judge, original):
        inferred = Traces.of([[0, 0, 1, 3], [1, 1, 1, 1], [4, 0, 2, 2]], original.clock)
        score = judge.score(Truth(original), inferred=[inferred]).trace
        weights = judge.user_weights(original)
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
