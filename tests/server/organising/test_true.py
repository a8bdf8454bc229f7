"""What is shown is true: floors that change, publications that wait, teams that are out."""

from __future__ import annotations

import math
import re

import pytest
from tests.server.conftest import RULES

from tracecup.contest.rules import PHASES
from tracecup.server import clock
from tracecup.server.access import Actor, role_of
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Announcement, ResultSet, Round, Submission
from tracecup.server.organising import contests, rulechange, running
from tracecup.server.organising.data import run_page
from tracecup.server.organising.data_scores import dry_run
from tracecup.server.results.certificates import certificates_of
from tracecup.server.results.data import results_page, table
from tracecup.server.resultsets import overall
from tracecup.server.submissions import choices
from tracecup.server.submissions.choices import counting
from tracecup.server.submissions.data import attack_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("city_is_read_once")]


@pytest.fixture
def actor(organiser):
    return Actor(organiser, "page")


def with_floor(contest, floor):
    assert "utility_floor" not in contest.rules_text
    return contest.rules_text.replace("[limits]", f"[scores]\nutility_floor = {floor}\n[limits]")


class TestFloor:
    def test_verdicts_and_what_counts_follow_it(self, desk, team, contest, actor):
        good, poor = (desk.hand_in(team, desk.release(team, k)).submission for k in (1, 6))
        assert counting(desk.round, team, "trace").ref == poor.ref
        rulechange.change_rules(contest, with_floor(contest, 0.8), actor, "more use")
        poor.refresh_from_db()
        assert (poor.valid, poor.reason) == (False, "utility 0.750000 is below the floor 0.8")
        assert counting(desk.round, team, "trace").ref == good.ref
        [row] = [one for one in dry_run(Round.objects.get(pk=desk.round.pk)) if one.team == 1]
        assert (row.valid, row.submission) == (True, good.ref)

    def test_files_at_the_floor_itself_are_not_counted_as_changing(self, desk, team, contest):
        desk.hand_in(team, desk.release(team, 6))
        Submission.objects.update(score=0.8 - 1e-12)
        plan = rulechange.plan_rules(contest, with_floor(contest, 0.8))
        assert plan.effects[0].sentence.startswith("0 releases")

    def test_teams_are_told(self, contest, team, actor, client):
        rulechange.change_rules(contest, with_floor(contest, 0.8), actor, "more use")
        told = Announcement.objects.get()
        assert told.title == "The rules have changed"
        assert "Floor of utility: 0.7 → 0.8" in told.text
        client.force_login(team.members.get().person)
        assert "Floor of utility: 0.7" in client.get(f"/c/{contest.slug}/team/").content.decode()

    def test_another_measure_is_computed_at_once(self, desk, team, actor):
        made = desk.hand_in(team, desk.release(team, moved=3)).submission
        assert made.score == pytest.approx(1 - 3 / 24)
        scores = "[scores]\nlambda_u = 0.01\n[[rounds]]"
        text = desk.contest.rules_text.replace("[[rounds]]", scores, 1)
        Submission.objects.update(score=0.5)  # nobody computes this by either measure
        rulechange.change_rules(desk.contest, text, actor, "nearer")
        drain()
        made.refresh_from_db()
        assert made.score == pytest.approx(1 - 3 / 24)

    def test_of_a_moved_deadline_too(self, contest, final, team, actor):
        later = final.rules.phases.judge + (final.rules.phases.judge - final.rules.phases.anonymize)
        running.move_deadline(final, "anonymize", later, actor, "a storm")
        assert Announcement.objects.get().title == "Deadlines have changed"


class TestNothingNeedsYou:
    def all_right(self, court, organiser):
        return run_page(role_of(court.contest, organiser)).all_right

    def test_not_above_what_waits_for_an_organiser(self, court, organiser, actor):
        court.begin().hand_in_all()
        assert self.all_right(court, organiser)
        contests.set_auto_publish(court.round, False, actor, "we look first")
        court.at("attack")
        drain()
        assert not self.all_right(court.fresh(), organiser)

    def test_nor_above_a_pause(self, court, organiser, actor):
        running.pause(court.contest, actor, "a fire")
        assert not self.all_right(court, organiser)


