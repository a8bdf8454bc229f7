"""Studies on the user's copy of the public data; quick runs, so few users and coarse sweeps."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tracecup.errors import UnreadableFile
from tracecup.obfuscate import parse_obfuscator
from tracecup.plot import album
from tracecup.study import context as context_module
from tracecup.study import fig9
from tracecup.study.context import Context
from tracecup.study.fig4 import blocks
from tracecup.study.fig8 import CODES, method_of, replayed
from tracecup.study.reproduce import run_study, studies

USERS = 150
TWINS = {"team018", "team019"}


@pytest.fixture(scope="module")
def context(data_dir):
    """The public data only, and very few users."""
    with pytest.MonkeyPatch.context() as patch:
        has = Context.has
        patch.setattr(context_module, "QUICK_USERS", USERS)
        patch.setattr(Context, "has", lambda self, need: need != "built-in" and has(self, need))
        yield Context(data_dir, quick=True)


@pytest.fixture(scope="module")
def fewer(context):
    """Still fewer users, for studies in which every bot's defence is tuned to the floor."""
    return replace(context, asked_users=60)


@cache
def result_of(name, context):
    return run_study(studies()[name], context).result


class TestContext:
    def test_says_what_is_there(self, context, tmp_path):
        assert context.has("sample")
        assert context.has("sheets")
        assert not Context(tmp_path).has("sample")
        assert not Context().has("sheets")

    def test_without_a_folder_a_file_is_asked_for_in_vain(self):
        with pytest.raises(UnreadableFile, match="give --data"):
            Context().path("osaka/info_region.csv")

    def test_a_quick_run_takes_the_first_users(self, context):
        quick = context.stages["sample"]
        assert quick.sizes == {"users": USERS, "events": 40, "regions": 1024}
        whole = context.sample_team()
        assert (quick.original.regions == whole.original.regions[:USERS]).all()


class TestFigure8:
    def test_37_codes_name_methods(self):
        assert len(CODES) == 37
        assert [method_of(code) for code in ("A1", "A3-10", "A5-0.1")] == [
            "None",
            "RR(10)",
            "Cheat(0.1)",
        ]
        assert all(str(parse_obfuscator(replayed(code))) for code in CODES)

    def test_all_published_utilities_are_met(self, context):
        result = result_of("fig8", context)
        assert max(result.tables["utilities"].column("difference")) <= 1e-9
        assert len(result.tables["utilities"]) == 37
        assert all(one.inside for one in result.comparisons)

    def test_cheating_is_the_exception(self, context):
        table = result_of("fig8", context).tables["sample"]
        none, cheat = table.row(code="A1"), table.row(code="A5-1")
        assert cheat["s_R,min"] - none["s_R,min"] > 0.2
        assert abs(cheat["s_T,min"] - none["s_T,min"]) < 0.03


class TestFigure9:
    def test_published_minima_and_totals_exactly(self, context):
        result = result_of("fig9", context)
        exact = [one for one in result.comparisons if one.what.startswith("largest difference")]
        assert [one.ours for one in exact] == [0.0] * 9
        assert len(result.tables["preliminary"]) == 27
        assert len(result.tables["final"]) == 34

    def test_the_papers_correlation_and_winners(self, context):
        result = result_of("fig9", context)
        banded = [one for one in result.comparisons if one.inside is not None]
        assert all(one.inside for one in banded)
        (final,) = (one for one in banded if one.what.startswith("correlation"))
        assert final.ours == pytest.approx(0.89521, abs=1e-5)
        assert sum("number of the team" in one.what for one in banded) == 7

    def test_the_correlation_comes_from_two_groups(self, context):
        numbers = result_of("fig9", context).numbers
        every = numbers["correlation, trace-inference files and benchmark"]
        assert every == pytest.approx(0.872, abs=5e-4)
        assert numbers[fig9.OBFUSCATED] == pytest.approx(0.059, abs=5e-4)

    def test_the_best_total_is_the_published_one(self, context):
        result = result_of("fig9", context)
        assert result.tables["preliminary_totals"].rows[0][0] == "011"


class TestFigure4:
    def test_hospitals_and_crowds(self, context):
        result = result_of("fig4", context)
        assert all(one.inside for one in result.comparisons)
        shares = result.tables["tokyo_training"].column("training share")
        assert sum(shares) == pytest.approx(1)

    def test_blocks_keep_the_sum(self):
        shares = np.arange(400.0).reshape(20, 20)
        assert blocks(shares).shape == (4, 4)
        assert blocks(shares)[0, 1] == shares[:5, 5:10].sum()


