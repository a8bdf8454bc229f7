"""Rounds together and published totals: those of 2019 as floats, small ones by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.contest.sheets import Sheet, read_sheet, read_utilities
from tracecup.contest.sheets.places import ordinal
from tracecup.contest.sheets.rounds import Round, combine
from tracecup.contest.sheets.standings import standings
from tracecup.contest.sheets.totals import differing, read_totals
from tracecup.errors import InvalidFile, InvalidParameter

FILES = ("pubtraces_team000_data01_IDP.csv", "pubtraces_team001_data02_TRP.csv")
NAN = float("nan")
# From the organisers' own workbook of the final: SecI, SecT, Total of 1 x preliminary + 9 x final.
PUBLISHED_TOTALS = {
    "team001": (8.1175, 6.381578728548504, 14.499078728548504, "1st, Best IDP"),
    "team009": (6.330499999999999, 7.3076014415008785, 13.638101441500877, "2nd, Best TRP"),
    "team016": (6.156499999999999, 6.559964485824987, 12.716464485824986, "3rd"),
    "team017": (0.0, 0.826328376675601, 0.826328376675601, ""),
    "team021": (0.0, 0.0, 0.0, ""),
}
# The same for attackers and sample attacks.
PUBLISHED_SUMS = {
    "reid": {"team004": 168.98899999999998, "team009": 174.65849999999995, "I2": 297.1835000000001},
    "trace": {"team002": 180.1833142346963, "team012": 181.98772818441003, "T3": 288.412698606622},
}


def of_round(folder, name):
    return standings(
        read_sheet(folder / f"{name}_reidentification.csv", "reid"),
        read_sheet(folder / f"{name}_traceinference.csv", "trace"),
        read_utilities(folder / f"{name}_utility.csv"),
    )


@pytest.fixture(scope="module")
def published(data_dir):
    folder = data_dir / "results"
    return combine(
        [
            Round("preliminary", 1, of_round(folder, "preliminary")),
            Round("final", 9, of_round(folder, "final")),
        ]
    )


class TestPublished:
    def test_totals(self, published):
        found = published.as_dict()["total"]
        for team, (reid, trace, total, remark) in PUBLISHED_TOTALS.items():
            row = found[team]
            assert (row["reid"], row["trace"], row["total"]) == (reid, trace, total)
            assert row["remark"] == remark
        assert published.awards["overall"].places[0].value == PUBLISHED_TOTALS["team001"][2]

    def test_sums(self, published):
        found = published.as_dict()["sums"]
        for kind, sums in PUBLISHED_SUMS.items():
            assert {name: found[kind][name] for name in sums} == sums

    def test_minima_and_sums_of_the_final(self, published, data_dir):
        final = published.rounds[1].standings
        assert final.differences == ()
        for kind, stem in (("reid", "reidentification"), ("trace", "traceinference")):
            sheet = read_sheet(data_dir / "results" / f"final_{stem}.csv", kind)
            assert tuple(final.board.board(kind).minimum().values()) == sheet.minimum
            assert tuple(final.sums[kind].values()) == sheet.sums

    def test_winners(self, published):
        winners = {key: award.winners for key, award in published.awards.items()}
        assert winners == {
            "best_anonymization_trace": ("009",),
            "best_anonymization_reid": ("001",),
            "best_reidentification": ("004",),
            "best_trace_inference": ("002",),
            "overall": ("001",),
        }
        attackers = published.as_dict()["attackers"]
        assert attackers["reid"]["team004"]["remark"] == "1st"
        assert "team021" not in attackers["reid"]

    def test_the_papers_correlation(self, data_dir):
        folder = data_dir / "results"
        sheets = [
            read_sheet(folder / f"final_{stem}.csv", kind)
            for kind, stem in (("reid", "reidentification"), ("trace", "traceinference"))
        ]
        found = standings(*sheets, only=("*_TRP.csv", "*team000*")).correlation
        assert found.pairs == 18
        assert found.value == pytest.approx(0.89521, abs=1e-5)

    def test_preliminary_totals(self, published, data_dir):
        (table,) = read_totals(data_dir / "results" / "preliminary_total.csv")
        assert len(table.rows) == 21
        ours = published.rounds[0].standings.as_dict()["total"]
        assert list(differing(table, ours)) == []


def small(low: float) -> Sheet:
    return Sheet(
        "reid", FILES, ("team001", "team002"), ("I1",), np.array([[0.5, 1, 1], [NAN, low, 1]])
    )


def pair(low: float):
    sheet = small(low)
    return standings(sheet, Sheet("trace", FILES, sheet.attackers, ("T1",), sheet.scores))


class TestCombine:
    def test_by_hand(self):
        found = combine([Round("a", 1, pair(0.25)), Round("b", 3, pair(0.5))]).as_dict()
        # One challenge: both minima of the same release, 0.25 + 3 x 0.5.
        assert found["total"]["team001"] == {
            "reid": 1.75,
            "trace": 1.75,
            "total": 3.5,
            "place": 1,
            "remark": "1st, Best TRP",
        }
        assert found["total"]["team002"]["place"] is None
        assert found["sums"]["reid"] == {"I1": 8.0, "team001": 2.0, "team002": 5.75}
        assert found["rounds"]["b"]["weight"] == 3

    def test_names(self):
        with pytest.raises(InvalidParameter, match="each once"):
            combine([Round("a", 1, pair(0.25)), Round("a", 1, pair(0.25))])
        with pytest.raises(InvalidParameter, match="none"):
            combine([])


TOTALS = """First,,,,,,Both,,,,
team no.,SecI,SecT,Total,Remark,,team no.,SecI,SecT,Total,Remark
1,0.25,0.25,0.5,1st,,001,1.75,1.75,3.5,1st
,,,,,,002,0,0,0,
"""


class TestTotals:
    def test_side_by_side(self, sheet_file):
        first, both = read_totals(sheet_file(TOTALS))
        assert (first.title, both.title) == ("First", "Both")
        assert list(first.rows) == ["team001"]
        assert both.rows["team001"]["Total"] == 3.5
        found = combine([Round("a", 1, pair(0.25)), Round("b", 3, pair(0.5))]).as_dict()
        assert list(differing(both, found["total"])) == []

    def test_differences_name_the_cell(self, sheet_file):
        text = TOTALS.replace("3.5,1st", "3.75,2nd").replace("002,0", "003,0")
        _, both = read_totals(sheet_file(text))
        found = combine([Round("a", 1, pair(0.25)), Round("b", 3, pair(0.5))]).as_dict()
        said = list(differing(both, found["total"]))
        assert said[0] == "cell J3: Total of team001 is 3.75, the sheets give 3.5"
        assert said[1] == "cell K3: remark of team001 is '2nd', the sheets give place 1"
        assert said[2] == "cell H4: SecI of team003 is 0.0, the sheets give None"

    @pytest.mark.parametrize("text", ["", "a,b\n", "team no.,SecI,SecT,Total,Remark\n1,x,0,0,\n"])
    def test_no_totals(self, sheet_file, text):
        with pytest.raises(InvalidFile):
            read_totals(sheet_file(text))


class TestOrdinal:
    def test_teens(self):
        assert [ordinal(k) for k in (12, 13, 21, 111)] == ["12th", "13th", "21st", "111th"]
