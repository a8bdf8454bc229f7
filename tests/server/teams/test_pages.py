"""Pages of teams and of results, on a contest that is played with the real judge."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pyarrow import parquet
from wellformed import complaints

from tracecup.server import clock
from tracecup.server.jobs.worker import drain
from tracecup.server.judging.compute.moves import mean_moves
from tracecup.server.models import Announcement, Download, ResultSet, Submission
from tracecup.server.results import data as results
from tracecup.server.results import data_defence as defence
from tracecup.server.submissions import data as team
from tracecup.server.teams import data_map
from tracecup.server.teams.data import team_page

pytestmark = pytest.mark.django_db
PAGES = ("", "data/", "map/", "release/", "attack/", "defence/", "members/")


@pytest.fixture
def player(client, court):
    """A member of a team in her browser."""

    def as_team(number: int):
        client.force_login(court.teams[number].members.get().person)
        return client

    return as_team


def page(client, path, status=200):
    answer = client.get(f"/c/spring/{path}")
    assert answer.status_code == status
    html = answer.content.decode()
    assert complaints(html) == []
    return html


def step(court, number=1):
    court.fresh()
    role = team_role(court, number)
    return team_page(role, court.round).step.code


def team_role(court, number=1):
    from tracecup.server.access import role_of

    return role_of(court.contest, court.teams[number].members.get().person)


def upload(client, path, content, name, **fields):
    fields = {"action": "submit", "key": "k1", "challenge": "trace", **fields}
    file = SimpleUploadedFile(name, content)
    return client.post(f"/c/spring/team/{path}/", {**fields, "file": file})


class TestWhoMayLook:
    @pytest.mark.parametrize("name", PAGES)
    def test_visitors_log_in_first(self, client, contest, name):
        answer = client.get(f"/c/spring/team/{name}")
        assert answer.status_code == 302
        assert answer["Location"].startswith("/login/?next=")

    @pytest.mark.parametrize("name", PAGES)
    def test_others_are_told_that_they_may_not(self, client, contest, new_person, name):
        client.force_login(new_person("stranger"))
        assert "Not allowed" in page(client, f"team/{name}", 403)

    def test_a_team_of_another_contest_may_not_either(self, client, contest, new_contest, new_team):
        other = new_team(new_contest("autumn"))
        client.force_login(other.members.get().person)
        page(client, "team/", 403)


class TestNextStep:
    def test_through_the_whole_contest(self, court, player, at):
        said = []
        at("before")
        said.append(step(court))
        court.begin()
        at("announce")
        said.append(step(court))
        Download.objects.create(
            contest=court.contest, name="x", team=court.teams[1], at=clock.now(), length=1
        )
        said.append(step(court))
        at("anonymize")
        said.append(step(court))
        court.hand_in(1, court.release(1))
        said.append(step(court))
        at("judge")
        said.append(step(court))
        at("attack")
        drain()
        said.append(step(court))
        at("results")
        said.append(step(court))
        drain()
        said.append(step(court))
        assert said == [
            "wait-announce",
            "download",
            "prepare",
            "release-first",
            "release-better",
            "wait-judge",
            "attack-missing",
            "wait-results",
            "look-results",
        ]

    def test_paused_withdrawn_and_unscheduled(self, court, contest):
        court.begin()
        contest.refresh_from_db()
        contest.paused_at = clock.now()
        contest.save()
        assert step(court) == "paused"
        court.teams[1].status = "withdrawn"
        court.teams[1].save()
        assert step(court) == "withdrawn"

    def test_news_are_for_those_they_are_for(self, court, player):
        court.begin()
        for number, title in ((None, "To all"), (1, "To one"), (2, "To two")):
            to = court.teams[number] if number else None
            Announcement.objects.create(
                contest=court.contest, team=to, title=title, text="<b>bold</b>", at=clock.now()
            )
        html = page(player(1), "team/")
        assert "To all" in html
        assert "To one" in html
        assert "To two" not in html
        assert "<b>bold" not in html


class TestData:
    def test_before_the_announcement_it_says_when(self, court, player, at):
        court.begin()
        at("before")
        html = page(player(1), "team/data/")
        assert "Not yet" in html
        way = html.partition('<nav class="where"')[2].partition("</nav>")[0]
        assert re.findall('href="([^"]*)"', way) == ["/", "/c/spring/", "/c/spring/team/"]
        assert '<span aria-current="page">Data</span>' in way

    def test_own_and_sample_files_with_hashes(self, court, player):
        court.begin()
        html = page(player(1), "team/data/")
        assert "orgtraces_team001_data02_TRP" in html
        assert "ptable_team901_data02_TRP" in html
        assert "orgtraces_team002" not in html
        archives = 2
        assert (
            len(re.findall(r'class="hash"[^>]*>[0-9a-f]{64}<', html))
            == html.count(" download>") - archives
        )

    def test_a_range_of_a_file(self, court, player):
        court.begin()
        address = "/c/spring/files/info_region.csv"
        part = player(1).get(address, headers={"Range": "bytes=0-9"})
        assert part.status_code == 206
        assert len(b"".join(part.streaming_content)) == 10

    def test_the_file_of_another_team_is_not_found(self, court, player):
        court.begin()
        page(player(1), "files/orgtraces_team002_data02_TRP.csv.zst", 404)


class TestRelease:
    def test_check_costs_nothing_and_shows_pictures(self, court, player):
        court.begin()
        content = court.release(1, deleted=6).read_bytes()
        answer = upload(player(1), "release", content, "a.csv", action="check")
        html = answer.content.decode()
        assert answer.status_code == 200
        assert complaints(html) == []
        assert "0.7500, not below the floor of 0.7" in html
        assert 'id="distances"' in html
        assert 'id="trace"' in html  # the first user's days, before and after
        assert 'id="moved"' in html
        assert not Submission.objects.exists()

    def test_before_the_phase_one_can_only_check(self, court, player, at):
        court.begin()
        content = court.release(1).read_bytes()
        at("announce")
        client = player(1)
        html = page(client, "team/release/")
        assert 'value="check"' in html
        assert 'value="submit"' not in html
        answer = upload(client, "release", content, "a.csv", action="check")
        assert b"the format is right" in answer.content

    def test_only_the_part_for_htmx(self, court, player):
        court.begin()
        client = player(1)
        file = SimpleUploadedFile("a.csv", court.release(1).read_bytes())
        answer = client.post(
            "/c/spring/team/release/",
            {"challenge": "trace", "action": "check", "file": file},
            headers={"HX-Request": "true"},
        )
        assert b"<html" not in answer.content
        assert b"the format is right" in answer.content

    def test_a_bad_file_names_its_first_ten_lines(self, court, player):
        court.begin()
        lines = court.release(1).read_text().splitlines()
        bad = [lines[0], *("x" for _ in lines[1:])]
        answer = upload(player(1), "release", "\n".join(bad).encode(), "bad.csv")
        html = answer.content.decode()
        assert answer.status_code == 422
        assert complaints(html) == []
        assert "No try was charged" in html
        rows = re.findall(r'<td class="number">(\d+)</td><td>reg_id', html)
        assert rows[:10] == [str(k) for k in range(2, 12)]
        assert Submission.objects.get().state == "rejected"

    def test_handing_in_gives_a_receipt(self, court, player):
        court.begin()
        client = player(1)
        answer = upload(client, "release", court.release(1).read_bytes(), "a.csv", method="none")
        assert answer.status_code == 302
        html = page(client, "team/release/")
        made = Submission.objects.get()
        assert f"/receipt/{made.receipt}/" in html
        assert "Tries left</dt><dd>2 " in html
        assert made.method == "none"

    def test_below_the_floor_asks_first(self, court, player):
        court.begin()
        content = court.release(1, deleted=12).read_bytes()
        client = player(1)
        answer = upload(client, "release", content, "low.csv")
        assert answer.status_code == 422
        assert b"Below the floor" in answer.content
        assert not Submission.objects.exists()
        assert (
            upload(client, "release", content, "low.csv", confirm_invalid="on").status_code == 302
        )
        assert Submission.objects.get().valid is False

    def test_choose_describe_withdraw(self, court, player):
        court.begin()
        first = court.hand_in(1, court.release(1))
        second = court.hand_in(1, court.release(1, deleted=2))
        client = player(1)
        for ref, verb in ((first.ref, "choose"), (second.ref, "withdraw")):
            assert client.post(f"/c/spring/team/submission/{ref}/{verb}/").status_code == 302
        told = {"method": "words", "consent": "on"}
        client.post(f"/c/spring/team/submission/{first.ref}/describe/", told)
        first.refresh_from_db()
        second.refresh_from_db()
        assert (first.chosen, first.method, first.consent) == (True, "words", True)
        assert second.state == "withdrawn"

    def test_others_submissions_are_not_found(self, court, player):
        court.begin()
        theirs = court.hand_in(2, court.release(2))
        for verb in ("choose", "withdraw", "describe", "nonsense"):
            address = f"/c/spring/team/submission/{theirs.ref}/{verb}/"
            assert player(1).post(address).status_code == 404

    def test_no_file_and_a_closed_phase_are_explained(self, court, player, at):
        court.begin()
        client = player(1)
        answer = client.post("/c/spring/team/release/", {"challenge": "trace"})
        assert answer.status_code == 422
        assert b"No file came with the form" in answer.content
        content = court.release(1).read_bytes()
        at("judge")
        late = upload(client, "release", content, "a.csv")
        assert late.status_code == 409
        assert b"This phase is not open" in late.content
        assert b"Your file had arrived" in late.content
        assert b"No try was charged." in late.content


class TestAttack:
    def test_missing_targets_first_and_no_score(self, court, player):
        court.to_attack().attack_all()
        drain()
        html = page(player(1), "team/attack/")
        assert "Missing answers</dt><dd>2" in html
        scores = Submission.objects.filter(team=court.teams[1], kind="reid")
        assert all(one.score is not None for one in scores)
        assert all(f"{one.score:.3f}" not in html for one in scores)
        told = team.attack_page(team_role(court), court.round)
        assert [(one.team, one.missing) for one in told.targets] == [(0, 1), (2, 1)]

    def test_before_publication_there_is_nothing(self, court, player):
        court.begin()
        assert "Nothing to attack yet" in page(player(1), "team/attack/")

    def test_an_archive_of_many(self, court, player):
        court.to_attack()
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("etable_team001-002_data02_TRP.csv", court.table(1))
            archive.writestr("etraces_team001-002_data02_TRP.csv", b"nonsense")
            archive.writestr("readme.txt", b"hello")
        answer = upload(player(1), "attack", held.getvalue(), "answers.zip")
        html = answer.content.decode()
        assert complaints(html) == []
        assert "1 of 3 files accepted" in html
        assert "readme.txt" in html

    def test_one_file_for_a_chosen_target(self, court, player):
        court.to_attack()
        answer = upload(
            player(1), "attack", court.table(2), "mine.csv", target="trace-2", kind="reid"
        )
        assert answer.status_code == 302
        assert Submission.objects.get(kind="reid").target == 2

    def test_a_made_up_target_is_explained(self, court, player):
        court.to_attack()
        answer = upload(
            player(1), "attack", court.table(2), "mine.csv", target="trace-x", kind="reid"
        )
        assert answer.status_code == 422


class TestAfterTheResults:
    @pytest.fixture
    def played(self, court):
        return court.to_results()

    def test_results_page_and_tables(self, played, player, client):
        html = page(client, "results/")
        for part in ("Awards", "Two kinds of privacy", "Who broke whom", "opening_team001.txt"):
            assert part in html
        assert "at most 0." in html
        assert "link known: at most" in html
        held = ResultSet.objects.get().tables["cells"]
        table = json.loads(client.get("/c/spring/results/cells.json").content)
        assert [row["score"] for row in table] == held["score"]
        lines = client.get("/c/spring/results/cells.csv").content.decode().splitlines()
        assert len(lines) == len(held["score"]) + 1
        packed = client.get("/c/spring/results/cells.parquet").content
        assert parquet.read_table(io.BytesIO(packed)).column("score").to_pylist() == held["score"]
        self.agrees(results.results_page(team_role(played), played.round).board)
        played.round.frozen = True
        played.round.save()
        self.is_hidden(player(1))

    def agrees(self, board):
        """The board tells what the result set holds."""
        summary = ResultSet.objects.get().summary
        for award in board.awards:
            numbers = [place.team for place in award.places if place.rank == 1]
            assert numbers == summary["awards"][award.key]["winners"]
        for matrix in board.matrices:
            for row in matrix.rows:
                found = [value for value in row.values if value is not None]
                assert not found or row.minimum == min(found)

    def is_hidden(self, client):
        """A frozen board is nowhere to be seen."""
        assert "The boards are frozen" in page(client, "results/")
        page(client, "results/cells.csv", 404)
        page(client, "files/cells.csv", 404)
        assert "Not yet" in page(client, "team/defence/")

    def test_defence_shows_our_row_and_one_user(self, played, player):
        html = page(player(1), "team/defence/?user=3")
        assert "User 3." in html
        assert 'data-view="trace-inferred"' in html
        told = defence.defence_page(team_role(played), played.round, 3)
        own = played.original(1).regions[2].tolist()
        assert [cell[0] for cell in told.trace.original] == own
        assert {one.attacker for row in told.releases[0].rows for one in row.cells} >= {"002"}
        assert len(told.scores) == 24
        for nobody in ("0", "25", "x", "9" * 30):
            assert "User " in page(player(1), f"team/defence/?user={nobody}")
        assert "Nothing was attacked" in page(player(4), "team/defence/")


class TestMap:
    def test_any_user_before_and_after(self, court, player):
        assert "Not yet" in page(player(1), "team/map/")
        court.begin()
        html = page(player(2), "team/map/?user=3")
        assert "No release of yours counts yet" in html
        assert 'data-view="trace-original"' in html
        court.hand_in(2, court.release(2, deleted=3))
        html = page(player(2), "team/map/?user=3&show=both")
        assert "User 3." in html
        assert {"trace-original", "trace-obfuscated"} <= views(html)
        told = data_map.map_page(team_role(court, 2), court.round, 3)
        own = court.original(2).regions[2].tolist()
        assert [cell[0] for cell in told.trace.original] == own
        assert set(map(len, told.trace.obfuscated)) == {0}  # the first three are deleted
        assert "Deleted in the release: 8 of 8 events." in html
        assert "Deleted in the release" not in page(player(2), "team/map/?user=4")
        assert "trace-original" not in views(page(player(2), "team/map/?user=4&show=after"))
        assert "trace-obfuscated" not in views(page(player(2), "team/map/?show=before"))

    def test_odd_questions_get_a_map(self, court, player):
        court.begin()
        for query in ("user=0", "user=x", "show=x", "challenge=x"):
            assert "User 1." in page(player(1), f"team/map/?{query}")
        assert "User 24." in page(player(1), "team/map/?user=25")

    def test_the_check_shows_whom_one_wants(self, court, player):
        court.begin()
        file = court.release(1).read_bytes()
        said = upload(player(1), "release", file, "anotraces.csv", action="check", user="7")
        assert "User 7." in said.content.decode()

    def test_the_same_from_the_api(self, court, player):
        court.begin()
        told = player(1).get("/api/v1/contests/spring/team/map?user=2").json()
        own = court.original(1).regions[1].tolist()
        assert [cell[0] for cell in told["trace"]["original"]] == own


def views(html: str) -> set[str]:
    return set(re.findall('data-view="([^"]+)"', html))


class TestMeanMoves:
    def test_against_a_plain_loop(self, toy_city, toy_original, toy_obfuscated):
        found = mean_moves(toy_city, toy_original, toy_obfuscated).reshape(3, 4)
        for i in range(3):
            for j in range(4):
                cell = toy_obfuscated.cell(i, j)
                home = toy_original.regions[i, j]
                far = [float(toy_city.grid.distance(home, one)) for one in cell]
                if far:
                    assert found[i, j] == pytest.approx(sum(far) / len(far))
                else:
                    assert found[i, j] != found[i, j]
