import json
import math
from dataclasses import astuple

import pytest

from tracecup.contest.archive.folder import Archive
from tracecup.contest.archive.scored import results_of
from tracecup.contest.entries import BENCHMARK, Entry
from tracecup.contest.judging.flow import score_release
from tracecup.contest.results.tables import read_table
from tracecup.contest.results.users import USERS_FILE, read_users
from tracecup.contest.sheets import read_sheet, read_utilities
from tracecup.contest.sheets.standings import standings
from tracecup.contest.smallfiles import write_json
from tracecup.errors import InvalidFile


@pytest.fixture(scope="module")
def tables(played):
    names = ("releases", "cells", "sums", "awards", "users")
    return {name: read_table(played.results / f"{name}.parquet").rows() for name in names}


class TestResults:
    def test_minima_are_those_of_the_cells(self, tables):
        for row in tables["releases"]:
            for kind, key in (("reid", "s_R_min"), ("trace", "s_T_min")):
                scores = [
                    cell["score"] for cell in tables["cells"]
                    if cell["kind"] == kind and cell["pubtraces"] == row["pubtraces"]
                ]  # fmt: skip
                assert row[key] == min(scores, default=0.0)

    def test_every_attacker_is_in_every_row_but_its_own(self, tables, played):
        for kind, samples in (("reid", ["I1", "I2", "I3"]), ("trace", ["T1", "T2", "T3"])):
            for entry in played.published():
                attackers = [
                    cell["attacker"] for cell in tables["cells"]
                    if cell["kind"] == kind and cell["pubtraces"] == entry.release
                ]  # fmt: skip
                teams = [f"team{k:03d}" for k in range(1, 6) if k != entry.team]
                assert attackers == teams + samples

    def test_sums_leave_out_hors_concours(self, tables):
        for row in tables["sums"]:
            scores = [
                cell["score"] for cell in tables["cells"]
                if (cell["kind"], cell["attacker"]) == (row["kind"], row["attacker"])
                and cell["pubtraces"] != Entry(3).release
            ]  # fmt: skip
            assert row["sum"] == pytest.approx(math.fsum(scores), abs=1e-12)
            assert row["not_attacked"] == 0

    def test_awards_name_who_is_left_out_and_why(self, tables):
        best = [row for row in tables["awards"] if row["award"] == "best_anonymization_trace"]
        left_out = {row["team"]: row["excluded"] for row in best if row["excluded"]}
        assert left_out == {"team003": "hors concours", "team004": "no valid release"}
        ranked = [row for row in best if row["rank"]]
        assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in ranked)
        values = [row["value"] for row in ranked]
        assert values == sorted(values, reverse=True)

    def test_users_of_a_release_are_read_from_the_csv(self, tables, played):
        for entry in played.published():
            wanted = [
                (row["user"], row["s_T"], row["found_by"], row["attacks"])
                for row in tables["users"]
                if row["pubtraces"] == entry.release
            ]
            assert wanted
            found = read_users(played.results / USERS_FILE, entry.release)
            assert [astuple(row) for row in found] == wanted
        assert read_users(played.results / USERS_FILE, "pubtraces_team") == []

    def test_users_give_the_share_found(self, tables):
        for row in tables["releases"]:
            users = [user for user in tables["users"] if user["pubtraces"] == row["pubtraces"]]
            found = sum(user["found_by"] for user in users)
            scores = [
                cell["score"] for cell in tables["cells"]
                if cell["kind"] == "reid" and cell["pubtraces"] == row["pubtraces"]
            ]  # fmt: skip
            assert found == pytest.approx(sum(20 * (1 - score) for score in scores))

    def test_cheating_shows_the_papers_first_finding(self, tables):
        by_name = {row["pubtraces"]: row for row in tables["releases"]}
        cheat, plain = by_name[Entry(3).release], by_name[BENCHMARK.release]
        assert cheat["s_R_min"] >= 0.9  # 20 users: a lucky guess is 0.05 each
        assert cheat["s_T_min"] <= plain["s_T_min"] + 0.03

    def test_csv_and_parquet_say_the_same(self, played):
        for path in played.results.glob("*.parquet"):
            if path.stem not in ("reid", "trace"):
                assert read_table(path).csv() == path.with_suffix(".csv").read_text()

    def test_sheets_are_in_the_published_format(self, played):
        sheets = [read_sheet(played.results / f"{kind}.csv", kind) for kind in ("reid", "trace")]
        utility = read_utilities(played.results / "utility.csv")
        found = standings(*sheets, utility)
        assert found.differences == ()
        summary = json.loads((played.results / "summary.json").read_text())
        assert found.correlation.value == pytest.approx(summary["correlation"]["value"])
        for key, award in found.awards.items():
            assert list(award.winners) == summary["awards"][key]["winners"]


class TestWithdrawn:
    def test_a_team_taken_out_plays_hors_concours(self, own_copy):
        targets = [score_release(own_copy, e, own_copy.all_attackers) for e in own_copy.published()]
        before = results_of(own_copy, targets)
        write_json(own_copy.root / "withdrawn.json", {"001": "disqualified", "004": "withdrawn"})
        after = results_of(Archive(own_copy.root), targets)
        rows = {row.team: row for row in after.board.releases}
        assert rows["001"].hors_concours
        assert not rows["004"].hors_concours  # its release was never published
        for award in after.awards.values():
            assert award.excluded["001"] == award.excluded["004"] == "hors concours"
        kept = {place.team for place in before.awards["overall"].places} - {"001"}
        assert {place.team for place in after.awards["overall"].places} == kept
        assert after.board.trace.minimum() == before.board.trace.minimum()

    def test_only_teams_of_the_contest(self, own_copy):
        write_json(own_copy.root / "withdrawn.json", {"999": "who?"})
        with pytest.raises(InvalidFile, match=r"withdrawn\.json"):
            _ = Archive(own_copy.root).withdrawn
