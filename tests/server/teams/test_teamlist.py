"""Lists of teams: precise mistakes, a plan that changes nothing, all of it or nothing."""

from __future__ import annotations

import csv
import io

import pytest
from django.core import mail
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused
from tracecup.server.models import LogEntry, OneTimeLink, Team
from tracecup.server.people import letters, links
from tracecup.server.teams import registration, teamlist
from tracecup.server.teams.teamlist import _lines

LIST = """team,division,name,email
Foxes,open,Ada,ada@example.org
Foxes,,Bob,bob@example.org
Hares,student,,
"""
NEW = "a brand new secret"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def wanted(monkeypatch):
    """The contests whose data was asked for; making it is not what is tested here."""
    asked = []
    monkeypatch.setattr(registration, "ensure_data", asked.append)
    monkeypatch.setattr(teamlist, "ensure_data", asked.append)
    return asked


@pytest.fixture
def contest(new_contest):
    return new_contest(divisions=["open", "student"])


class TestPlan:
    def test_says_what_each_line_will_do(self, contest):
        plan = teamlist.plan_csv(contest, LIST)
        assert plan.problems == ()
        assert [(row.line, row.team, row.division, row.effect) for row in plan.rows] == [
            (2, "Foxes", "open", "new-team"),
            (3, "Foxes", "open", "new-link"),
            (4, "Hares", "student", "new-team"),
        ]
        assert (plan.new_teams, plan.new_links) == (2, 3)

    def test_changes_nothing(self, contest, wanted):
        teamlist.plan_csv(contest, LIST)
        assert not Team.objects.exists()
        assert not OneTimeLink.objects.exists()
        assert not LogEntry.objects.exists()
        assert wanted == []

    @pytest.mark.parametrize(
        "text",
        [
            "\ufeff" + LIST,
            LIST.replace("\n", "\r\n"),
            LIST.replace(",", ";"),
            LIST.replace(",", "\t"),
            LIST.replace("team,division,name,email", "Team, Division ,NAME,email"),
            LIST + "\n,,,\n\n",
        ],
    )
    def test_the_ways_of_spreadsheets_are_the_same(self, contest, text):
        found = teamlist.plan_csv(contest, text)
        assert found.problems == ()
        assert found.rows == teamlist.plan_csv(contest, LIST).rows

    def test_columns_come_in_any_order_and_may_be_missing(self, contest):
        plan = teamlist.plan_csv(contest, "email,team\nada@example.org,Foxes\n,Hares\n")
        assert [(row.team, row.email) for row in plan.rows] == [
            ("Foxes", "ada@example.org"),
            ("Hares", ""),
        ]

    def test_a_quoted_field_keeps_its_comma(self, contest):
        plan = teamlist.plan_csv(contest, 'team,name\n"Foxes, red","Ada ""L"""\n')
        assert (plan.rows[0].team, plan.rows[0].name) == ("Foxes, red", 'Ada "L"')

    @pytest.mark.parametrize(
        ("text", "line", "field", "found"),
        [
            ("", 1, "", ""),
            ("team\n", 2, "", ""),
            ("division,name\nopen,Ada\n", 1, "team", "division,name"),
            ("team,shoe\nA,42\n", 1, "shoe", "shoe"),
            ("team,name,name\nA,a,b\n", 1, "name", "name"),
            ("team,name\nA\n", 2, "", "1"),
            ("team,name\nA,b\nB,c,d\n", 3, "", "3"),
            ("team,name\n,Ada\n", 2, "team", ""),
            ("team\n" + "x" * 121 + "\n", 2, "team", "x" * 120),
            ('team,name\n"A\nB",c\n', 2, "team", ""),
            ("team,division\nA,pro\n", 2, "division", "pro"),
            ("team,division\nA,open\na,student\n", 3, "division", "student"),
            ("team,email\nA,nobody\n", 2, "email", "nobody"),
            ("team,email\nA,a@example.org\nB,A@example.org\n", 3, "email", "a@example.org"),
            ('team,name\nA,"b\n', 2, "", "unexpected end of data"),
        ],
    )
    def test_mistakes_are_told_by_line_and_column(self, contest, text, line, field, found):
        plan = teamlist.plan_csv(contest, text)
        first = plan.problems[0]
        assert (first["line"], first["field"], first["found"]) == (line, field, found)
        assert first["expected"]

    def test_lines_after_a_field_with_a_newline_are_still_right(self, contest):
        plan = teamlist.plan_csv(contest, 'team,name\nA,"x\ny"\nB,ok\nC,ok,more\n')
        assert [(one["line"], one["field"]) for one in plan.problems] == [(2, "name"), (5, "")]

    def test_all_mistakes_are_told_at_once(self, contest):
        plan = teamlist.plan_csv(contest, "team,division,email\nA,pro,nobody\n,open,\n")
        assert [(one["line"], one["field"]) for one in plan.problems] == [
            (2, "email"),
            (2, "division"),
            (3, "team"),
        ]

    def test_teams_that_exist_get_more_members(self, contest):
        registration.create_team(contest, "Foxes", SYSTEM, division="open")
        plan = teamlist.plan_csv(contest, "team,email\nFOXES,ada@example.org\n")
        assert [(row.effect, row.division) for row in plan.rows] == [("new-link", "open")]

    def test_people_who_are_in_the_team_are_left_alone(self, contest):
        team = registration.create_team(contest, "Foxes", SYSTEM)
        links.redeem(
            links.new_link("member", SYSTEM, team=team), "ada", NEW, email="Ada@example.org"
        )
        plan = teamlist.plan_csv(contest, "team,email\nFoxes,ada@example.org\n")
        assert [row.effect for row in plan.rows] == ["nothing"]
        plan = teamlist.plan_csv(contest, "team,email\nHares,ada@example.org\n")
        assert plan.problems[0]["expected"] == "somebody who is in no other team"

    def test_teams_that_left_take_nobody(self, contest):
        team = registration.create_team(contest, "Foxes", SYSTEM)
        Team.objects.filter(pk=team.pk).update(status="withdrawn")
        assert teamlist.plan_csv(contest, "team\nFoxes\n").problems[0]["field"] == "team"

    def test_endless_lists_are_refused_at_once(self, contest):
        assert teamlist.plan_csv(contest, "team\n" + "A" * (1 << 20)).problems
        many = teamlist.plan_csv(contest, "team\n" + "A\n" * 5001)
        assert [one["line"] for one in many.problems] == [5002]

    def test_there_are_as_many_teams_as_numbers(self, contest):
        text = "team\n" + "".join(f"T{k}\n" for k in range(900))
        assert teamlist.plan_csv(contest, text).problems[0]["found"] == "900"

    def test_mistakes_are_listed_up_to_a_limit(self, contest):
        assert len(teamlist.plan_csv(contest, "team,email\n" + "A,nobody\n" * 200).problems) == 50


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=4, max_size=4
        ).filter(lambda row: any(value.strip() for value in row)),
        min_size=1,
        max_size=5,
    )
)
def test_what_a_spreadsheet_writes_is_read_back(rows):
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["team", "division", "name", "email"])
    writer.writerows(rows)
    problems = []
    found = _lines(out.getvalue(), problems)
    assert problems == []
    assert [list(values.values()) for _line, values in found] == [
        [value.strip() for value in row] for row in rows
    ]


