"""The scoreboard on toys done by hand, and what must hold for every one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.contest.standing.scoreboard import (
    AttackBoard,
    BoardRow,
    Scoreboard,
    State,
    combine_rounds,
    ranks,
)
from tracecup.errors import InvalidParameter

RELEASES = (
    BoardRow("bench", "000", "reid", benchmark=True),
    BoardRow("a1", "001", "reid"),
    BoardRow("a2", "001", "trace"),
    BoardRow("b2", "002", "trace"),
    BoardRow("c2", "003", "trace", valid=False),
    BoardRow("h2", "009", "trace", valid=False, hors_concours=True),
)
TRIES = {
    ("bench", "001"): [0.5],
    ("bench", "I1"): [0.9],
    ("a1", "002"): [0.8, 0.6],
    ("a2", "002"): [0.7],
    ("a2", "I1"): [0.65],
    ("b2", "001"): [1.0],
    ("c2", "001"): [0.3],
    ("h2", "001"): [0.99],
    ("h2", "002"): [0.25],
}


@pytest.fixture
def board() -> AttackBoard:
    return AttackBoard.of("reid", RELEASES, ["001", "002", "003", "009"], ["I1"], TRIES)


class TestBoard:
    def test_states(self, board):
        S, M, O, X = State.SCORED, State.MISSING, State.OWN, State.INVALID  # noqa: E741  the table reads best with one letter each
        assert board.states.tolist() == [
            [S, M, M, M, S],
            [O, S, M, M, M],
            [O, S, M, M, S],
            [S, O, M, M, M],
            [X, X, X, X, X],
            [S, S, M, O, M],
        ]

    def test_the_lower_of_two_tries_counts(self, board):
        assert board.values[1, 1] == 0.6

    def test_minimum(self, board):
        expected = {"bench": 0.5, "a1": 0.6, "a2": 0.65, "b2": 1.0, "c2": 0.0, "h2": 0.25}
        assert board.minimum() == expected

    def test_sums_over_all(self, board):
        # 001: 0.5 + own + own + 1 + invalid; 002: 1 + 0.6 + 0.7 + own + invalid; h2 counts nowhere
        assert board.sums() == {
            "001": 1.5,
            "002": pytest.approx(2.3),
            "003": 4.0,
            "009": 4.0,
            "I1": pytest.approx(3.55),
        }

    def test_sums_over_trace_inference_and_benchmark(self, board):
        sums = board.sums("trace-inference")
        assert sums["001"] == 1.5
        assert sums["002"] == pytest.approx(1.7)
        assert sums["003"] == 3.0

    def test_sought(self, board):
        assert [row.name for row in board.sought()] == ["bench", "a1", "a2", "b2"]
        assert [row.name for row in board.sought("trace-inference")] == ["bench", "a2", "b2"]

    def test_contributors(self, board):
        # A score of 1 lowers nothing, and what is done to a demonstration does not count.
        assert board.contributors() == {"001", "002", "I1"}
        assert board.contributors("trace-inference") == {"001", "002", "I1"}

    def test_strongest(self, board):
        assert board.strongest("a2") == ("I1",)
        assert board.strongest("c2") == ()
        tied = AttackBoard.of(
            "reid", RELEASES[:1], ["001"], ["I1"], {("bench", n): [0.5] for n in ("001", "I1")}
        )
        assert tied.strongest("bench") == ("001", "I1")

    def test_values_cannot_be_changed(self, board):
        with pytest.raises(ValueError, match="read-only"):
            board.values[0, 0] = 0

    def test_nothing_at_all(self):
        empty = AttackBoard.of("trace", [], [], [], {})
        assert empty.minimum() == {}
        assert empty.sums() == {}
        alone = AttackBoard.of("trace", [BoardRow("a", "001")], [], [], {})
        assert alone.minimum() == {"a": 1.0}

    @pytest.mark.parametrize(
        ("tries", "said"),
        [
            ({("a1", "001"): [0.5]}, "own release"),
            ({("a1", "077"): [0.5]}, "not here"),
            ({("zz", "001"): [0.5]}, "not here"),
            ({("bench", "001"): [1.5]}, "between 0 and 1"),
            ({("bench", "001"): [0.5, math.nan]}, "between 0 and 1"),
        ],
    )
    def test_refuses_scores(self, tries, said):
        with pytest.raises(InvalidParameter, match=said):
            AttackBoard.of("reid", RELEASES, ["001", "002"], [], tries)

    def test_refuses_doubles(self):
        with pytest.raises(InvalidParameter, match="twice"):
            AttackBoard.of("reid", RELEASES[:1] * 2, [], [], {})
        with pytest.raises(InvalidParameter, match="twice"):
            AttackBoard.of("reid", RELEASES[:1], ["001"], ["001"], {})

    def test_refuses_unknown_targets(self, board):
        with pytest.raises(InvalidParameter, match="trace-inference"):
            board.sums("some")


def both(reid: dict, trace: dict, releases=RELEASES, withdrawn=frozenset()) -> Scoreboard:
    teams = ["001", "002", "003", "009"]
    return Scoreboard(
        (
            AttackBoard.of("reid", releases, teams, [], reid),
            AttackBoard.of("trace", releases, teams, [], trace),
        ),
        withdrawn,
    )


class TestScoreboard:
    def test_total_with_two_challenges(self):
        found = both({("a1", "002"): [0.8], ("a2", "002"): [0.1]}, {("a2", "002"): [0.3]}).total()
        assert found["001"] == (0.8, 0.3)
        assert found["002"] == (0.0, 1.0)
        assert found["003"] == (0.0, 0.0)

    def test_total_with_one_challenge(self):
        rows = tuple(row for row in RELEASES if row.challenge == "trace")
        found = both({("a2", "002"): [0.4]}, {("a2", "002"): [0.3]}, rows)
        assert found.challenges == ("trace",)
        assert found.total()["001"] == (0.4, 0.3)

    def test_total_without_a_release(self):
        assert both({}, {}, RELEASES[:1]).total()["001"] == (0.0, 0.0)

    def test_teams_and_hors_concours(self):
        board = both({}, {}, withdrawn=frozenset({"002"}))
        assert board.teams == ("001", "002", "003", "009")
        assert board.hors_concours == {"002", "009"}

    def test_correlation_over_valid_releases_and_the_benchmark(self):
        reid = {("bench", "001"): [0.1], ("a2", "002"): [0.5], ("b2", "001"): [0.9]}
        trace = {("bench", "001"): [0.2], ("a2", "002"): [0.4], ("b2", "001"): [0.6]}
        board = both(reid | {("h2", "001"): [0.0]}, trace)
        found = board.correlation("trace-inference")
        assert found.pairs == 3
        assert found.value == pytest.approx(1.0)
        assert board.correlation().pairs == 4

    def test_refuses_boards_that_do_not_belong_together(self):
        board = both({}, {})
        with pytest.raises(InvalidParameter, match="one board of each kind"):
            Scoreboard((board.trace, board.reid))
        other = AttackBoard.of("trace", RELEASES[:2], [], [], {})
        with pytest.raises(InvalidParameter, match="same releases"):
            Scoreboard((board.reid, other))

    def test_refuses_two_releases_of_a_team_in_a_challenge(self):
        with pytest.raises(InvalidParameter, match="twice"):
            both({}, {}, (*RELEASES, BoardRow("again", "001", "trace")))


class TestRanks:
    def test_ties_share_a_rank(self):
        assert ranks({"a": 3, "b": 1, "c": 3, "d": 2}) == {"a": 1, "c": 1, "d": 3, "b": 4}
        assert ranks({"a": 3, "b": 1, "c": 3}, "lower") == {"b": 1, "a": 2, "c": 2}

    def test_rounding_is_a_tie(self):
        assert ranks({"a": 0.1 + 0.2, "b": 0.3})["b"] == 1
        assert ranks({"a": 0.3, "b": 0.3 - 1e-8})["b"] == 2

    def test_near_ties_do_not_chain(self):
        values = {"a": 0.0, "b": 0.8e-9, "c": 1.6e-9}
        assert ranks(values, "lower") == {"a": 1, "b": 1, "c": 3}

    def test_none(self):
        assert ranks({}) == {}
        with pytest.raises(InvalidParameter, match="finite"):
            ranks({"a": math.nan})

    @given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=12))
    def test_is_one_plus_the_number_of_better_ones(self, values):
        named = {f"t{k}": value for k, value in enumerate(values)}
        slow = {n: 1 + sum(other > v for other in values) for n, v in named.items()}
        assert ranks(named) == slow


class TestCombineRounds:
    def test_preliminary_and_nine_times_final(self):
        rounds = [{"a": 0.5, "b": 0.6}, {"a": 0.7, "c": 0.1}]
        found = combine_rounds(rounds, [1, 9], [0, 0])
        assert found == {"a": pytest.approx(6.8), "b": 0.6, "c": pytest.approx(0.9)}

    def test_who_is_absent(self):
        assert combine_rounds([{"a": 2.0}, {"b": 3.0}], [1, 9], [5, 7]) == {"a": 65.0, "b": 32.0}

    def test_needs_as_many(self):
        with pytest.raises(InvalidParameter, match="2 rounds"):
            combine_rounds([{}, {}], [1], [0, 0])


TEAMS = ("001", "002", "003", "004")


@st.composite
def matrices(draw):
    """Tries of four teams and a sample attack on each other's releases."""
    rows = [
        BoardRow(f"r{team}", team, "trace", valid=draw(st.booleans()) or team == "001")
        for team in TEAMS
    ]
    score = st.integers(0, 40).map(lambda k: k / 40)
    tries = {}
    for row in rows:
        for name in (*TEAMS, "I1"):
            if name != row.team:
                given = draw(st.lists(score, max_size=2))
                if given:
                    tries[row.name, name] = given
    return rows, tries


