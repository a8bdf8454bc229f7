"""What organisers do: create, clone, change rules, pause, extend, announce, decide, undo."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from smtplib import SMTPRecipientsRefused

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.utils import translation

from tracecup.contest.rules import FeedbackRules, LessonRules, LimitRules, Rules
from tracecup.contest.rules.file import parse_rules, rules_text
from tracecup.server import clock, windows
from tracecup.server.access import Actor
from tracecup.server.auditlog import check_chain
from tracecup.server.errors import Refused
from tracecup.server.models import (
    Contest,
    Extension,
    LogEntry,
    Person,
    Round,
    Submission,
)
from tracecup.server.organising import (
    contests,
    rulechange,
    rulewords,
    running,
)
from tracecup.server.organising.rulechange import history, shown_span
from tracecup.server.organising.ruletext import instants_of, renamed, with_instants
from tracecup.server.teams import mailing, messages

pytestmark = pytest.mark.django_db
DEADLINE = datetime(2030, 4, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)
TIMES = {
    phase: DEADLINE + k * HOUR
    for k, phase in enumerate(("announce", "anonymize", "judge", "attack", "results"))
}


@pytest.fixture
def actor(organiser):
    return Actor(organiser, "page")


@pytest.fixture
def queued(monkeypatch):
    """Jobs that were asked for, without a queue."""
    found = []

    def enqueue(kind, key, payload, **more):
        found.append((kind, key, payload))

    monkeypatch.setattr(mailing, "enqueue", enqueue)
    return found


def changed(contest, old, new):
    assert old in contest.rules_text
    return contest.rules_text.replace(old, new)


@contextmanager
def refused(code):
    with pytest.raises(Refused) as found:
        yield found
    assert found.value.code == code


class TestRuleText:
    TEXT = """# our spring contest
