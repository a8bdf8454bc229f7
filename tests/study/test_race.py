"""The studies that train: their tables and pictures; what they train is in test_racing."""

from __future__ import annotations

import pytest

from tracecup.errors import InvalidParameter
from tracecup.plot import album
from tracecup.study import knowledge, race
from tracecup.study.context import Context
from tracecup.study.knowledge import KNOWS, NEVER, OTHERS
from tracecup.study.race import EXACT, MOVES, RICHER, SCRATCH
from tracecup.study.replay import RETRAINED
from tracecup.study.reproduce import Record, choose
from tracecup.study.results import BUILT_IN, StudyResult, Table


def attacker(said: str, teams: int, days: int, reid: float, trace: float) -> dict[str, object]:
    return {
        "what": said, "attacker": said, "whole": (teams, days) == (3, 8), "teams": teams,
        "days": days, "s_R": [reid, reid], "s_T": [trace, trace + 0.02], "seconds": 1.0,
    }  # fmt: skip


def played(number: int, who: str, reid: float, trace: float) -> dict[str, object]:
    verdict = {"reid": reid, "argmax": 1.0, "trace": trace, "prior": 0.7, "true_link": 0.4}
    if number == 1 or who == EXACT:
        verdict = {"reid": reid}
    return {
        "number": number, "attacker": who, "utility": [0.7, 0.71], "earlier": [0.99, 0.97],
        "verdicts": [verdict, verdict], "what": f"round {number}", "seconds": 2.0,
    }  # fmt: skip


LEARNED = [
    attacker(NEVER, 3, 8, 0.5, 0.55),
    attacker(OTHERS, 3, 8, 0.2, 0.3),
    attacker(KNOWS, 3, 8, 0.1, 0.3),
    attacker(KNOWS, 1, 8, 0.4, 0.5),
    attacker(KNOWS, 3, 4, 0.3, 0.4),
]
PLAYED = [
    played(1, RETRAINED, 0.02, 0.45),
    played(2, RETRAINED, 0.85, 0.69),
    played(2, EXACT, 0.74, 0.0),
    played(2, SCRATCH, 0.8, 0.7),
    played(2, MOVES, 0.74, 0.64),
    played(2, RICHER, 0.7, 0.66),
]


def learned() -> StudyResult:
    return StudyResult(
        BUILT_IN,
        {
            "attackers": Table.of(knowledge.ATTACKERS, map(knowledge._attacker, LEARNED)),
            "goals": Table.of(knowledge.GOALS, knowledge._goals(LEARNED)),
        },
    )


def raced() -> StudyResult:
    return StudyResult(
        BUILT_IN,
        {
            "rounds": Table.of(race.ROUNDS, map(race._round, PLAYED)),
            "goals": Table.of(race.GOALS, race._goals(PLAYED)),
        },
    )


class TestTables:
    def test_rounds_by_hand(self):
        row = raced().tables["rounds"].row(round=2, attacker=RETRAINED)
        assert (row["s_R"], row["low"], row["high"]) == (0.85, 0.85, 0.85)
        assert (row["s_U"], row["prior only"], row["true link"]) == pytest.approx((0.705, 0.7, 0.4))
        assert row["earlier attackers, least s_R"] == 0.97

    def test_of_attackers_from_the_file_only_links_are_known(self):
        row = raced().tables["rounds"].row(round=1)
        assert (row["s_U"], row["s_R"]) == pytest.approx((0.705, 0.02))
        assert (row["s_T"], row["prior only"], row["earlier attackers, least s_R"]) == (None,) * 3

    def test_goals_say_what_was_met(self):
        met = {
            (row["item"], row["score"]): row["met"]
            for result in (learned(), raced())
            for row in result.tables["goals"].records()
        }
        assert met[f"KMeans(100), learned, {KNOWS}", "s_R"] is True
        assert met[f"KMeans(100), learned, {KNOWS}", "s_T"] is False  # 0.31
        assert met[f"KMeans(100), learned, {NEVER}", "s_T"] is True
        assert met[f"last defence, attacker {RETRAINED}", "s_R"] is True
        assert met[f"last defence, attacker {EXACT}", "s_R"] is False
        assert (f"last defence, attacker {EXACT}", "prior only - s_T") not in met
        assert met[f"last defence, attacker {SCRATCH}", "prior only - s_T"] is True
        assert met[f"last defence, attacker {MOVES}", "s_R"] is False
        assert met[f"last defence, attacker {MOVES}", "prior only - s_T"] is False
        assert met[f"last defence, attacker {RICHER}", "prior only - s_T"] is True

    def test_goals_of_time_are_of_what_was_trained_here(self):
        rows = race._goals([*PLAYED, played(3, RETRAINED, 0.8, 0.69) | {"seconds": 130.0}])
        # Round 1 was only judged again, and attackers on the last defence are no round.
        assert rows[-1] == (
            "a round of the race", "seconds", "<= 120", 66.0, 2.0, 130.0, "slowest of 2", False,
        )  # fmt: skip
        took = learned().tables["goals"].records()[-1]
        assert (took["score"], took["goal"], took["by"]) == ("seconds", "<= 180", "slowest of 3")
        assert (took["mean"], took["met"]) == (1.0, True)

    def test_pictures_are_drawn(self):
        (rounds,) = album.draw(Record("race", raced(), 1, True, 0.0))
        assert (rounds.name, "0.85 and 0.69" in rounds.alt) == ("rounds", True)
        (attackers,) = album.draw(Record("knowledge", learned(), 1, True, 0.0))
        assert (attackers.name, "0.10 and 0.31" in attackers.alt) == ("attackers", True)

    @pytest.mark.parametrize("study", [race, knowledge])
    def test_what_is_asked_for_replaces_its_own_numbers(self, study):
        size = study.size_of(Context(quick=True, asked_users=20, asked_teams=4))
        assert (size.users, size.batch, size.tests) == (20, 20, 4)
        assert study.size_of(Context()) == study.FULL


class TestWithoutJax:
    def test_says_what_to_install(self, monkeypatch):
        monkeypatch.setattr(Context, "has", lambda self, need: need != "learn")
        with pytest.raises(InvalidParameter, match=r"race needs JAX .*tracecup\[learn\]\)$"):
            choose(["race"], Context())
        chosen, left_out = choose(["all"], Context())
        assert "race" not in {one.id for one in chosen}
        assert any("race needs JAX" in text for text in left_out)
