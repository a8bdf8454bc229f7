"""Feedback: what each policy tells, how many bits that is, and that frozen boards tell nothing."""

from __future__ import annotations

import math

import pytest
from tests.server.conftest import with_rules

from tracecup.contest.rules import FeedbackRules, Rules
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Release
from tracecup.server.submissions import feedback

pytestmark = pytest.mark.django_db


@pytest.fixture
def played(court):
    """A court in the attack phase with a scored answer, by policy."""

    def play(policy: str):
        with_rules(court.contest, feedback=FeedbackRules(policy=policy))
        court.to_attack()
        given = court.attack(1, 2, "trace", what=100)
        drain()
        given.refresh_from_db()
        given.round = court.fresh().round
        return court, given

    return play


class TestFeedback:
    def test_none(self, played):
        _, given = played("none")
        told = feedback.feedback(given)
        assert (told.policy, told.shown, told.bits, told.left) == ("none", None, 0.0, 1)

    def test_bands(self, played):
        _, given = played("bands")
        told = feedback.feedback(given)
        low, high = (float(edge) for edge in told.shown.split("–"))
        assert low <= given.score <= high
        assert high - low == 0.25
        assert told.bits == 2

    def test_exact(self, played):
        _, given = played("exact")
        told = feedback.feedback(given)
        assert float(told.shown) == pytest.approx(given.score, abs=5e-7)
        assert told.bits == pytest.approx(math.log2(10**6 + 1))

    def test_frozen_tells_nothing(self, played):
        court, given = played("exact")
        given.round.frozen = True
        assert feedback.feedback(given).shown is None
        assert feedback.feedback(given).bits == 0
        assert feedback.defence_row(given.round, court.teams[2]) == []

    def test_queued_answer_tells_nothing(self, court):
        with_rules(court.contest, feedback=FeedbackRules(policy="exact"))
        court.to_attack()
        given = court.attack(1, 2)
        assert feedback.feedback(given).shown is None

    def test_score_when_results_are_out(self, played):
        court, given = played("none")
        court.at("results")
        drain()
        given.round = court.fresh().round
        assert float(feedback.feedback(given).shown) == pytest.approx(given.score, abs=5e-7)


class TestTold:
    @pytest.mark.parametrize(
        ("score", "band"),
        [
            (0.0, "0–0.25"),
            (0.25, "0.25–0.5"),
            (0.74, "0.5–0.75"),
            (0.75, "0.75–1"),
            (1.0, "0.75–1"),
        ],
    )
    def test_bands_meet_at_the_upper_one(self, score, band):
        assert feedback.told("bands", FeedbackRules(), score) == band


class TestBits:
    def test_reid_has_as_many_values_as_users_and_one(self):
        assert feedback.bits("exact", Rules(users=3), "reid") == 2

    def test_budget_per_target(self, court):
        with_rules(court.contest, feedback=FeedbackRules(policy="bands"))
        said = feedback.budget(court.round)
        assert said["per_target"] == {"reid": 4.0, "trace": 4.0}


class TestDefenceRow:
    def test_only_samples_before_the_results(self, played):
        court, _ = played("exact")
        hurt = feedback.defence_row(court.round, court.teams[2])
        assert {one.attacker for one in hurt} == {"I1", "I2", "I3", "T1", "T2", "T3"}
        row = Release.objects.get(team=court.teams[2])
        lowest = min(score["score"] for score in row.scores.values())
        assert float(hurt[0].shown) == pytest.approx(lowest, abs=5e-7)

    def test_bands_hide_the_order_within(self, played):
        court, _ = played("bands")
        hurt = feedback.defence_row(court.round, court.teams[2])
        assert [(one.shown, one.attacker) for one in hurt] == sorted(
            (one.shown, one.attacker) for one in hurt
        )

    def test_nothing_with_the_policy_none(self, played):
        court, _ = played("none")
        assert feedback.defence_row(court.round, court.teams[2]) == []

    def test_everything_after_the_results(self, played):
        court, given = played("none")
        court.at("results")
        drain()
        hurt = feedback.defence_row(court.fresh().round, court.teams[2])
        mine = [one for one in hurt if one.attacker == "team001"]
        assert [float(one.shown) for one in mine] == [pytest.approx(given.score, abs=5e-7)]
        assert len(hurt) == 7
