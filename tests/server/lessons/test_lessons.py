"""The classroom on the server: two students play it, the teacher sees both, others see nothing."""

from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import pytest
from django.test import Client
from tests.server.conftest import PASSWORD, RULES

import students
from tracecup.contest.classroom.toy import SETTINGS
from tracecup.server.access import SYSTEM
from tracecup.server.errors import Refused
from tracecup.server.lessons import service
from tracecup.server.lessons.api import Slider
from tracecup.server.models import Classroom, LessonProgress, LogEntry
from tracecup.server.organising.contests import clone_contest
from tracecup.server.site.backup import saved_models

pytestmark = pytest.mark.django_db
OPEN = RULES.replace("[limits]", "[lessons]\nopen = true\n[limits]")
HALF = "/c/spring/lessons/pseudonyms/"


@pytest.fixture
def room(new_contest, new_team, new_person):
    """A class of two students, one teacher and a stranger; all logged in."""
    contest = new_contest(rules=OPEN)
    teams = [new_team(contest, name) for name in ("ann", "bob")]
    teacher = new_person("teacher")
    contest.organisers.create(person=teacher, since=contest.created_at)
    new_person("stranger")
    clients = {"nobody": Client()}
    names = {"ann": "spring-ann", "bob": "spring-bob", "teacher": "teacher", "stranger": "stranger"}
    for key, name in names.items():
        clients[key] = Client()
        assert clients[key].login(username=name, password=PASSWORD)
    return SimpleNamespace(contest=contest, teams=teams, clients=clients)


def solved(client, folder, method="Fuzzy-R(0.33,1,match=assignment)"):
    """What a student with our programs hands in for the files that the site gives her."""
    packed = client.get(HALF + "files.zip").content
    return students.hand_in(packed, "reid", method, folder).read_bytes()


def hand_in(client, step, content):
    file = io.BytesIO(content)
    file.name = "etable.csv"
    return client.post(HALF, {"step": step, "file": file}, follow=True)


class TestClass:
    def test_two_students_play(self, room, tmp_path):
        for key in ("ann", "bob"):
            (tmp_path / key).mkdir()
        right = solved(room.clients["ann"], tmp_path / "ann")
        wrong = solved(room.clients["bob"], tmp_path / "bob", "Random-R")

        said = hand_in(room.clients["ann"], "half", right)
        assert "Right: Name half of the pseudonyms" in said.content.decode()
        said = hand_in(room.clients["bob"], "half", wrong)
        assert "Not yet: Name half of the pseudonyms" in said.content.decode()
        # Data are each team's own: what is right for one is wrong for the other.
        said = hand_in(room.clients["bob"], "half", right)
        assert "Not yet" in said.content.decode()

        one = service.lesson_named("pseudonyms")
        puzzle = service.practice_of(room.teams[0], one).puzzle(service.seed_of(room.teams[0], one))
        said = room.clients["ann"].post(HALF, {"step": "who", "answer": puzzle.answer}, follow=True)
        assert "Right: Find one person by eye" in said.content.decode()

        page = room.clients["ann"].get("/c/spring/lessons/").content.decode()
        assert "2 of 10 steps are done" in page
        seen = room.clients["teacher"].get("/api/v1/contests/spring/run/lessons").json()
        assert [(row["name"], row["done"]) for row in seen["teams"]] == [("ann", 2), ("bob", 0)]
        assert "✗ 2" in room.clients["teacher"].get("/c/spring/run/lessons/").content.decode()

    def test_progress_is_for_the_team_and_the_teacher(self, room):
        for key, expected in (("nobody", 401), ("stranger", 403), ("ann", 403), ("teacher", 200)):
            answer = room.clients[key].get("/api/v1/contests/spring/run/lessons")
            assert answer.status_code == expected, key
        for key, expected in (("nobody", 401), ("stranger", 403), ("teacher", 403), ("ann", 200)):
            answer = room.clients[key].get("/api/v1/contests/spring/lessons")
            assert answer.status_code == expected, key

    def test_a_bad_file_costs_nothing_and_names_the_line(self, room):
        answer = hand_in(room.clients["ann"], "half", b"user_id\n1\nx\n")
        assert answer.status_code == 422
        assert not LessonProgress.objects.exists()

    def test_by_the_api(self, room):
        address = "/api/v1/contests/spring/lessons/pseudonyms"
        page = room.clients["ann"].get(address).json()
        said = [
            room.clients["ann"].post(
                f"{address}/who", {"answer": str(user["name"])}, content_type="application/json"
            )
            for user in page["puzzle"]["candidates"]
        ]
        assert sorted(one.json()["passed"] for one in said) == [False] * 4 + [True]
        assert room.clients["ann"].get(address + "/nothing").status_code in (404, 405)

    def test_other_contests_have_no_lessons(self, contest, new_team):
        team = new_team(contest)
        with pytest.raises(Refused, match="no such"):
            service.require_lessons(team.contest)

    def test_too_many_answers(self, room, monkeypatch):
        monkeypatch.setattr(service, "LIMIT", service.throttle.Limit("lesson", 2, 2, 60))
        said = [
            room.clients["ann"].post(HALF, {"step": "who", "answer": "1"}).status_code
            for _ in range(3)
        ]
        assert said == [302, 302, 429]


