"""Studies on 20-day traces, with a small model in the place of the package's."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from matplotlib.text import Text

from tracecup.city import Clock
from tracecup.contest import worlds
from tracecup.datasets import Metropolis
from tracecup.plot import album
from tracecup.study import context as context_module
from tracecup.study import fig9, markov_speed, table2
from tracecup.study.context import Context
from tracecup.study.fig19 import homes, seen_at_home
from tracecup.study.reproduce import run_study, studies
from tracecup.study.results import Table
from tracecup.synth import PPMTFPlus, Training
from tracecup.traces import Traces


@pytest.fixture(scope="module")
def context():
    training = Training.of_records(Metropolis(300).records(days=1))
    model = PPMTFPlus(z=4, masks=True, home="own", iterations=3).fit(training, rng=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worlds, "shipped_model", lambda: model)
        patch.setattr(context_module, "QUICK_USERS", 100)
        patch.setattr(table2, "QUICK_SIZES", (40, 80))
        patch.setattr(fig9, "QUICK_USERS", 30)
        patch.setattr(markov_speed, "MANY_SECONDS", 0.0)
        patch.setattr(markov_speed, "FEW_SECONDS", 0.001)
        patch.setattr(fig9, "QUICK_TEAMS", 4)
        patch.setattr(Context, "has", lambda self, need: need == "built-in")
        yield Context(quick=True)


class TestLongTeam:
    def test_has_the_paper_s_length_and_other_users_in_other_teams(self, context):
        first, second = context.long_team(1, 50), context.long_team(2, 50)
        assert first.reference.shape == first.original.shape == (50, 400)
        assert (first.original.regions != second.original.regions).any()
        assert first.source.label.startswith("Made on the built-in city")


class TestHomes:
    def test_the_most_frequent_region_of_the_first_slots(self):
        traces = Traces.of([[7, 7, 1, 7, 2, 3]], Clock.regular(2, slots=3))
        assert homes(traces, 2).tolist() == [7]

    def test_people_are_at_home_early_in_the_day(self, context):
        numbers = run_study(studies()["fig19"], context).result.numbers
        assert numbers["at home before 8:00"] > numbers["at home 12:00 to 13:00"]


class TestFairness:
    def test_a_swap_is_even_without_a_difference_and_rarer_with_one(self):
        assert table2.swap_probability(0, 0.1) == 0.5
        assert table2.swap_probability(0.2, 0.1) < table2.swap_probability(0.1, 0.1) < 0.5
        assert table2.swap_probability(0.1, 0.0) == 0.0

    def test_a_standard_deviation_has_an_interval_that_more_teams_narrow(self):
        few, many = (table2.deviation_interval(0.01, n) for n in (5, 50))
        assert few[0] < many[0] < 0.01 < many[1] < few[1]

    def test_the_interval_holds_as_often_as_it_says(self):
        # 400 times 17 normal values: 380 expected, standard deviation 4.4; 363 is 3.9 away, so a
        # false alarm comes once in ten thousand seeds.
        draws = np.random.default_rng(1).normal(size=(400, 17)).std(axis=1, ddof=1)
        bounds = [table2.deviation_interval(sd, 17) for sd in draws]
        assert 363 <= sum(low <= 1 <= high for low, high in bounds) <= 397

    def test_every_obfuscation_at_every_size(self, context):
        result = run_study(studies()["table2"], context).result
        spread = result.tables["spread"]
        assert set(spread.column("users")) == {40, 80}
        assert len(spread) == 8
        *spreads, kept = result.comparisons
        assert all(one.inside is None for one in spreads)
        assert (kept.what, kept.inside) == ("RR(1) keeps a region", True)
        swaps = result.tables["swaps"]
        assert len(swaps) == 4
        assert all(r["low"] <= r["probability of a swap"] <= r["high"] for r in swaps.records())


class TestNoon:
    def test_built_in_city_stands_in_where_there_is_no_data(self, context):
        result = run_study(studies()["fig4"], context).result
        assert set(result.tables) == {"long_regions", "long_training", "long_areas"}
        assert result.comparisons[0].ours == 37
        assert result.notes == ()


class TestSeason:
    def test_bots_play_and_cheating_stays_beside(self, context):
        result = run_study(studies()["fig9"], context).result
        season = result.tables["season"]
        assert [row["team"] for row in season.records()] == ["000", "001", "002", "003", "004"]
        assert season.row(obfuscation="Cheat(1)")["hors concours"] is True
        assert season.row(obfuscation="None")["role"] == "benchmark"
        assert set(result.tables) == {"season"}

    def test_who_cheats_is_not_in_the_honest_correlation(self):
        columns = ("obfuscation", "valid", "hors concours", "s_R,min", "s_T,min")
        rows = [
            ("None", True, False, 0.0, 0.0),
            ("PL(4,1)", True, False, 0.2, 0.3),
            ("KMeans(100)", True, False, 0.4, 0.6),
            ("Cheat(0.3)", True, False, 1.0, 0.0),
            ("RR(1)", False, False, 0.0, 1.0),
        ]
        assert fig9.honest_correlation(Table.of(columns, rows)) == pytest.approx(1.0)
        assert fig9.honest_correlation(Table.of(columns, rows[:2])) is None


class TestSeenAtHome:
    def test_only_people_who_start_both_days_in_one_region_count(self):
        clock = Clock.regular(2, slots=3)
        traces = Traces.of([[5, 5, 1, 5, 2, 5], [4, 4, 4, 3, 3, 3]], clock)
        assert seen_at_home(traces).tolist() == [1.0, 0.5, 0.5]


@pytest.fixture(scope="module")
def record_of(context):
    """Runs a study once, whoever asks."""
    return cache(lambda name: run_study(studies()[name], context))


@pytest.fixture(scope="module")
def remarks(record_of):
    return record_of("beyond3").result


class TestPictures:
    @pytest.mark.parametrize(
        ("name", "pictures"),
        [
            ("table2", ["table2"]),
            ("fig9", ["fig9-season"]),
            ("fig19", ["fig19"]),
            (
                "beyond3",
                ["beyond3-cheating", "beyond3-knowledge", "beyond3-poi-long", "beyond3-speed"],
            ),
        ],
    )
    def test_are_drawn_from_the_record_with_words_for_all(self, record_of, name, pictures):
        drawn = album.draw(record_of(name))
        assert [picture.name for picture in drawn] == pictures
        for picture in drawn:
            assert len(picture.alt) > 30
            assert picture.svg().startswith(b"<?xml")

    def test_the_key_of_a_season_names_every_team(self, record_of):
        (picture,) = album.draw(record_of("fig9"))
        words = "\n".join(t.get_text() for t in picture.figure.findobj(Text))
        for row in record_of("fig9").result.tables["season"].records():
            if row["role"] == "team":
                assert f"{int(row['team'])}  " in words
        assert "Cheat(1), hors concours" in words


class TestRemarks:
    def test_cheating_costs_no_aggregate_utility_and_gains_no_trace_privacy(self, remarks):
        table = remarks.tables["cheating"]
        none, cheat = table.row(release="Cheat(0)"), table.row(release="Cheat(1)")
        assert cheat["aggregate utility"] == none["aggregate utility"] == 1.0
        assert cheat["s_U"] < 0.5
        assert cheat["s_R,min"] > 0.9
        assert abs(cheat["s_T,min"] - none["s_T,min"]) < 0.02
        assert table.row(release="RR(5)")["aggregate utility"] < 1

    def test_maximum_knowledge_is_never_weaker_and_cheating_resists_it(self, remarks):
        table = remarks.tables["knowledge"]
        for row in table.where(mechanism="PL").records():
            assert row["s_R, maximum knowledge"] <= row["s_R, partial knowledge"] + 0.05
        assert table.row(release="MRLH(0,0,0.9)")["s_R, maximum knowledge"] < 0.05
        assert table.row(release="Cheat(1)")["s_R, maximum knowledge"] > 0.9

    def test_a_larger_radius_is_more_accurate_and_costs_more(self, remarks):
        table = remarks.tables["poi_long"]
        for name in ("None", "PL(4,1)", "MRLH(0,0,0.3)", "KMeans(100)"):
            rows = table.where(release=name).records()
            for column in ("POI accuracy", "places sent", "cost"):
                values = [row[column] for row in rows]
                assert values == sorted(values)
        assert table.where(release="None").records()[0]["cost"] == 1.0

    def test_every_attack_is_timed_at_every_size(self, remarks):
        speed = remarks.tables["speed"]
        assert min(speed.column("seconds")) > 0
        assert len(speed) == 3 * len(markov_speed.WORKS) * len(markov_speed.QUICK_FACTORS)
        assert len(remarks.tables["exponents"]) == 3 * len(markov_speed.WORKS)

    def test_parts_keep_their_sources_and_sizes(self, remarks):
        assert set(remarks.sources) == set(remarks.tables)
        assert remarks.source_of("speed").label.startswith("Random walks")
        assert remarks.sizes["users: cheating"] == 100
