"""The awards on toys done by hand: winners, ties, exclusions, rounds."""

from __future__ import annotations

import pytest

from tracecup.contest.rules import AwardRules
from tracecup.contest.standing.awards import AWARDS, Place, give_awards
from tracecup.contest.standing.scoreboard import AttackBoard, BoardRow, Scoreboard
from tracecup.errors import InvalidParameter

TEAMS = ("001", "002", "003")
BENCH = BoardRow("bench", "000", "reid", benchmark=True)


def board(reid: dict, trace: dict, releases=None, withdrawn=frozenset()) -> Scoreboard:
    """Three teams with a trace-inference release each, called by their last digit."""
    rows = releases or (BENCH, *(BoardRow(team[-1], team) for team in TEAMS))
    return Scoreboard(
        tuple(AttackBoard.of(kind, rows, TEAMS, [], {k: [v] for k, v in tries.items()})
              for kind, tries in (("reid", reid), ("trace", trace))),
        withdrawn,
    )  # fmt: skip


REID = {("bench", "001"): 0.2, ("bench", "002"): 0.3, ("1", "002"): 0.9, ("2", "001"): 0.8}
TRACE = {("bench", "003"): 0.1, ("1", "003"): 0.6, ("2", "003"): 0.7, ("3", "001"): 0.4}


class TestOneRound:
    def test_defence(self):
        award = give_awards(board(REID, TRACE))["best_anonymization_trace"]
        assert award.places == (Place(1, "002", 0.7), Place(2, "001", 0.6), Place(3, "003", 0.4))
        assert award.winners == ("002",)
        assert not award.tied
        assert str(award) == "Best anonymization (trace inference): 002 with 0.700000"

    def test_attack(self):
        # 001: 0.2 + own + 0.8 + 1; 002: 0.3 + 0.9 + own + 1; 003 did nothing there
        award = give_awards(board(REID, TRACE))["best_reidentification"]
        assert [(p.team, p.value) for p in award.places] == [
            ("001", pytest.approx(2.0)),
            ("002", pytest.approx(2.2)),
        ]
        assert award.excluded == {"003": "brought no score below 1"}

    def test_overall_is_the_sum_of_the_minima(self):
        award = give_awards(board(REID, TRACE))["overall"]
        assert [(p.team, p.value) for p in award.places] == [
            ("001", pytest.approx(1.5)),
            ("002", pytest.approx(1.5)),
            ("003", pytest.approx(1.4)),
        ]
        assert award.winners == ("001", "002")
        assert award.tied
        assert str(award).endswith("(tie)")

    def test_one_challenge_has_four_awards_two_have_five(self):
        assert list(give_awards(board(REID, TRACE))) == [k for k in AWARDS if k[-4:] != "reid"]
        rows = (BENCH, BoardRow("1", "001", "reid"), BoardRow("2", "002", "trace"))
        assert list(give_awards(board({}, {}, rows))) == list(AWARDS)

    def test_the_benchmark_wins_nothing(self):
        awards = give_awards(board(REID, {("1", "002"): 0.5}))
        for award in awards.values():
            assert "000" not in {place.team for place in award.places} | set(award.excluded)

    def test_nobody(self):
        awards = give_awards(board({}, {}, (BoardRow("1", "001", valid=False),)))
        assert all(award.winners == () for award in awards.values())
        assert str(awards["overall"]) == "Overall: nobody"

    def test_an_invalid_release_wins_nothing(self):
        rows = (BENCH, BoardRow("1", "001", valid=False), BoardRow("2", "002"))
        award = give_awards(board({}, {("2", "001"): 0.0}, rows))["best_anonymization_trace"]
        assert award.winners == ("002",)
        assert award.excluded == {"001": "no valid release", "003": "no valid release"}

    def test_needs_a_round(self):
        with pytest.raises(InvalidParameter, match="round"):
            give_awards([])