zone = "Asia/Tokyo"
[[rounds]]
name = "first"  # warm-up
[rounds.phases]
announce = 2030-04-01 09:00:00
anonymize = 2030-04-02T09:00:00 # opens
judge = 2030-04-03T09:00:00
attack = 2030-04-04T09:00:00
results = 2030-04-05T09:00:00
"""

    def test_an_instant_is_replaced_in_its_place(self):
        later = datetime(2030, 4, 2, 3, tzinfo=UTC)
        text = with_instants(self.TEXT, {("first", "anonymize"): later})
        assert "anonymize = 2030-04-02T12:00:00+09:00 # opens" in text
        assert text.startswith("# our spring contest")
        assert parse_rules(text).round("first").phases.anonymize == later

    def test_inline_tables_are_written_anew(self):
        times = ", ".join(
            f"{name} = 2030-04-0{k}T00:00:00Z"
            for k, name in enumerate(("announce", "anonymize", "judge", "attack", "results"), 1)
        )
        text = f"rounds = [{{name = 'final', phases = {{{times}}}}}]"
        later = datetime(2030, 4, 9, tzinfo=UTC)
        moved = parse_rules(with_instants(text, {("final", "results"): later}))
        assert moved.round("final").phases.results == later
        assert moved.round("final").phases.judge == datetime(2030, 4, 3, tzinfo=UTC)

    def test_a_new_name_keeps_the_rest(self):
        assert renamed("name = 'a' \nusers = 30 # few\n", 'a "b"') == (
            'name = "a \\"b\\""\nusers = 30 # few\n'
        )
        assert renamed("users = 30", "x") == 'name = "x"\nusers = 30'


class TestCreate:
    def test_it_has_rounds_and_its_organiser(self, actor):
        made = contests.create_contest(actor, name="Autumn", slug="autumn")
        assert [one.name for one in made.rounds.all()] == ["final"]
        assert made.organisers.get().person == actor.person
        assert made.rules == Rules.preset("strong").renamed("Autumn")
        assert LogEntry.objects.filter(contest="autumn", action="contest.create").count() == 1

    def test_the_name_goes_into_the_rules(self, actor):
        text = 'name = "x"\nusers = 30\n'
        made = contests.create_contest(actor, name="Autumn", slug="autumn", rules_text=text)
        assert made.rules_text == 'name = "Autumn"\nusers = 30\n'

    @pytest.mark.parametrize("slug", ["", "A", "a b", "-a", "a-", "a" * 61, "a/b", "ä"])
    def test_odd_addresses_are_refused(self, actor, slug):
        with refused("invalid"):
            contests.create_contest(actor, name="Autumn", slug=slug)

    def test_an_address_is_used_once_even_when_deleted(self, actor, contest):
        contests.delete(contest, actor, "a mistake")
        with refused("conflict"):
            contests.create_contest(actor, name="Again", slug=contest.slug)

    def test_bad_rules_name_their_lines(self, actor):
        with refused("invalid") as error:
            contests.create_contest(actor, name="A", slug="a", rules_text="users = 1\nusres = 2\n")
        assert [problem["line"] for problem in error.value.problems] == [1, 2]
        assert not Contest.objects.filter(slug="a").exists()


class TestClone:
    def test_phases_keep_their_distances(self, contest, actor):
        starts = datetime(2031, 1, 1, 12, tzinfo=UTC)
        made = contests.clone_contest(contest, actor, name="Next", slug="next", starts=starts)
        old, new = instants_of(contest.rules), instants_of(made.rules)
        assert min(new.values()) == starts
        assert {new[place] - old[place] for place in old} == {starts - min(old.values())}
        assert made.rules.users == contest.rules.users
        assert made.rules.name == "Next"
        assert made.seed != contest.seed

    def test_without_a_start_nothing_is_scheduled(self, contest, actor):
        made = contests.clone_contest(contest, actor, name="Next", slug="next")
        assert instants_of(made.rules) == {}
        assert [one.name for one in made.rounds.all()] == ["final"]


class TestPlan:
    def effect(self, contest, old, new):
        plan = rulechange.plan_rules(contest, changed(contest, old, new))
        return plan.effects[0], plan

    def test_nothing_changed_has_no_effect(self, contest):
        assert rulechange.plan_rules(contest, contest.rules_text).effects == []

    def test_mistakes_name_their_line(self, contest):
        plan = rulechange.plan_rules(contest, changed(contest, "users = 24", "users = -1"))
        assert plan.problems[0]["line"] == 3
        assert plan.effects == []

    def test_data_may_change_before_the_announcement_only(self, contest, final):
        effect, plan = self.effect(contest, "users = 24", "users = 30")
        assert (effect.key, effect.before, effect.after) == ("users", "24", "30")
        assert effect.weight == "care"
        assert plan.makes_data
        assert plan.problems == []
        Round.objects.update(announced_at=clock.now())
        effect, plan = self.effect(contest, "users = 24", "users = 30")
        assert effect.weight == "refused"
        assert plan.problems[0]["line"] == 3

    def test_the_floor_tells_how_many_verdicts_change(self, contest, team, new_submission):
        for score in (0.65, 0.72, 0.9):
            new_submission(team, score=score)
        text = contest.rules_text + "[scores]\nutility_floor = 0.8\n"
        plan = rulechange.plan_rules(contest, text)
        assert plan.effects[0].sentence.startswith("1 release handed in")
        Round.objects.update(judging_at=clock.now())
        assert rulechange.plan_rules(contest, text).problems

    def test_fewer_tries_than_used_are_told(self, contest, team, new_submission):
        new_submission(team)
        new_submission(team)
        effect, _ = self.effect(contest, "release_tries = 3", "release_tries = 1")
        assert effect.sentence.startswith("1 team has used more")
        assert effect.weight == "care"

    def test_a_later_deadline_is_a_note_an_earlier_one_is_not(self, contest, at):
        effect, _ = self.effect(contest, "judge = 2030-04-03T00", "judge = 2030-04-03T05")
        assert (effect.weight, effect.sentence) == ("note", "It begins 5 h later.")
        effect, _ = self.effect(contest, "judge = 2030-04-03T00", "judge = 2030-04-02T23")
        assert (effect.weight, effect.sentence) == ("care", "It begins 1 h earlier.")
        at(DEADLINE - 30 * timedelta(minutes=1))
        effect, _ = self.effect(contest, "judge = 2030-04-03T00", "judge = 2030-04-02T23")
        assert "past" in effect.sentence

    @pytest.mark.parametrize(
        ("change", "sentence", "japanese"),
        [
            (
                {"feedback": FeedbackRules("exact", board="utility")},
                "From now on everybody sees this of releases.",
                "これ以降、匿名化データについてこれが全員に公開されます。",
            ),
            (
                {"limits": LimitRules(late_minutes=30)},
                "Late releases are accepted for this long; the judge waits.",
                "締切後もこの時間だけ匿名化データを受け付け、審判はそれまで待ちます。",
            ),
            (
                {"limits": LimitRules(grace_seconds=30)},
                "Every deadline that has not passed moves with it.",
                "まだ過ぎていない締切がすべてこれに合わせて動きます。",
            ),
            (
                {"lessons": LessonRules(open=True)},
                "Teams see the lessons from now on.",
                "これ以降、チームにレッスンが表示されます。",
            ),
        ],
    )
    def test_each_key_says_what_its_change_does(self, contest, change, sentence, japanese):
        """Also where exact scores and open registration are dangerous for another key."""
        contest.join_open = True
        rules = replace(contest.rules, feedback=FeedbackRules("exact"), limits=LimitRules())
        contest.rules_text = rules_text(rules)
        text = rules_text(replace(rules, **change))
        effects = rulechange.plan_rules(contest, text).effects
        assert [one.sentence for one in effects] == [sentence]
        with translation.override("ja"):
            assert rulechange.plan_rules(contest, text).effects[0].sentence == japanese

    def test_what_is_switched_off_is_told_so(self):
        assert rulewords.change("limits.late_minutes", "0") == (
            "Late releases are refused from now on."
        )
        assert rulewords.change("lessons.open", "false") == "Teams see no lessons any more."

    def test_what_the_judge_did_cannot_be_moved(self, contest):
        Round.objects.update(judging_at=clock.now())
        effect, plan = self.effect(contest, "judge = 2030-04-03T00", "judge = 2030-04-03T05")
        assert effect.weight == "refused"
        assert plan.problems

    def test_a_round_that_has_begun_stays(self, contest, team, new_submission):
        text = changed(contest, 'name = "final"', 'name = "other"')
        assert rulechange.plan_rules(contest, text).problems == []
        new_submission(team)
        assert rulechange.plan_rules(contest, text).problems


class TestChangeRules:
    def test_it_is_taken_and_logged(self, contest, actor):
        text = changed(contest, "attack_tries = 2", "attack_tries = 5")
        rulechange.change_rules(contest, text, actor, "more fun")
        assert contest.rules.limits.attack_tries == 5
        assert contest.rules_version == 2
        entry = history(contest)[0]
        assert entry.why == "more fun"
        assert "attack_tries = 2" in entry.before["rules"]
        assert entry.after["rules"] == text

    def test_the_old_text_can_be_taken_back_from_the_log(self, contest, actor):
        old = contest.rules_text
        rulechange.change_rules(contest, changed(contest, "users = 24", "users = 24 #"), actor, "x")
        rulechange.change_rules(contest, history(contest)[0].before["rules"], actor, "undo")
        assert contest.rules_text == old

    def test_a_reason_is_needed(self, contest, actor):
        with refused("invalid"):
            rulechange.change_rules(contest, "", actor, " ")

    def test_who_comes_second_is_told(self, contest, actor):
        text = changed(contest, "attack_tries = 2", "attack_tries = 5")
        rulechange.change_rules(contest, text, actor, "first", version=1)
        with refused("conflict"):
            rulechange.change_rules(contest, text + "#", actor, "second", version=1)

    def test_rounds_follow(self, contest, actor):
        text = contest.rules_text + '[[rounds]]\nname = "extra"\n'
        rulechange.change_rules(contest, text, actor, "one more")
        assert [one.name for one in contest.rounds.all()] == ["final", "extra"]

    def test_files_that_wait_for_a_phase_follow_it(self, contest, final, actor):
        from tracecup.server.models import StoredFile

        row = StoredFile.objects.create(
            contest=contest, round=final, kind="pubtraces", name="x", sha256="0" * 64, size=1,
            audience="all", visible_from=final.rules.phases.attack, created_at=clock.now(),
        )  # fmt: skip
        text = changed(contest, "attack = 2030-04-04T00", "attack = 2030-04-04T07")
        rulechange.change_rules(contest, text, actor, "later")
        row.refresh_from_db()
        assert row.visible_from == datetime(2030, 4, 4, 7, tzinfo=UTC)


class TestPause:
    def test_nobody_loses_time(self, contest, final, team, actor, at):
        extension = Extension.objects.create(
            team=team, round=final, phase="anonymize", until=DEADLINE + HOUR, reason="x",
            given_at=clock.now(),
        )  # fmt: skip
        begun = at("anonymize")
        running.pause(contest, actor, "a power cut")
        assert windows.window(Round.objects.get(), "release", clock.now()).state == "paused"
        at(begun + 20 * HOUR)  # the old deadline passes meanwhile
        assert running.resume(contest, actor, "power is back") == 20 * HOUR
        held = Round.objects.get()
        assert held.rules.phases.judge == DEADLINE + 20 * HOUR
        assert held.rules.phases.anonymize == datetime(2030, 4, 2, tzinfo=UTC)
        assert windows.window(held, "release", clock.now()).is_open
        extension.refresh_from_db()
        assert extension.until == DEADLINE + 21 * HOUR

    def test_without_a_shift_instants_stay(self, contest, final, actor, at):
        running.pause(contest, actor, "x")
        at(DEADLINE)
        running.resume(contest, actor, "y", shift=False, confirm=contest.slug)
        assert contest.rules.round("final").phases.judge == DEADLINE

    def test_what_was_published_by_hand_meanwhile_stays(self, contest, actor, at):
        begun = at(DEADLINE + HOUR)
        Round.objects.update(announced_at=begun, judging_at=begun, judged_at=begun)
        running.pause(contest, actor, "x")
        Round.objects.update(published_at=begun)
        at(begun + HOUR)
        running.resume(contest, actor, "y")
        phases = contest.rules.round("final").phases
        assert phases.attack == datetime(2030, 4, 4, tzinfo=UTC)
        assert phases.results == datetime(2030, 4, 5, 1, tzinfo=UTC)

    def test_twice_is_a_conflict(self, contest, actor):
        with refused("conflict"):
            running.resume(contest, actor, "y")
        running.pause(contest, actor, "x")
        with refused("conflict"):
            running.pause(contest, actor, "x")


class TestExtend:
    def test_one_team_gets_more_time(self, contest, final, team, actor):
        running.extend(team, final, "anonymize", actor, until=DEADLINE + HOUR, reason="ill")
        assert windows.window(final, "release", DEADLINE, team).is_open
        entry = LogEntry.objects.get(action="team.extend")
        assert (entry.subject, entry.why) == ("team:1", "ill")

    @pytest.mark.parametrize("until", [DEADLINE, DEADLINE - HOUR])
    def test_it_has_to_be_later(self, final, team, actor, until):
        with refused("invalid"):
            running.extend(team, final, "anonymize", actor, until=until, reason="ill")

    def test_nothing_is_no_extension(self, final, team, actor):
        with refused("invalid"):
            running.extend(team, final, "anonymize", actor, reason="ill")
        with refused("invalid"):
            running.extend(team, final, "judge", actor, extra_tries=1, reason="ill")

    def test_what_is_judged_is_not_extended(self, final, team, actor):
        Round.objects.update(judging_at=clock.now())
        with refused("closed"):
            running.extend(team, final, "anonymize", actor, extra_tries=1, reason="ill")

    def test_it_can_be_taken_back(self, final, team, actor):
        made = running.extend(team, final, "anonymize", actor, extra_tries=2, reason="ill")
        running.take_back_extension(made, actor, "a mistake")
        assert not Extension.objects.exists()
        assert LogEntry.objects.get(action="team.extend-undo").before["tries"] == 2

    def test_a_deadline_moves_for_all(self, contest, final, actor):
        running.move_deadline(final, "anonymize", DEADLINE + 6 * HOUR, actor, "a storm")
        phases = final.rules.phases
        assert phases.judge == DEADLINE + 6 * HOUR
        assert phases.results == datetime(2030, 4, 5, 6, tzinfo=UTC)

    def test_alone_it_may_not_pass_the_next_phase(self, final, actor):
        running.move_deadline(final, "anonymize", DEADLINE + HOUR, actor, "a storm", follow=False)
        assert final.rules.phases.attack == datetime(2030, 4, 4, tzinfo=UTC)
        with refused("invalid"):
            running.move_deadline(
                final, "anonymize", DEADLINE + 48 * HOUR, actor, "a storm", follow=False
            )


class TestPhases:
    def test_a_contest_gets_its_times(self, actor):
        made = contests.create_contest(actor, name="Autumn", slug="autumn")
        round = made.rounds.get()
        running.set_phases(round, TIMES, actor, "fixed")
        assert round.rules.phases.results == DEADLINE + 4 * HOUR
        assert "# Days of the original traces." in round.contest.rules_text

    def test_the_same_again_changes_nothing(self, final, actor):
        running.set_phases(final, TIMES, actor, "fixed")
        running.set_phases(final, TIMES, actor, "again")
        assert final.contest.rules_version == 2

    def test_what_happened_cannot_be_moved(self, final, actor):
        Round.objects.update(announced_at=clock.now())
        with refused("invalid"):
            running.set_phases(final, TIMES, actor, "fixed")

    def test_they_follow_one_another(self, final, actor):
        with refused("invalid"):
            running.set_phases(final, {"judge": DEADLINE - 100 * HOUR}, actor, "fixed")


class TestClock:
    def test_only_a_demo_moves(self, contest, actor):
        with refused("forbidden"):
            running.move_clock(contest, 60, actor)

    def test_a_demo_moves(self, contest, actor):
        Contest.objects.update(is_demo=True)
        contest.refresh_from_db()
        assert running.move_clock(contest, 3600, actor) == clock.now() + HOUR
        assert running.move_clock(contest, 3600, actor) == clock.now() + 2 * HOUR
        with refused("invalid"):
            running.move_clock(contest, float("nan"), actor)


class TestAnnounce:
    def test_members_get_a_mail_each(self, contest, team, new_team, actor, queued):
        people = [one.members.get().person for one in (team, new_team(contest))]
        made = messages.announce(contest, "Rain", "Bring\numbrellas.", actor)
        assert queued == [
            ("mail", f"mail:{made.pk}:{one.pk}", {"announcement": made.pk, "person": one.pk})
            for one in people
        ]
        assert [mailing.handle_mail(one[2]) for one in queued] == [{"sent": 1}] * 2
        assert sorted(one.to for one in mail.outbox) == [
            ["spring-team1@example.org"],
            ["spring-team2@example.org"],
        ]
        assert mail.outbox[0].subject == "[Spring contest] Rain"
        assert "umbrellas" in mail.outbox[0].body

    def test_one_team_alone(self, contest, team, new_team, actor, queued):
        other = new_team(contest)
        made = messages.announce(contest, "Hello", "You.", actor, team)
        for one in queued:
            mailing.handle_mail(one[2])
        assert [one.to for one in mail.outbox] == [["spring-team1@example.org"]]
        assert messages.announcements(team) == [made]
        assert messages.announcements(other) == []

    def test_a_title_is_one_line(self, contest, actor, queued):
        with refused("invalid"):
            messages.announce(contest, "a\nBcc: all@example.org", "x", actor)

    def test_one_address_gets_one_letter_and_who_left_gets_none(
        self, contest, team, new_team, actor, queued
    ):
        people = [one.members.get().person for one in (team, new_team(contest))]
        Person.objects.update(email="Both@example.org")
        messages.announce(contest, "Rain", "x", actor)
        assert [one[2]["person"] for one in queued] == [people[1].pk]
        people[1].memberships.all().delete()
        assert mailing.handle_mail(queued[0][2]) == {"sent": 0}

    def test_an_address_that_is_refused_for_good_is_forgotten(
        self, contest, team, actor, queued, monkeypatch, caplog
    ):
        messages.announce(contest, "Rain", "x", actor)
        codes = iter([550, 450])

        def refuse(letter, *more):
            raise SMTPRecipientsRefused({letter.to[0]: (next(codes), b"no such box")})

        monkeypatch.setattr(EmailMessage, "send", refuse)
        assert mailing.handle_mail(queued[0][2]) == {"sent": 0}
        with pytest.raises(ConnectionError) as later:
            mailing.handle_mail(queued[0][2])
        assert "example.org" not in f"{caplog.text}{later.value}"

    def test_it_can_be_retracted_and_restored(self, contest, team, actor, queued):
        made = messages.announce(contest, "Rain", "x", actor)
        messages.retract_announcement(made, actor, "wrong")
        assert messages.announcements(team) == []
        assert mailing.handle_mail(queued[0][2]) == {"sent": 0}
        messages.restore_announcement(made, actor)
        assert messages.announcements(team) == [made]


class TestStatus:
    def test_with_a_reason_and_back(self, team, actor):
        contests.set_status(team, "disqualified", "shared their data", actor)
        assert (team.status, team.status_reason) == ("disqualified", "shared their data")
        contests.set_status(team, "active", "it was a mistake", actor)
        assert (team.status, team.status_reason) == ("active", "")
        entries = LogEntry.objects.filter(action="team.status").order_by("number")
        assert [entry.before["status"] for entry in entries] == ["active", "disqualified"]

    def test_no_other_word(self, team, actor):
        with refused("invalid"):
            contests.set_status(team, "banned", "x", actor)
        with refused("invalid"):
            contests.set_status(team, "withdrawn", "", actor)


class TestAppeals:
    def test_only_in_the_window(self, contest, team, member, actor, queued, at):
        speaker = Actor(member, "page")
        with refused("closed"):
            messages.appeal(team, "Not fair.", speaker)
        messages.open_appeals(contest, DEADLINE, actor, "results are out")
        made = messages.appeal(team, "Not\0 fair.", speaker)
        assert made.text == "Not fair."
        messages.answer_appeal(made, "We looked again.", True, actor)
        assert (made.state, made.answer) == ("accepted", "We looked again.")
        assert messages.announcements(team)[0].text == "We looked again."
        at(DEADLINE)
        with refused("closed"):
            messages.appeal(team, "Still not fair.", speaker)

    def test_not_more_than_organisers_can_answer(self, contest, team, member, actor, queued):
        messages.open_appeals(contest, DEADLINE, actor, "results are out")
        for _ in range(messages.MAX_OPEN):
            made = messages.appeal(team, "Not fair.", Actor(member, "page"))
        with refused("throttled"):
            messages.appeal(team, "Not fair.", Actor(member, "page"))
        messages.answer_appeal(made, "We looked again.", True, actor)
        messages.appeal(team, "Not fair.", Actor(member, "page"))

    def test_organisers_get_a_letter(self, contest, team, member, actor, queued):
        messages.open_appeals(contest, DEADLINE, actor, "results are out")
        made = messages.appeal(team, "Not fair.", Actor(member, "page"))
        told = {"appeal": made.pk, "person": actor.person.pk}
        assert queued == [("mail", f"mail:appeal:{made.pk}:{actor.person.pk}", told)]
        assert mailing.handle_mail(told) == {"sent": 1}
        (letter,) = mail.outbox
        assert letter.subject == "[Spring contest] An appeal from team 1"
        assert letter.body == "Not fair.\n"

    def test_the_window_ends_ahead(self, contest, actor):
        with refused("invalid"):
            messages.open_appeals(contest, clock.now(), actor, "x")


class TestDelete:
    def test_gone_and_back(self, contest, actor):
        from tracecup.server.access import role_in

        contests.delete(contest, actor, "a test")
        with refused("not-found"):
            role_in(contest.slug, actor.person)
        contests.undelete(contest, actor)
        assert role_in(contest.slug, actor.person).organiser

    def test_every_act_is_in_a_whole_chain(self, contest, final, actor):
        running.freeze(final, True, actor, "suspense")
        contests.set_auto_publish(final, False, actor, "we look first")
        contests.set_details(contest, actor, is_public=False, divisions=["student", "pro"])
        contests.delete(contest, actor, "a test")
        assert LogEntry.objects.filter(contest=contest.slug).count() == 4
        assert list(check_chain()) == []
        assert final.frozen
        assert not final.auto_publish

    def test_a_division_with_teams_stays(self, contest, new_team, actor):
        contests.set_details(contest, actor, divisions=["student", "pro"])
        new_team(contest, division="pro")
        with refused("conflict"):
            contests.set_details(contest, actor, divisions=["student"])


class TestShownSpan:
    @pytest.mark.parametrize(
        ("seconds", "words"),
        [(0, "0 s"), (59, "59 s"), (60, "1 min"), (11520, "3 h 12 min"), (90000, "1 d 1 h")],
    )
    def test_two_units(self, seconds, words):
        assert shown_span(timedelta(seconds=seconds)) == words


@pytest.fixture
def new_submission(final):
    def make(team, score=0.9, **more):
        return Submission.objects.create(
            contest=final.contest, round=final, team=team, sha256="0" * 64, size=1,
            received_at=clock.now(), via="page", file_name="x.csv", score=score,
            idempotency_key=str(Submission.objects.count()),
            **{"kind": "release", "challenge": "trace", "state": "scored", "charged": True, **more},
        )  # fmt: skip

    return make