class TestApply:
    def test_does_what_was_planned(self, contest, organiser_of, wanted):
        made = teamlist.apply_csv(contest, teamlist.plan_csv(contest, LIST), Actor(organiser_of))
        assert [(one.team.number, one.team.name, one.name, one.email) for one in made] == [
            (1, "Foxes", "Ada", "ada@example.org"),
            (1, "Foxes", "Bob", "bob@example.org"),
            (2, "Hares", "", ""),
        ]
        assert [(team.name, team.division) for team in contest.teams.all()] == [
            ("Foxes", "open"),
            ("Hares", "student"),
        ]
        assert wanted == [contest]

    @pytest.fixture
    def organiser_of(self, new_person):
        return new_person("organiser")

    def test_every_link_works(self, contest):
        made = teamlist.apply_csv(contest, teamlist.plan_csv(contest, LIST), SYSTEM)
        for k, one in enumerate(made):
            person = links.redeem(one.link.split("/")[2], f"person{k}", NEW)
            assert person.memberships.get().team == one.team
        assert [m.captain for m in made[0].team.members.order_by("pk")] == [True, False]

    def test_a_plan_with_mistakes_does_nothing(self, contest):
        plan = teamlist.plan_csv(contest, LIST + "Owls,pro,,\n")
        with pytest.raises(Refused) as refused:
            teamlist.apply_csv(contest, plan, SYSTEM)
        assert refused.value.problems[0]["line"] == 5
        assert not Team.objects.exists()

    def test_a_plan_of_yesterday_is_refused(self, contest):
        plan = teamlist.plan_csv(contest, LIST)
        registration.create_team(contest, "Hares", SYSTEM)
        with pytest.raises(Refused) as refused:
            teamlist.apply_csv(contest, plan, SYSTEM)
        assert refused.value.code == "conflict"
        assert [team.name for team in contest.teams.all()] == ["Hares"]

    def test_a_failure_in_the_middle_leaves_nothing(self, contest, monkeypatch):
        calls = []

        def fail(*given, **named):
            calls.append(given)
            if len(calls) == 3:
                raise RuntimeError
            return "secret"

        monkeypatch.setattr(teamlist, "new_link", fail)
        with pytest.raises(RuntimeError):
            teamlist.apply_csv(contest, teamlist.plan_csv(contest, LIST), SYSTEM)
        assert not Team.objects.exists()
        assert not LogEntry.objects.exists()

    def test_the_same_list_again_renews_links_and_makes_no_team(self, contest, wanted):
        first = teamlist.apply_csv(contest, teamlist.plan_csv(contest, LIST), SYSTEM)
        plan = teamlist.plan_csv(contest, LIST)
        assert [row.effect for row in plan.rows] == ["replaced-link", "replaced-link", "new-link"]
        teamlist.apply_csv(contest, plan, SYSTEM)
        assert contest.teams.count() == 2
        with pytest.raises(Refused):
            links.link_of(first[0].link.split("/")[2])
        assert wanted == [contest]


class TestInvitations:
    def test_letters_go_to_those_with_an_address(self, contest):
        made = teamlist.apply_csv(contest, teamlist.plan_csv(contest, LIST), SYSTEM)
        assert letters.invite_all(made, "https://contest.example") == 2
        assert [letter.to for letter in mail.outbox] == [["ada@example.org"], ["bob@example.org"]]
        assert f"https://contest.example{made[0].link}" in mail.outbox[0].body

    def test_the_table_of_links_is_no_spreadsheet_program(self, contest):
        text = "team,name\n=1+1,@cmd\n"
        made = teamlist.apply_csv(contest, teamlist.plan_csv(contest, text), SYSTEM)
        rows = list(csv.reader(io.StringIO(teamlist.invitations_csv(made, "https://c.example"))))
        assert rows[1][:4] == ["1", "'=1+1", "", "'@cmd"]
        assert rows[1][5].startswith("https://c.example/link/")