class TestDisqualified:
    def test_a_winner_leaves_awards_at_once(self, court, organiser, actor, client):
        court.to_results()
        role = role_of(court.contest, organiser)
        before = {one.key: one for one in results_page(role, court.round).board.awards}
        key, award = next((key, one) for key, one in before.items() if len(one.places) > 1)
        winner = award.places[0]
        team = court.teams[int(winner.team)]
        assert run_page(role).all_right
        contests.set_status(team, "disqualified", "two accounts", actor)
        after = {one.key: one for one in results_page(role, court.round).board.awards}[key]
        assert winner.team not in [one.team for one in after.places]
        assert after.places[0].rank == 1
        assert (winner.team, "disqualified") in [(one.team, one.reason) for one in after.excluded]
        assert not run_page(role).all_right
        assert certificates_of(team) == []
        rows = table(role, court.round, "awards").rows()
        assert all(row["rank"] is None for row in rows if row["team"].endswith(winner.team))
        assert winner.team not in overall(court.contest)[key].winners
        text = client.get(f"/c/{court.contest.slug}/results/").content.decode()
        assert f"{team.name} (disqualified)" in text

    def test_it_has_no_open_form(self, desk, team, actor, client):
        client.force_login(team.members.get().person)
        address = "/c/spring/team/release/"
        assert 'type="file"' in client.get(address).content.decode()
        contests.set_status(team, "disqualified", "two accounts", actor)
        text = client.get(address).content.decode()
        assert 'type="file"' not in text
        assert "two accounts" in text


class TestReasons:
    def test_none_is_empty(self, court):
        court.begin().hand_in(1, court.release(1))
        reasons = {one.team: one.reason for one in dry_run(court.round)}
        assert reasons[4] == "nothing was handed in"
        assert all(reasons.values())


class TestForms:
    def test_an_error_stands_in_one_place_and_names_no_line(self, contest, organiser, client):
        """The five times are five fields; the text of the rules behind them has lines."""
        client.force_login(organiser)
        times = {
            phase: f"2030-04-0{day} 09:00:00"
            for phase, day in zip(PHASES, (1, 2, 7, 4, 5), strict=True)
        }
        form = {"act": "phases", **times, "why": "wrong order"}
        text = client.post(f"/c/{contest.slug}/run/settings/", form).content.decode()
        assert text.count("The phases would no longer follow one another.") == 1
        assert "bad place" not in text
        assert text.count("a time after judge") == 1

    def test_a_description_survives_a_refusal(self, desk, team, client):
        client.force_login(team.members.get().person)
        with desk.release(team, 12).open("rb") as file:
            form = {"action": "submit", "challenge": "trace", "key": "k", "method": "Swapped days."}
            text = client.post("/c/spring/team/release/", {**form, "file": file}).content.decode()
        assert "Below the floor" in text
        assert "Swapped days." in text


class TestCounts:
    def test_what_no_try_is_left_for_is_not_missing(self, desk, team, attackable, client):
        person = team.members.get().person
        role = role_of(desk.contest, person)
        before = attack_page(role, desk.round).missing
        for first in (1, 2):
            made = desk.answer(team, 2, desk.table(first)).submission
            choices.withdraw(made, Actor(person, "page"))
        assert attack_page(role, desk.round).missing == before - 1

    def test_bits_are_those_of_the_feedback_that_holds(self, desk, team, attackable):
        """With the results out the page told exact scores, and 0.0 bits for each of them."""
        role = role_of(desk.contest, team.members.get().person)
        assert attack_page(role, desk.round).bits_an_answer == {"reid": 0.0, "trace": 0.0}
        desk.round.released_at = clock.now()
        page = attack_page(role, desk.round)
        assert page.policy == "exact"
        assert page.bits_an_answer["reid"] == pytest.approx(math.log2(25))

    def test_a_rejected_answer_is_no_try_of_number_0(self, desk, team, attackable, client):
        desk.answer(team, 2, b"nonsense")
        client.force_login(team.members.get().person)
        assert "try 0" not in client.get("/c/spring/team/attack/").content.decode()

    def test_attackers_stand_by_what_they_left(self, court, client):
        court.to_results()
        text = client.get(f"/c/{court.contest.slug}/results/").content.decode()
        shown = text[text.index('id="attackers"') :]
        sums = [float(one) for one in re.findall(r'<td class="number">(\d\.\d{3})</td>', shown)]
        half = len(sums) // 2
        assert half > 1
        assert sums[:half] == sorted(sums[:half])


class TestRounds:
    def test_a_round_without_results_does_not_deny_those_of_another(
        self, new_contest, organiser, client
    ):
        first, rest = RULES.split("[[rounds]]")
        rules = f"{first}[[rounds]]{rest}[[rounds]]{rest.replace('final', 'second')}".replace(
            "2030-04", "2030-05", 5
        )
        contest = new_contest("two", rules.replace("2030-05", "2030-03", 5))
        done = contest.rounds.first()
        Round.objects.filter(pk=done.pk).update(released_at=clock.now(), closed_at=clock.now())
        ResultSet.objects.create(
            round=done, number=1, state="published", scorer="x", inputs_sha256="", seconds=0.0,
            created_at=clock.now(), summary={},
        )  # fmt: skip
        other = contest.rounds.last()
        page = results_page(role_of(contest, organiser), other)
        assert (page.board, page.other_rounds) == (None, [done.name])
        text = client.get(f"/c/two/results/?round={other.name}").content.decode()
        assert f"No results of round {other.name} yet" in text
        assert f"Results of round {done.name}" in text
