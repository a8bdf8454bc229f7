"""Results: equal to the contest's own, kept in sets, published once, hidden until then."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.server.conftest import with_rules

from archived import archive_folder
from tracecup.contest.archive.folder import Archive
from tracecup.contest.archive.verify import verify
from tracecup.contest.results.tables import csv_differences
from tracecup.contest.rules import RoundRules, SampleRules
from tracecup.score import guessing_bound
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Role
from tracecup.server.errors import Refused
from tracecup.server.jobs import queue, sandbox
from tracecup.server.jobs.sandbox import SandboxFailed
from tracecup.server.jobs.worker import drain
from tracecup.server.models import (
    Job,
    LogEntry,
    Release,
    ResultSet,
    Round,
    StoredFile,
    Submission,
)
from tracecup.server.organising.data_scores import scores_page
from tracecup.server.organising.running import freeze, open_archive
from tracecup.server.results import service as results
from tracecup.server.results.data_board import facts_of
from tracecup.server.results.downloads import files_for
from tracecup.server.results.naming import attacker_names
from tracecup.server.resultsets import overall, published, table_rows
from tracecup.server.storage import store

pytestmark = pytest.mark.django_db


class TestArchiveFolder:
    def test_verification_finds_no_difference(self, court, tmp_path):
        court.to_results()
        folder = archive_folder(court.round, tmp_path / "archive")
        assert verify(folder, rerun_samples=True) == []
        archive = Archive(folder)
        assert len(archive.published()) == 3
        assert archive.attack_names["reid", "I2"].startswith("VisitProb-R")

    def test_with_a_disqualified_team(self, court, tmp_path):
        court.to_attack().attack_all()
        court.teams[1].status, court.teams[1].status_reason = "disqualified", "shared its table"
        court.teams[1].save()
        court.at("results")
        drain()
        found = published(court.fresh().round)
        rows = {row["pubtraces"]: row for row in table_rows(found, "releases")}
        assert rows["pubtraces_team001_data02_TRP.csv"]["hors_concours"]
        places = {row["team"]: row for row in table_rows(found, "awards")}
        assert places["team001"]["excluded"] == "hors concours"
        folder = archive_folder(court.round, tmp_path / "archive")
        assert verify(folder) == []

    def test_with_more_tries_than_the_rules_give(self, court, tmp_path):
        court.to_attack()
        court.teams[1].extensions.create(
            round=court.round,
            phase="attack",
            until=None,
            extra_tries=1,
            reason="our fault",
            given_at=court.round.published_at,
        )
        scores = [court.attack(1, 2, what=k) for k in (1, 2, 3)]
        court.at("results")
        drain()
        folder = archive_folder(court.fresh().round, tmp_path / "archive")
        assert verify(folder) == []
        for one in scores:
            one.refresh_from_db()
        cell = _cell(published(court.round), "reid", 2, "team001")
        assert cell["score"] == min(one.score for one in scores)

    def test_zip_of_it_is_the_organisers(self, court, tmp_path):
        from tracecup.contest.archive.export import opened

        court.to_results()
        made = StoredFile.objects.get(kind="archive")
        assert made.audience == "judge"
        with opened(store().path(made.sha256)) as folder:
            assert verify(folder) == []


class TestComputeResultSet:
    def test_cells_are_the_scores_of_the_answers(self, court):
        court.to_attack()
        given = court.attack_all()
        court.at("results")
        drain()
        found = published(court.fresh().round)
        for one in given:
            one.refresh_from_db()
        two_tries = min(given[0].score, given[1].score)
        assert _cell(found, "reid", 2, "team001")["score"] == two_tries
        for one in given[3:]:
            cell = _cell(found, one.kind, one.target, f"team{one.team.number:03d}")
            assert (cell["score"], cell["low"], cell["high"]) == (one.score, one.low, one.high)
        for row in Release.objects.filter(round=court.round, valid=True, team__isnull=False):
            for column, score in row.scores.items():
                kind = "reid" if column.startswith("I") else "trace"
                assert _cell(found, kind, row.team.number, column)["score"] == score["score"]

    def test_invalid_and_missing_releases_have_no_privacy(self, court):
        court.to_results()
        rows = {r["team"]: r for r in table_rows(published(court.round), "releases")}
        for team in ("003", "004"):
            assert (rows[team]["s_R_min"], rows[team]["s_T_min"]) == (0.0, 0.0)

    def test_tells_scorer_inputs_and_seconds(self, court):
        court.to_results()
        found = published(court.round)
        assert found.scorer.startswith("tracecup ")
        assert len(found.inputs_sha256) == 64
        assert found.seconds > 0

    def test_again_is_a_new_set_with_the_same_numbers(self, court):
        court.to_results()
        first = published(court.round)
        made = results.compute_result_set(court.round, "to be sure", SYSTEM)
        assert made.state == "computing"
        drain()
        made.refresh_from_db()
        assert (made.state, made.number) == ("draft", 2)
        assert made.tables == first.tables
        assert results.rank_diff(first, made) == []
        assert published(court.round) == first

    def test_waits_for_answers_that_are_not_scored(self, court):
        court.to_attack().attack_all()
        court.at("results")
        drain()
        order = list(Job.objects.order_by("finished_at", "pk").values_list("kind", flat=True))
        assert order.index("results") > max(k for k, kind in enumerate(order) if kind == "score")

    def test_not_before_the_judge(self, court):
        court.begin()
        with pytest.raises(Refused, match="no results"):
            results.compute_result_set(court.round, "", SYSTEM)

    def test_an_error_is_never_a_score(self, court, monkeypatch):
        """An answer that we could not score counts nowhere, and nothing goes out by itself."""
        court.to_attack()
        lost, kept = court.attack(1, 2, what=3), court.attack(2, 1, what=4)
        right = sandbox.run

        def broken(function, payload, **more):
            if payload.get("files", {}).get("answer", "").endswith(lost.sha256):
                raise SandboxFailed("killed", "killed")
            return right(function, payload, **more)

        with monkeypatch.context() as patch:
            patch.setattr(sandbox, "run", broken)
            job = Job.objects.get(key=f"score:{court.round.pk}:{lost.ref}")
            Job.objects.filter(pk=job.pk).update(max_attempts=1)
            court.at("results")
            drain()
        made = court.fresh().round.result_sets.get()
        assert made.state == "draft"
        assert court.round.released_at is None
        assert not [c for c in table_rows(made, "cells") if c["attacker"] == "team001"]
        kept.refresh_from_db()
        assert _cell(made, "reid", 1, "team002")["score"] == kept.score

    def test_dead_job_leaves_a_mark_and_can_be_repeated(self, court, monkeypatch):
        court.to_attack()
        with monkeypatch.context() as patch:

            def broken(function, payload, **more):
                raise SandboxFailed("out of memory", "memory")

            court.at("results")
            Job.objects.all().update(max_attempts=1)
            patch.setattr(sandbox, "run", broken)
            patch.setattr(queue, "MAX_ATTEMPTS", 1)
            results.compute_result_set(court.round, "by hand", SYSTEM)
            Job.objects.filter(kind="results").update(max_attempts=1)
            drain()
        made = ResultSet.objects.get(number=1)
        assert made.state == "failed"
        queue.again(Job.objects.get(key=f"results:{court.round.pk}:1"))
        drain()
        made.refresh_from_db()
        assert made.state == "draft"


class TestPublishResultSet:
    def test_goes_out_by_itself(self, court):
        court.to_results()
        assert court.round.released_at is not None
        assert published(court.round).number == 1
        names = set(
            StoredFile.objects.filter(kind="results", audience="all").values_list("name", flat=True)
        )
        assert {"releases.csv", "cells.parquet", "awards.csv", "reid.csv", "summary.json"} <= names

    def test_openings_are_open(self, court):
        court.to_results()
        assert {one.audience for one in StoredFile.objects.filter(kind="opening")} == {"all"}

    def test_by_hand_where_organisers_want_that(self, court):
        court.round.auto_results = False
        court.round.save()
        court.to_results()
        draft = court.round.result_sets.get()
        assert (draft.state, court.round.released_at) == ("draft", None)
        assert not StoredFile.objects.filter(kind="results").exists()
        results.publish_result_set(draft, SYSTEM, "checked")
        assert court.fresh().round.released_at is not None

    def test_the_one_before_is_kept(self, court):
        court.to_results()
        first = published(court.round)
        results.compute_result_set(court.round, "an appeal", SYSTEM)
        drain()
        second = court.round.result_sets.get(number=2)
        results.publish_result_set(second, SYSTEM, "an appeal")
        first.refresh_from_db()
        assert (first.state, published(court.round).number) == ("superseded", 2)
        entry = LogEntry.objects.filter(action="results.published").last()
        assert (entry.before, entry.after) == ({"number": 1}, {"number": 2})

    def test_not_while_attacks_go_on(self, court):
        court.to_attack()
        made = results.compute_result_set(court.round, "a look", SYSTEM)
        drain()
        made.refresh_from_db()
        with pytest.raises(Refused, match="attacks are over"):
            results.publish_result_set(made, SYSTEM)


class TestRankDiff:
    def test_names_every_place_that_moved(self, court):
        court.to_attack()
        found = court.original(1).regions.ravel() + 1
        exact = ("reg_id\n" + "".join(f"{region}\n" for region in found)).encode()
        withdrawn = court.hand_in(2, exact, kind="trace", target=1)
        court.at("results")
        drain()
        first = published(court.fresh().round)
        withdrawn.state = "withdrawn"
        withdrawn.save()
        results.compute_result_set(court.round, "withdrawn", SYSTEM)
        drain()
        diff = results.rank_diff(first, court.round.result_sets.get(number=2))
        moved = {(one["award"], one["team"]) for one in diff}
        assert ("best_trace_inference", "team002") in moved
        found = next(o for o in diff if o["team"] == "team002" and "trace_inf" in o["award"])
        assert found["old_value"] != found["new_value"]


class TestMaySeeScores:
    def test_only_organisers_before_the_results(self, court):
        court.to_attack()
        assert results.may_see_scores(Role(court.contest, None, organiser=True), court.round)
        assert not results.may_see_scores(Role(court.contest, None), court.round)
        own = Role(court.contest, None, team=court.teams[1])
        assert not results.may_see_scores(own, court.round)

    def test_everybody_after_them_unless_frozen(self, court):
        court.round.released_at = court.round.rules.phases.results
        assert results.may_see_scores(Role(court.contest, None), court.round)
        court.round.frozen = True
        assert not results.may_see_scores(Role(court.contest, None), court.round)


class TestLiveBoard:
    def test_agrees_with_the_results(self, court):
        court.to_results()
        found, names = published(court.round), attacker_names(court.contest)
        board, final = results.live_board(court.round, names), facts_of(found, names)
        for live, told in zip(board.releases, final.releases, strict=True):
            assert (live.file, live.label, live.name) == (told.file, told.label, told.name)
            assert (live.reid_min, live.reid_by_names) == (told.reid_min, told.reid_by_names)
            assert (live.trace_min, live.trace_by_names) == (told.trace_min, told.trace_by_names)
        for live, told in zip(board.matrices, final.matrices, strict=True):
            assert [one.values for one in live.rows] == [one.values for one in told.rows]
            for column, same in zip(live.attackers, told.attackers, strict=True):
                assert column.label == same.label
                assert column.sum == pytest.approx(same.sum)

    def test_tells_what_bounds_everybody_and_nothing_of_a_method(self, court):
        court.to_attack()
        board = results.live_board(court.round, {})
        guessing = guessing_bound(court.contest.rules.users)
        assert {row.bound for row in board.reid.rows} == {guessing}
        assert {row.bound for row in board.trace.rows} == {None}
        assert {one.method for one in board.releases} == {""}
        assert board.awards == ()


class TestOverall:
    def test_one_round_gives_its_own_awards(self, court):
        court.to_results()
        found = overall(court.contest)
        weight = court.round.rules.weight
        told = {
            (row["award"], row["team"]): row["value"]
            for row in table_rows(published(court.round), "awards")
            if row["rank"]
        }
        for key, award in found.items():
            for place in award.places:
                assert place.value == pytest.approx(weight * told[key, f"team{place.team}"])

    def test_rounds_are_added_with_their_weights(self, court):
        court.to_results()
        rules = court.contest.rules
        early = replace(RoundRules(), name="early", weight=2.0)
        with_rules(court.contest, rounds=(early, *rules.rounds))
        other = Round.objects.create(contest=court.contest, name="early", position=5)
        alone = overall(court.contest)["overall"].places
        copy = published(court.round)
        copy.pk, copy.round = None, other
        copy.save()
        both = overall(court.contest)["overall"].places
        weight = court.round.rules.weight
        for before, after in zip(alone, both, strict=True):
            assert after.value == pytest.approx(before.value * (weight + 2) / weight)

    def test_nothing_without_results(self, court):
        assert overall(court.contest) == {}


def test_published_csv_is_what_the_tables_say(court):
    court.to_results()
    found = published(court.round)
    from tracecup.contest.results.tables import ResultTable

    sha256, size = found.files["cells.csv"]
    path = store().path(sha256)
    assert path.stat().st_size == size
    assert csv_differences(path, ResultTable(found.tables["cells"]).csv()) == []


def _cell(found, kind, target, attacker):
    data = "data01_IDP" if target == 0 else "data02_TRP"
    name = f"pubtraces_team{target:03d}_{data}.csv"
    rows = table_rows(found, "cells")
    return next(
        r for r in rows if (r["kind"], r["pubtraces"], r["attacker"]) == (kind, name, attacker)
    )


class TestFrozen:
    def test_result_files_are_not_found_while_boards_are_frozen(self, court):
        from tracecup.server.results.downloads import open_file

        court.to_results()
        role = Role(court.contest, None, team=court.teams[1])
        assert open_file(role, court.round, "cells.csv")
        Round.objects.filter(pk=court.round.pk).update(frozen=True)
        court.fresh()
        with pytest.raises(Refused, match="no such file"):
            open_file(role, court.round, "cells.csv")
        assert not {"results", "scores", "archive"} & {f.kind for f in files_for(role, court.round)}
        organiser = Role(court.contest, None, organiser=True)
        assert open_file(organiser, court.round, "cells.csv")


class TestOpenArchive:
    def names(self, court, person=None) -> list[str]:
        found = files_for(Role(court.contest, person), court.fresh().round)
        return [one.name for one in found if one.kind == "archive"]

    def test_not_before_results(self, court):
        court.to_attack()
        with pytest.raises(Refused, match="once results are public"):
            open_archive(court.round, True, SYSTEM, "openness")

    def test_everybody_may_fetch_it_and_then_no_more(self, court):
        court.to_results()
        assert self.names(court) == []
        open_archive(court.round, True, SYSTEM, "openness")
        assert self.names(court) == ["spring-final.zip"]
        open_archive(court.round, False, SYSTEM, "a mistake")
        assert self.names(court) == []

    def test_organisers_find_it_on_the_page_of_scores(self, court, client, new_person):
        court.to_results()
        boss = new_person("boss")
        court.contest.organisers.create(person=boss, since=clock.now())
        client.force_login(boss)
        text = client.get("/c/spring/run/scores/").content.decode()
        address = "/c/spring/files/spring-final.zip?round=final"
        assert address in text
        assert client.get(address).status_code == 200

    def test_the_results_say_what_the_sample_attacks_are(self, court, client, new_person):
        court.to_results()
        boss = new_person("boss")
        court.contest.organisers.create(person=boss, since=clock.now())
        client.force_login(boss)
        text = client.get("/c/spring/results/").content.decode()
        assert f"I1 {court.contest.rules.samples.reid[0]}" in text

    def test_a_new_archive_stays_open(self, court):
        court.to_results()
        open_archive(court.round, True, SYSTEM, "openness")
        again = results.compute_result_set(court.round, "again", SYSTEM)
        drain()
        results.publish_result_set(again, SYSTEM)
        drain()
        assert self.names(court.fresh()) == ["spring-final.zip"]

    def test_not_while_boards_are_frozen(self, court):
        court.to_results()
        open_archive(court.round, True, SYSTEM, "openness")
        freeze(court.round, True, SYSTEM, "an appeal")
        assert self.names(court.fresh()) == []


class TestKnew:
    """What sample attacks knew stands beside their scores, and goes with the archive."""

    SAMPLES = SampleRules(("VisitProb-R", "Bayes-R"), ("VisitProb-T", "Prior-T(habits=mixture)"))

    def test_from_the_judge_to_pages_api_and_archive(self, court, client, new_person, tmp_path):
        with_rules(court.contest, samples=self.SAMPLES)
        court.to_attack()
        told = {row.label: row.scores["I2"]["knew"] for row in Release.objects.exclude(scores={})}
        assert len(told) == 3
        assert all("nats per held-out location; channel learnt" in one for one in told.values())
        role = Role(court.contest, None, organiser=True)
        live = next(one for one in scores_page(role, court.round).matrices if one.kind == "reid")
        assert {one.knew for one in live.knew} == set(told.values())
        court.attack_all()
        court.at("results")
        drain()
        boss = new_person("boss")
        court.contest.organisers.create(person=boss, since=clock.now())
        client.force_login(boss)
        for page in ("/c/spring/results/", "/c/spring/run/scores/"):
            text = client.get(page).content.decode()
            assert "What the sample attacks knew" in text
            assert "nats per held-out location" in text
        matrices = client.get("/api/v1/contests/spring/results").json()["board"]["matrices"]
        assert [(one["attacker"], one["attack"]) for one in matrices[1]["knew"]] == [
            ("T2", "Prior-T(habits=mixture)")
        ] * 3
        cells = table_rows(published(court.fresh().round), "cells")
        assert {row["knew"] for row in cells if row["attacker"] == "I2"} == set(told.values())
        folder = archive_folder(court.round, tmp_path / "archive")
        assert verify(folder, rerun_samples=True) == []
        assert set(told.values()) <= set(Archive(folder).knew.values())

    def test_rows_from_before_show_nothing(self, court, client, tmp_path):
        with_rules(court.contest, samples=self.SAMPLES)
        court.to_attack()
        for row in Release.objects.exclude(scores={}):
            row.scores = {
                column: {key: value for key, value in held.items() if key != "knew"}
                for column, held in row.scores.items()
            }
            row.save()
        court.attack_all()
        court.at("results")
        drain()
        found = published(court.fresh().round)
        assert "knew" not in found.tables["cells"]
        assert (
            "What the sample attacks knew" not in client.get("/c/spring/results/").content.decode()
        )
        folder = archive_folder(court.round, tmp_path / "archive")
        assert not (folder / "answers" / "knew.json").exists()
        assert verify(folder) == []


class TestScoresPage:
    def test_shows_answers_scored_so_far_until_there_are_results(self, court):
        court.to_attack()
        court.attack(1, 2)
        drain()
        role = Role(court.contest, None, organiser=True)
        page = scores_page(role, court.fresh().round)
        assert page.live
        reid = next(one for one in page.matrices if one.kind == "reid")
        row = next(one for one in reid.rows if "team002" in one.release)
        scored = dict(zip(reid.attackers, row.scores, strict=True))
        assert scored["team001"] == Submission.objects.get(kind="reid").score
        assert scored["team002"] is None
        court.at("results")
        drain()
        assert not scores_page(role, court.fresh().round).live

    def test_shows_nothing_before_the_judge(self, court):
        page = scores_page(Role(court.contest, None, organiser=True), court.begin().round)
        assert not page.live
        assert page.matrices == []