class TestTargets:
    ROWS = (BENCH, BoardRow("1", "001", "reid"), BoardRow("2", "002", "trace"))
    TRIES = {("bench", "003"): 0.5, ("1", "002"): 0.0, ("2", "003"): 0.9}  # noqa: RUF012  a constant

    def test_paper_leaves_the_other_challenge_out(self):
        award = give_awards(board(self.TRIES, {}, self.ROWS))["best_reidentification"]
        assert [(p.team, p.value) for p in award.places] == [("003", pytest.approx(1.4))]
        assert award.excluded["002"] == "brought no score below 1"

    def test_2019_counts_all(self):
        award = give_awards(board(self.TRIES, {}, self.ROWS), AwardRules("all"))
        assert [(p.team, p.value) for p in award["best_reidentification"].places] == [
            ("002", pytest.approx(1.0)),
            ("003", pytest.approx(2.4)),
        ]


class TestExclusions:
    def test_winner_of_anonymization(self):
        trace = TRACE | {("bench", "002"): 0.0, ("1", "002"): 0.7, ("3", "002"): 0.5}
        usual = give_awards(board(REID, trace))
        assert usual["best_anonymization_trace"].winners == ("002",)
        assert usual["best_trace_inference"].winners == ("002",)
        barred = give_awards(board(REID, trace), AwardRules(winner_excluded=True))
        assert barred["best_trace_inference"].winners == ("003",)
        assert barred["best_trace_inference"].excluded["002"] == "won best anonymization"
        assert barred["overall"].winners == usual["overall"].winners

    def test_hors_concours_wins_nothing_and_is_no_target(self):
        rows = (
            BENCH,
            BoardRow("1", "001"),
            BoardRow("2", "002", valid=False, hors_concours=True),
            BoardRow("3", "003"),
        )
        reid = {("2", "001"): 0.99, ("1", "002"): 0.0, ("bench", "003"): 0.9}
        awards = give_awards(board(reid, {}, rows))
        for award in awards.values():
            assert award.excluded["002"] == "hors concours"
        assert awards["best_reidentification"].places == (Place(1, "003", pytest.approx(1.9)),)

    def test_hors_concours_without_a_release(self):
        awards = give_awards(board(REID, TRACE, withdrawn=frozenset({"001"})))
        assert awards["best_reidentification"].winners == ("002",)


class TestRounds:
    def test_preliminary_and_nine_times_final(self):
        first = board({}, {("1", "002"): 0.5, ("2", "001"): 0.9, ("3", "001"): 0.1})
        second = board({}, {("1", "002"): 0.6, ("2", "001"): 0.5, ("3", "001"): 0.1})
        award = give_awards([(1, first), (9, second)])["best_anonymization_trace"]
        assert [(p.team, p.value) for p in award.places] == [
            ("001", pytest.approx(5.9)),
            ("002", pytest.approx(5.4)),
            ("003", pytest.approx(1.0)),
        ]

    def test_a_round_without_a_release_counts_zero(self):
        first = board({}, {}, (BENCH, BoardRow("1", "001")))
        second = board({}, {}, (BENCH, BoardRow("2", "002")))
        award = give_awards([(1, first), (9, second)])["best_anonymization_trace"]
        assert [(p.team, p.value) for p in award.places] == [("002", 9.0), ("001", 1.0)]

    def test_an_attacker_who_came_late_is_charged_every_target(self):
        rows = (BENCH, BoardRow("1", "001"))
        late = Scoreboard(
            (
                AttackBoard.of("reid", rows, ["002"], [], {("1", "002"): [0.5]}),
                AttackBoard.of("trace", rows, ["002"], [], {}),
            )
        )
        both = Scoreboard(
            (
                AttackBoard.of("reid", rows, ["002", "003"], [], {("1", "003"): [0.1]}),
                AttackBoard.of("trace", rows, ["002", "003"], [], {}),
            )
        )
        award = give_awards([(1, late), (1, both)])["best_reidentification"]
        assert [(p.team, p.value) for p in award.places] == [
            ("003", pytest.approx(2 + 1.1)),
            ("002", pytest.approx(1.5 + 2)),
        ]

    def test_one_weighted_round_ranks_like_the_round_alone(self):
        alone = give_awards(board(REID, TRACE))
        weighted = give_awards([(9, board(REID, TRACE))])
        for key, award in alone.items():
            assert [p.team for p in award.places] == [p.team for p in weighted[key].places]
