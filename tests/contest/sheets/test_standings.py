"""Standings from sheets: the published preliminary round exactly, and small ones by hand."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from tracecup.contest.sheets import Sheet, read_sheet, read_utilities
from tracecup.contest.sheets.standings import standings
from tracecup.errors import InvalidParameter, InvalidTraces

PAPER = ("*_TRP.csv", "*team000*")


@pytest.fixture(scope="module")
def published(data_dir):
    folder = data_dir / "results"
    return (
        read_sheet(folder / "preliminary_reidentification.csv", "reid"),
        read_sheet(folder / "preliminary_traceinference.csv", "trace"),
    )


@pytest.fixture(scope="module")
def totals(data_dir):
    with (data_dir / "results" / "preliminary_total.csv").open() as file:
        return {row["team no."]: row for row in csv.DictReader(file)}


class TestPublished:
    def test_minimum_column(self, published):
        found = standings(*published).as_dict()["minimum"]
        for sheet in published:
            assert found[sheet.kind] == dict(zip(sheet.files, sheet.minimum, strict=True))

    def test_sum_row(self, published):
        found = standings(*published).as_dict()["sums"]
        for sheet in published:
            assert found[sheet.kind] == dict(zip(sheet.columns, sheet.sums, strict=True))

    def test_totals_of_all_teams(self, published, totals):
        # Re-identification of data set 01 and trace inference of data set 02, 0 without one.
        found = standings(*published).as_dict()["total"]
        assert set(found) == {f"team{team}" for team in totals}
        for team, row in totals.items():
            ours = found[f"team{team}"]
            assert ours["reid"] == float(row["SecI"])
            assert ours["trace"] == float(row["SecT"])
            assert ours["total"] == float(row["Total"])

    def test_winners_of_the_total(self, published, totals):
        remarks = {row["Remark"]: team for team, row in totals.items() if row["Remark"]}
        places = standings(*published).awards["overall"].places
        assert [place.team for place in places[:3]] == [remarks[k] for k in ("1st", "2nd", "3rd")]
        assert [place.rank for place in places[:3]] == [1, 2, 3]

    def test_other_winners_follow_from_the_sheets(self, published, totals):
        awards = standings(*published).awards
        for kind, column in (("reid", "SecI"), ("trace", "SecT")):
            best = max(totals, key=lambda team, c=column: float(totals[team][c]))
            assert awards[f"best_anonymization_{kind}"].winners == (best,)
        for sheet, key in zip(
            published, ("best_reidentification", "best_trace_inference"), strict=True
        ):
            best = sheet.attackers[int(np.argmin(sheet.sums[: len(sheet.attackers)]))]
            assert awards[key].winners == (best.removeprefix("team"),)

    def test_sheets_agree_with_their_cells(self, published):
        assert standings(*published).differences == ()

    def test_all_published_files_are_valid(self, published, data_dir):
        utility = read_utilities(data_dir / "results" / "preliminary_utility.csv")
        plain, with_utility = standings(*published), standings(*published, utility)
        assert with_utility.as_dict()["invalid"] == []
        assert with_utility.as_dict()["minimum"] == plain.as_dict()["minimum"]

    def test_correlation_of_the_papers_rows(self, published):
        reid, trace = published
        rows = [i for i, n in enumerate(reid.files) if n.endswith("_TRP.csv") or "team000" in n]
        expected = np.corrcoef([reid.minimum[i] for i in rows], [trace.minimum[i] for i in rows])[
            0, 1
        ]
        found = standings(*published, only=PAPER).correlation
        assert found.pairs == len(rows) == 14
        assert found.value == pytest.approx(expected, abs=1e-12)

    def test_only_chooses_rows_for_sums_and_awards_too(self, published):
        found = standings(*published, only=PAPER)
        reid = published[0]
        column = reid.attackers.index("team006")
        rows = [i for i, n in enumerate(reid.files) if n.endswith("_TRP.csv") or "team000" in n]
        expected = np.nansum(reid.scores[rows, column])
        assert found.as_dict()["sums"]["reid"]["team006"] == pytest.approx(expected, abs=1e-12)
        assert "best_anonymization_reid" not in found.awards

    def test_overall_of_one_challenge_takes_both_minima_of_a_file(self, published):
        reid, trace = published
        name = "pubtraces_team016_data02_TRP.csv"
        row = reid.files.index(name)
        total = standings(*published, only=PAPER).as_dict()["total"]["team016"]
        assert total["reid"] == reid.minimum[row]
        assert total["trace"] == trace.minimum[row]

    def test_winner_may_be_excluded(self, published):
        usual = standings(*published, only=PAPER).awards["best_trace_inference"]
        barred = standings(*published, only=PAPER, winner_excluded=True)
        assert usual.winners == ("016",)
        assert barred.awards["best_anonymization_trace"].winners == ("016",)
        assert barred.awards["best_trace_inference"].winners == (usual.places[1].team,)


FILES = ("pubtraces_team000_data01_IDP.csv", "pubtraces_team001_data02_TRP.csv")
NAN = float("nan")


def small(kind: str, minimum=None, sums=None) -> Sheet:
    scores = np.array([[0.5, 0.75], [NAN, 0.25]])
    return Sheet(kind, FILES, ("team001", "team002"), (), scores, minimum, sums)


class TestSmall:
    def test_differences_are_named(self):
        found = standings(small("reid", (0.5, 0.3), (0.5, 1.1)), small("trace", (0.5, 0.25)))
        assert [text.split(",")[0] for text in found.differences] == [
            f"reid: minimum of {FILES[1]} is 0.25",
            "reid: sum of team002 is 1.0",
        ]

    def test_invalid_file(self):
        found = standings(small("reid"), small("trace"), {FILES[0]: 1.0, FILES[1]: 0.69})
        said = found.as_dict()
        assert said["invalid"] == [FILES[1]]
        assert said["minimum"]["reid"] == {FILES[0]: 0.5, FILES[1]: 0.0}
        assert said["sums"]["reid"] == {"team001": 0.5, "team002": 0.75}
        assert said["correlation"] is None
        assert said["correlation_detail"]["reason"]

    def test_exactly_at_the_floor_is_valid(self):
        utility = {FILES[0]: 1.0, FILES[1]: 0.7}
        assert standings(small("reid"), small("trace"), utility).as_dict()["invalid"] == []
        low = standings(small("reid"), small("trace"), utility, floor=0.71)
        assert low.as_dict()["invalid"] == [FILES[1]]

    def test_rows_may_stand_in_another_order(self):
        trace = small("trace")
        turned = trace.take(FILES[::-1])
        assert (
            standings(small("reid"), turned).as_dict() == standings(small("reid"), trace).as_dict()
        )

    def test_files_of_both_sheets(self):
        with pytest.raises(InvalidTraces, match="trace sheet has no row for pubtraces_team001"):
            standings(small("reid"), small("trace").take(FILES[:1]))
        with pytest.raises(InvalidTraces, match="reid sheet has no row"):
            standings(small("reid").take(FILES[:1]), small("trace"))

    def test_utilities_and_files(self):
        with pytest.raises(InvalidTraces, match="no utility"):
            standings(small("reid"), small("trace"), {FILES[0]: 1.0})
        known = dict.fromkeys(FILES, 1.0)
        with pytest.raises(InvalidTraces, match="no scores"):
            standings(small("reid"), small("trace"), known | {"x.csv": 0.8})
        # What was below the floor was never published and has no scores.
        standings(small("reid"), small("trace"), known | {"x.csv": 0.5})

    def test_nothing_matches(self):
        with pytest.raises(InvalidParameter, match=r"\*_XYZ"):
            standings(small("reid"), small("trace"), only=["*_XYZ"])