class TestReset:
    def test_the_next_class_begins_anew(self, room):
        one = service.lesson_named("pseudonyms")
        before = service.practice_of(room.teams[0], one).puzzle(service.seed_of(room.teams[0], one))
        room.clients["ann"].post(HALF, {"step": "who", "answer": before.answer})
        assert (
            room.clients["teacher"].post("/c/spring/run/lessons/", {"why": ""}).status_code == 422
        )
        answer = room.clients["teacher"].post(
            "/c/spring/run/lessons/", {"why": "next"}, follow=True
        )
        assert "1 step was erased" in answer.content.decode()
        assert not LessonProgress.objects.exists()
        assert Classroom.objects.get().generation == 1
        assert LogEntry.objects.filter(action="lessons-reset").count() == 1
        after = service.practice_of(room.teams[0], one).puzzle(service.seed_of(room.teams[0], one))
        assert after != before

    def test_a_copy_has_lessons_and_nothing_else(self, room):
        one = service.lesson_named("pseudonyms")
        room.clients["ann"].post(HALF, {"step": "who", "answer": "1"})
        copy = clone_contest(room.contest, SYSTEM, name="Next", slug="next", with_teams=True)
        service.require_lessons(copy)
        team = copy.teams.get(name="ann")
        assert not team.lesson_progress.exists()
        assert service.seed_of(team, one) != service.seed_of(room.teams[0], one)

    def test_progress_is_saved_and_restored(self):
        assert {Classroom, LessonProgress} <= set(saved_models())

    def test_students_cannot(self, room):
        answer = room.clients["ann"].post("/c/spring/run/lessons/", {"why": "x"})
        assert answer.status_code == 403

    def test_other_contests_stay(self, room, new_contest, new_team):
        other = new_contest("autumn", OPEN)
        team = new_team(other, "zoe")
        LessonProgress.objects.create(
            team=team, lesson="noise", step="half", last_at=other.created_at
        )
        assert service.reset(room.contest, SYSTEM, "next") == 0
        assert LessonProgress.objects.count() == 1


class TestPlay:
    def test_without_an_account(self, client, db):
        page = client.get("/learn/play/?defence=alike&step=4").content.decode()
        assert "KMeans(3,floor=0.8)" in page
        found = client.get("/api/v1/learn/play?defence=noise&step=3").json()
        assert found["step"] == 3
        assert 0 < found["utility"] < 1

    @pytest.mark.parametrize("query", ["", "?defence=x&step=99", "?step=-1"])
    def test_odd_questions_get_a_page(self, client, db, query):
        assert client.get(f"/learn/play/{query}").status_code == 200

    def test_one_address_may_ask_so_often_and_no_more(self, client, db, monkeypatch):
        monkeypatch.setattr(service, "PLAY", replace(service.PLAY, by_name=2, by_address=2))
        asked = [client.get("/learn/play/"), client.get("/api/v1/learn/play")]
        assert [one.status_code for one in asked] == [200, 200]
        for path in ("/learn/play/", "/api/v1/learn/play"):
            refused = client.get(path)
            assert refused.status_code == 429
        assert client.get("/learn/play/", REMOTE_ADDR="192.0.2.9").status_code == 200

    def test_the_document_names_every_slider(self):
        assert get_args(Slider) == tuple(SETTINGS)

    def test_moving_the_slider_gets_the_part_only(self, client, db):
        part = client.get("/learn/play/?defence=noise&step=1", headers={"HX-Request": "true"})
        assert b"<html" not in part.content
        assert b"PL(8,1)" in part.content