class TestFinalRound:
    def test_what_sheets_say_of_figures_10_12_and_13(self, context, fewer):
        ten = [one for one in result_of("fig10", context).comparisons if "final" in one.what]
        assert len(ten) == 5
        assert all(one.inside for one in ten)
        twelve = result_of("fig12", fewer).tables["teams"]
        assert len(twelve) == 17
        assert max(twelve.column("s_T,min")) == pytest.approx(0.720, abs=5e-4)
        thirteen = [one for one in result_of("fig13", fewer).comparisons if "final" in one.what]
        assert [one.inside for one in thirteen] == [True, True]

    def test_pictures(self, context):
        names = [
            picture.name
            for study in ("fig9", "teams2019")
            for picture in album.draw(run_study(studies()[study], context))
        ]
        assert names == [
            "fig9-final",
            "fig9-preliminary",
            "teams2019-agreement",
            "teams2019-places",
            "teams2019-settling",
            "teams2019-ceiling",
            "teams2019-openings",
        ]


class TestTeams2019:
    def test_the_papers_three_best(self, context):
        found = result_of("teams2019", context)
        assert [one.inside for one in found.comparisons] == [True] * 3

    def test_who_agrees(self, context):
        tables = result_of("teams2019", context).tables
        (same,) = (row for row in tables["agreement_trace"].rows if {*row[:2]} == TWINS)
        assert same[2] == same[4] == 26
        (sample,) = (
            row for row in tables["agreement_reid"].rows if {*row[:2]} == {"team017", "I3"}
        )
        assert (sample[2], sample[4]) == (31, 30)

    def test_places(self, context):
        ranks = result_of("teams2019", context).tables["ranks"]
        first = ranks.row(award="best_anonymization_reid", team="001")
        assert (first["low"], first["high"]) == (1, 1)
        lone = ranks.row(award="best_anonymization_trace", team="011")
        assert (lone["rank"], lone["high"]) == (17, 17)
        assert lone["low"] <= 5

    def test_more_attackers_never_raise_the_minimum(self, context):
        settling = result_of("teams2019", context).tables["settling"]
        for name in ("s_R", "s_T"):
            values = settling.column(name)
            assert values == sorted(values, reverse=True)
            assert values[-1] < 0.01

    def test_nobody_is_above_the_ceiling(self, context):
        ceiling = result_of("teams2019", context).tables["ceiling"]
        assert min(ceiling.column("below the ceiling")) > 0.05
        assert ceiling.rows[0][1] == "009"

    def test_lone_openers(self, context):
        openings = result_of("teams2019", context).tables["openings"]
        alone = {(row["file"][10:17], row["by"]) for row in openings.where(openers=1).records()}
        assert ("team011", "team012") in alone
        assert len(alone) == 4


class TestFigure10:
    def test_users_of_a_cluster_come_together(self, context):
        numbers = result_of("fig10", context).numbers
        assert numbers["spread after (sample)"] < 0.5 * numbers["spread before (sample)"]
        assert numbers["utility (sample)"] >= 0.7 - 1e-9

    def test_more_attacks_find_at_least_as_much(self, context):
        numbers = result_of("fig10", context).numbers
        samples, every = (f"s_T,min, {who} attacks (sample)" for who in ("sample", "all"))
        assert numbers[every] <= numbers[samples]


class TestFigure12AndCeiling:
    def test_weights_from_1_to_1000(self, fewer):
        weights = result_of("fig12", fewer).tables["sample_weights"]
        assert weights.column("weight")[0] == 1
        assert weights.column("weight")[-1] == 1000
        assert all(-1 <= r <= 1 for r in weights.column("R"))

    def test_no_defence_is_credited_with_more_than_the_ceiling(self, fewer):
        table = result_of("beyond2", fewer).tables["sample"]
        assert all(row["credit"] <= row["ceiling"] for row in table.records())
        assert table.row(defence="None")["s_T, told who is who"] == 0.0


class TestBeyond1:
    def test_more_budget_more_utility_and_budgets_compose(self, context):
        table = result_of("beyond1", context).tables["sample"]
        for mechanism in ("PL", "RR"):
            rows = table.where(mechanism=mechanism).records()
            assert rows[0]["s_U"] < 0.1
            assert rows[-1]["s_U"] > 0.9
            assert rows[-1]["epsilon of the trace"] == rows[-1]["epsilon per event"] * 40


class TestFigure13:
    def test_valid_noise_keeps_places_and_reference_traces_do_not(self, fewer):
        numbers = result_of("fig13", fewer).numbers
        assert numbers["median POI accuracy, PL(4,1) (tokyo)"] > 0.9
        assert numbers["median POI accuracy, Reference (tokyo)"] < 0.5

    def test_statistics_stand_between_reference_and_uniform(self, fewer):
        found = result_of("fig13", fewer)
        ways = {one.what: one.ours for one in found.comparisons if "way from" in one.what}
        assert len(ways) == 4
        at = {k: found.numbers[f"median TM-EMD, {k} (tokyo)"] for k in ("PL(4,1)", "Uniform")}
        low = found.numbers["median TM-EMD, Reference (tokyo)"]
        way = "median TM-EMD, PL(4,1), way from Reference (0) to Uniform (1) (tokyo)"
        assert ways[way] == pytest.approx((at["PL(4,1)"] - low) / (at["Uniform"] - low))