class TestProperties:
    @settings(max_examples=60)
    @given(matrices())
    def test_slow_twin(self, drawn):
        rows, tries = drawn
        board = AttackBoard.of("reid", rows, TEAMS, ["I1"], tries)
        for row in rows:
            cells = [min(tries[row.name, n]) for n in (*TEAMS, "I1") if (row.name, n) in tries]
            expected = (min(cells) if cells else 1.0) if row.valid else 0.0
            assert board.minimum()[row.name] == expected
        for name in (*TEAMS, "I1"):
            total = 0.0
            for row in rows:
                if row.valid and row.team != name:
                    total += min(tries.get((row.name, name), [1.0]))
            assert board.sums()[name] == pytest.approx(total, abs=1e-12)

    @settings(max_examples=60)
    @given(matrices(), st.lists(st.floats(0, 1), min_size=4, max_size=4))
    def test_another_attacker_never_raises_a_minimum(self, drawn, scores):
        rows, tries = drawn
        before = AttackBoard.of("reid", rows, TEAMS, ["I1"], tries).minimum()
        more = {(row.name, "new"): [s] for row, s in zip(rows, scores, strict=True)}
        after = AttackBoard.of("reid", rows, [*TEAMS, "new"], ["I1"], tries | more).minimum()
        assert all(after[name] <= before[name] for name in before)

    @settings(max_examples=60)
    @given(matrices(), st.floats(0, 1))
    def test_another_try_never_hurts_the_attacker(self, drawn, score):
        rows, tries = drawn
        before = AttackBoard.of("reid", rows, TEAMS, ["I1"], tries).sums()
        again = tries | {("r001", "002"): [*tries.get(("r001", "002"), []), score]}
        after = AttackBoard.of("reid", rows, TEAMS, ["I1"], again).sums()
        assert after["002"] <= before["002"]
        assert {n: v for n, v in after.items() if n != "002"} == {
            n: v for n, v in before.items() if n != "002"
        }

    @settings(max_examples=60)
    @given(matrices(), st.permutations(range(4)))
    def test_permuting_teams_permutes_ranks(self, drawn, order):
        rows, tries = drawn
        new = {team: TEAMS[k] for team, k in zip(TEAMS, order, strict=True)} | {"I1": "I1"}
        renamed = sorted(
            (BoardRow(f"r{new[row.team]}", new[row.team], "trace", row.valid) for row in rows),
            key=lambda row: row.name,
        )
        moved = {(f"r{new[r[1:]]}", new[n]): scores for (r, n), scores in tries.items()}
        first = AttackBoard.of("reid", rows, TEAMS, ["I1"], tries)
        second = AttackBoard.of("reid", renamed, TEAMS, ["I1"], moved)
        for one, two in (
            (ranks(first.sums(), "lower"), ranks(second.sums(), "lower")),
            (
                {name[1:]: rank for name, rank in ranks(first.minimum()).items()},
                {name[1:]: rank for name, rank in ranks(second.minimum()).items()},
            ),
        ):
            assert {new[team]: rank for team, rank in one.items()} == two

    def test_sums_are_added_row_by_row(self):
        rng = np.random.default_rng(5)
        rows = [BoardRow(f"r{k}", f"{k:03d}") for k in range(40)]
        scores = rng.random(40)
        tries = {(row.name, "I1"): [float(s)] for row, s in zip(rows, scores, strict=True)}
        total = 0.0
        for score in scores:
            total += float(score)
        assert AttackBoard.of("reid", rows, [], ["I1"], tries).sums()["I1"] == total
