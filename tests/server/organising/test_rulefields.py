"""The rules as fields: they go into the file and come back, and nothing else changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import parse_rules, rules_text
from tracecup.contest.rules.rounds import ConflictCode
from tracecup.server.errors import Refused
from tracecup.server.models import Announcement, Contest
from tracecup.server.organising.acts_rules import RuleValues
from tracecup.server.organising.lengths import length_text, parse_length
from tracecup.server.organising.rulefields import LENGTHS, Plan, values_of, with_round, with_values
from tracecup.server.organising.rulesasked import ASKED, KEYS
from tracecup.server.organising.ruletext import flat
from tracecup.server.organising.rulewords import CONFLICTS, LABELS, label
from tracecup.server.organising.sizes import SIZES

pytestmark = pytest.mark.django_db
OWN = """# our rules
users = 24  # a small class
[samples]
reid = ["Random-R"]
[scores]
lambda_u = 3.5
[[rounds]]
name = "only"
"""
HOUR = timedelta(hours=1)


@pytest.fixture
def boss(client, organiser):
    client.force_login(organiser)
    return client


class TestLengths:
    @given(st.integers(1, 3660 * 86400))
    def test_what_is_shown_can_be_typed(self, seconds):
        length = timedelta(seconds=seconds)
        assert parse_length(length_text(length)) == length

    @pytest.mark.parametrize("text", ["", "0 h", "soon", "3", "-1 h", "1 h!", "9999 d", "1 y"])
    def test_what_is_none(self, text):
        assert parse_length(text) is None

    def test_units_of_both_languages(self):
        assert parse_length("1日 2時間 3分") == timedelta(days=1, hours=2, minutes=3)


class TestWithValues:
    @pytest.mark.parametrize("size", SIZES)
    def test_values_of_a_size_change_nothing(self, size):
        rules = SIZES[size].rules
        text = rules_text(rules)
        assert with_values(text, values_of(rules)) == text

    @given(st.integers(2, 999), st.sampled_from(["none", "bands", "exact"]), st.booleans())
    def test_round_trip_from_any_text(self, users, feedback, both):
        values = {"users": users, "feedback": feedback, "reidentification": both, "slots": 4}
        text = with_values(OWN, values)
        held = values_of(parse_rules(text))
        assert values.items() <= held.items()
        assert with_values(text, held) == text

    def test_what_no_field_knows_stays_with_its_comments(self):
        text = with_values(OWN, {"users": 30, "floor": 0.5, "attack_tries": 4})
        assert "# our rules" in text
        assert "users = 30  # a small class" in text
        changed = {
            key
            for key, said in flat(parse_rules(text)).items()
            if said != flat(parse_rules(OWN))[key]
        }
        assert changed == {"users", "scores.utility_floor", "limits.attack_tries"}

    def test_a_list_of_samples_that_no_choice_names_stays(self):
        held = values_of(parse_rules(OWN))
        assert held["samples"] == ""
        assert parse_rules(with_values(OWN, held)).samples.reid == ("Random-R",)

    def test_rounds_by_name_keep_what_they_have(self):
        text = with_round(OWN, "only", {"weight": 4.0, "days": 3})
        two = parse_rules(with_values(text, {"rounds": ["first", " only ", ""]}))
        assert [(one.name, one.weight, one.days) for one in two.rounds] == [
            ("first", 1.0, None),
            ("only", 4.0, 3),
        ]
        assert parse_rules(with_round(text, "only", {"days": 0})).rounds[0].days is None

    def test_times_by_a_start_and_lengths(self):
        at = datetime(2030, 4, 1, tzinfo=UTC)
        plan = Plan(at, [HOUR, 2 * HOUR, HOUR, 3 * HOUR], 5 * HOUR)
        two = parse_rules(with_values(OWN, {"rounds": ["a", "b"]}, plan))
        assert two.rounds[0].phases.results == at + 7 * HOUR
        assert two.rounds[1].phases.announce == at + 12 * HOUR

    @pytest.mark.parametrize(
        ("values", "field"),
        [
            ({"trace_inference": False, "reidentification": False}, "trace_inference"),
            ({"trace_inference": False, "reidentification": True}, "attack_targets"),
            ({"rounds": ["a", "a"]}, "rounds"),
            ({"rounds": [f"r{k}" for k in range(21)]}, "rounds"),
            ({"rounds": ["Ä b"]}, "rounds"),
            ({"rounds": []}, "rounds"),
            ({"slots": 1440}, "slots"),
            ({"zone": "Nowhere"}, "zone"),
            ({"samples": "weak"}, "samples"),
        ],
    )
    def test_what_does_not_fit_names_its_field(self, values, field):
        with pytest.raises(Refused) as caught:
            with_values(OWN, values)
        assert [one["field"] for one in caught.value.problems] == [field]
        assert "[" not in caught.value.problems[0]["expected"]


class TestWords:
    def test_every_contradiction_has_words(self):
        assert set(CONFLICTS) == set(get_args(ConflictCode))

    def test_every_key_has_a_name(self):
        named = {*LABELS, *(f"rounds.final.{name}" for name in LABELS)}
        named |= {f"rounds.final.phases.{name}" for name in LABELS}
        assert {key for key in flat(Rules()) if not key.endswith(".name")} <= named
        assert label("rounds.final") == "Round final"


class TestAsked:
    def test_every_key_has_a_field_or_is_left_to_the_file(self):
        """A new key is put into one of the two: it does not vanish because nobody thought of it."""
        only_in_the_file = {
            "city.builtin", "city.file", "clock.reference_days", "clock.start", "clock.interval",
            "scores.utility_rule", "scores.lambda_u", "scores.lambda_t", "scores.hospital_weight",
            "limits.file_mib", "feedback.bands",
        }  # fmt: skip
        by_other_fields = {"samples.reid", "samples.trace"}
        keys = {key for key in flat(Rules()) if not key.startswith("rounds.")}
        asked = set(KEYS.values())
        assert keys == asked | only_in_the_file | by_other_fields
        assert not asked & only_in_the_file

    def test_every_field_is_on_both_pages(self, boss, contest):
        for page in (reverse("run-new"), reverse("run-settings", args=["spring"])):
            text = boss.get(page).content.decode()
            for name in [one.name for one in ASKED]:
                assert f'name="{name}"' in text, (page, name)

    def test_a_field_takes_what_its_key_may_hold(self):
        fields = RuleValues.model_json_schema()["properties"]
        assert set(fields) == {one.name for one in ASKED}
        assert fields["floor"]["anyOf"][0] == {"type": "number", "minimum": 0, "maximum": 1}
        assert fields["board"]["anyOf"][0]["pattern"] == "^(none|valid|utility)$"


def filled(size="class", **more):
    held = values_of(SIZES[size].rules)
    held = {key: value for key, value in held.items() if value not in (False, None)}
    held["rounds"] = "\n".join(held["rounds"])
    text = rules_text(SIZES[size].rules)
    return {"name": "Autumn", "slug": "autumn", "base": text, "text": text, **held, **more}


class TestNew:
    def test_a_size_fills_the_fields_and_keeps_what_was_typed(self, boss, contest):
        answer = boss.post(
            reverse("run-new"), {"act": "size-2019", "name": "Our own cup", "zone": "Asia/Tokyo"}
        )
        text = answer.content.decode()
        assert 'value="2000"' in text
        assert 'value="Our own cup"' in text
        assert '<option value="Asia/Tokyo" selected>' in text
        assert not Contest.objects.filter(name="Our own cup").exists()

    def test_two_rounds_with_divisions_and_times_without_a_file(self, boss, contest):
        lengths = dict.fromkeys(LENGTHS, "1 h 30 min") | {"between": "1 d"}
        answer = boss.post(
            reverse("run-new"),
            filled(
                "2019", zone="Asia/Tokyo", starts="2030-05-01 10:00", divisions="School\nOpen",
                floor="0.65", users="40", join_open="on", **lengths,
            ),
        )  # fmt: skip
        assert answer.status_code == 302
        made = Contest.objects.get(slug="autumn")
        assert made.join_open
        assert made.divisions == ["School", "Open"]
        rules = made.rules
        assert (rules.users, rules.scores.utility_floor, rules.zone) == (40, 0.65, "Asia/Tokyo")
        assert rules.rounds[0].days == 2
        assert rules.rounds[0].phases.announce == datetime(2030, 5, 1, 1, tzinfo=UTC)
        assert rules.rounds[1].phases.announce == datetime(2030, 5, 2, 7, tzinfo=UTC)

    def test_errors_stand_beside_their_fields(self, boss, contest):
        answer = boss.post(reverse("run-new"), filled(users="1", starts="2030-05-01 10:00"))
        text = answer.content.decode()
        assert answer.status_code == 422
        assert 'id="id_users_error"' in text
        assert 'id="id_attacking_error"' in text
        answer = boss.post(reverse("run-new"), filled(trace_inference=""))
        assert 'id="id_trace_inference_error"' in answer.content.decode()
        assert "Line" not in answer.content.decode()

    def test_fields_and_file_go_into_one_another(self, boss, contest):
        written = boss.post(reverse("run-new"), filled(act="to_file", users="77"))
        assert "users = 77" in written.content.decode()
        read = boss.post(reverse("run-new"), filled(act="to_fields", text=OWN))
        text = read.content.decode()
        assert 'name="users" value="24"' in text
        assert "lambda_u = 3.5" in text
        made = boss.post(reverse("run-new"), filled(users="24", base=OWN, text=OWN, samples=""))
        assert made.status_code == 302
        assert Contest.objects.get(slug="autumn").rules.scores.lambda_u == 3.5

    def test_an_edited_file_is_not_lost_silently(self, boss, contest):
        answer = boss.post(reverse("run-new"), filled(text=OWN))
        assert answer.status_code == 409
        assert "The file was edited" in answer.content.decode()
        assert boss.post(reverse("run-new"), filled(act="create_file", text=OWN)).status_code == 302
        assert Contest.objects.get(slug="autumn").rules.users == 24


class TestSettings:
    def ask(self, boss, act, **values):
        held = values_of(Contest.objects.get(slug="spring").rules)
        held = {key: value for key, value in held.items() if value not in (False, None)}
        held["rounds"] = "\n".join(held["rounds"])
        return boss.post(
            reverse("run-settings", args=["spring"]), {"act": act, "version": 1, **held, **values}
        )

    def test_check_says_what_would_change_in_words(self, boss, contest, at):
        at("before")
        answer = self.ask(boss, "fields_check", floor="0.5", users="30")
        text = answer.content.decode()
        assert "Floor of utility" in text
        assert "2 changes" in text
        assert Contest.objects.get(slug="spring").rules_version == 1

    def test_save_needs_a_reason_and_tells_teams_in_words(self, boss, contest, team, at):
        at("before")
        assert self.ask(boss, "fields_save", floor="0.5").status_code == 422
        assert self.ask(boss, "fields_save", floor="0.5", why="too hard").status_code == 302
        held = Contest.objects.get(slug="spring").rules
        assert held.scores.utility_floor == 0.5
        assert held.limits.release_tries == 3
        assert "Floor of utility: 0.7 → 0.5" in Announcement.objects.get().text

    def test_what_is_too_late_stands_beside_its_field(self, boss, contest, final):
        final.announced_at = datetime(2030, 4, 1, tzinfo=UTC)
        final.save()
        answer = self.ask(boss, "fields_save", users="30", why="more")
        text = answer.content.decode()
        assert answer.status_code == 422
        assert 'id="fields_save_users_error"' in text
        assert "Teams have their data already" in text

    def test_times_by_start_and_lengths_in_the_contests_zone(self, boss, contest, at):
        at("before")
        answer = boss.post(
            reverse("run-settings", args=["spring"]),
            {
                "act": "schedule", "starts": "2030-04-01 10:00", "preparing": "2 h",
                "anonymizing": "1 d", "judging": "30 min", "attacking": "1 d 12 h", "why": "later",
            },
        )  # fmt: skip
        assert answer.status_code == 302
        phases = Contest.objects.get(slug="spring").rules.rounds[0].phases
        assert phases.announce == datetime(2030, 4, 1, 1, tzinfo=UTC)
        assert phases.results == phases.announce + timedelta(days=2, hours=14, minutes=30)

    def test_the_api_takes_fields_too(self, client, contest, organiser, at):
        at("before")
        client.force_login(organiser)
        answer = client.patch(
            "/api/v1/contests/spring/run/rules",
            {"attack_tries": 5, "why": "more"},
            content_type="application/json",
        )
        assert answer.status_code == 200, answer.content
        assert answer.json()["effects"][0]["label"] == "Tries per target and kind of attack"
        assert Contest.objects.get(slug="spring").rules.limits.attack_tries == 5
