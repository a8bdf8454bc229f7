from __future__ import annotations

from dataclasses import replace

import pytest

from made_up import board_of
from tracecup.contest.correlation import Correlation
from tracecup.facts import AttackerFacts, ContestFacts, ReleaseFacts
from tracecup.report.lessons import Point, leave_one_out, lessons


def contest(*rows, users=2000, ceiling=None):
    """Releases as (label, obfuscation, s_R,min, s_T,min)."""
    statuses = {"000": "benchmark", "Cheat": "hors concours"}
    releases = [
        ReleaseFacts(
            label,
            label,
            statuses.get(label, "team"),
            method=obfuscation,
            reid_min=reid,
            trace_min=trace,
            ceiling=ceiling,
        )
        for label, obfuscation, reid, trace in rows
    ]
    reid, trace = ([(row[k],) for row in rows] for k in (2, 3))
    return ContestFacts(
        "C", "", users, (), board_of(releases, [AttackerFacts("A", "A")], reid, trace)
    )


PAPER_LIKE = (
    ("000", "None", 0.05, 0.10),
    ("001", "RR(4)", 0.40, 0.35),
    ("002", "PL(4,1)", 0.60, 0.50),
    ("003", "KMeans(8)", 0.90, 0.70),
)


def said(*rows, users=2000):
    return " ".join(lessons(contest(*rows, users=users)))


class TestLessons:
    def test_the_benchmark_shows_what_pseudonyms_are_worth(self):
        assert "matched 95% of its users" in said(*PAPER_LIKE)

    def test_cheating_as_in_the_paper(self):
        text = said(*PAPER_LIKE, ("Cheat", "Cheat(1)", 0.999, 0.12))
        assert "secure against re-identification, where attackers can only guess" in text

    def test_a_few_lucky_guesses_are_no_leak(self):
        text = said(*PAPER_LIKE, ("Cheat", "Cheat(1)", 0.95, 0.12), users=100)
        assert "secure against re-identification" in text

    def test_more_than_luck_is_a_leak(self):
        text = said(*PAPER_LIKE, ("Cheat", "Cheat(1)", 0.94, 0.12), users=100)
        assert "does not show it" in text

    def test_cheating_that_resists_more_than_the_paper_says(self):
        text = said(*PAPER_LIKE, ("Cheat", "Cheat(1)", 0.999, 0.30))
        assert "0.200 above the benchmark" in text
        assert "can only guess" not in text

    def test_cheating_that_is_found_out(self):
        text = said(*PAPER_LIKE, ("Cheat", "Cheat(0.2)", 0.4, 0.12))
        assert "does not show it" in text

    def test_without_cheating_nothing_is_said_of_it(self):
        assert "Cheating" not in said(*PAPER_LIKE)

    def test_a_strong_correlation(self):
        text = said(*PAPER_LIKE)
        assert "first have to find the right pseudonym" in text
        assert "exception" not in text

    def test_a_team_that_cheats_in_earnest_is_the_exception(self):
        text = said(*PAPER_LIKE, ("009", "Cheat(0.3)", 0.3, 0.1))
        assert "Cheating is the exception (009): without it R would be 1.000." in text

    def test_a_weak_correlation_names_the_release_that_spoils_it(self):
        text = said(*PAPER_LIKE, ("009", "Odd(1)", 0.95, 0.05))
        assert "That is below 0.7" in text
        assert "without 009 (Odd(1)), which has 0.950 and 0.050, it would be 1.000" in text

    def test_a_weak_correlation_without_a_culprit(self):
        rows = (("000", "None", 0.1, 0.5), ("001", "A", 0.9, 0.5), ("002", "B", 0.5, 0.1),
                ("003", "C", 0.5, 0.9), ("004", "D", 0.3, 0.7), ("005", "E", 0.7, 0.3))  # fmt: skip
        assert "No single release accounts for it" in said(*rows)

    def test_scores_close_together(self):
        rows = (("000", "None", 0.50, 0.5), ("001", "A", 0.51, 0.9), ("002", "B", 0.52, 0.1),
                ("003", "C", 0.53, 0.9), ("004", "D", 0.54, 0.2))  # fmt: skip
        assert "lie close together (s_R,min within 0.040" in said(*rows)

    def test_many_releases_where_everybody_was_found(self):
        rows = (("000", "None", 0.0, 0.1), ("001", "A", 0.0, 0.5), ("002", "B", 0.01, 0.3),
                ("003", "C", 0.6, 0.2), ("004", "D", 0.3, 0.3))  # fmt: skip
        assert "In 3 of 5 releases nearly everybody was re-identified" in said(*rows)

    def test_many_releases_at_the_ceiling(self):
        rows = (("000", "None", 0.1, 0.1), ("001", "A", 0.9, 0.3), ("002", "B", 0.2, 0.5),
                ("003", "C", 0.5, 0.49), ("004", "D", 0.3, 0.48),
                ("005", "E", 0.8, 0.2))  # fmt: skip
        facts = contest(*rows, ceiling=0.5)
        assert "In 3 of 6 releases s_T,min is about what an attacker who never saw" in " ".join(
            lessons(facts)
        )

    def test_too_few_for_a_correlation(self):
        rows = (("000", "None", 0.1, 0.5), ("001", "A", 0.9, 0.4))
        assert "So few releases" in said(*rows)

    def test_no_correlation_no_sentence(self):
        facts = contest(*PAPER_LIKE)
        board = replace(facts.board, correlation=Correlation(None, None, None, 1, 0.95))
        facts = replace(facts, board=board)
        assert "correlate" not in " ".join(lessons(facts))

    def test_a_hostile_obfuscation_is_escaped(self):
        text = said(*PAPER_LIKE, ("Cheat", "Cheat(<script>)", 0.999, 0.12))
        assert "<script>" not in text
        assert "Cheat(&lt;script&gt;)" in text


class TestLeaveOneOut:
    def test_by_hand(self):
        line = [Point(ReleaseFacts(str(k), "n"), k / 10, k / 10) for k in range(4)]
        odd = Point(ReleaseFacts("odd", "n"), 0.9, 0.0)
        found = leave_one_out([*line, odd])
        assert found is not None
        assert found[0] is odd
        assert found[1] == pytest.approx(1.0)

    def test_three_are_too_few(self):
        assert (
            leave_one_out([Point(ReleaseFacts(str(k), "n"), k / 10, k / 10) for k in range(3)])
            is None
        )
