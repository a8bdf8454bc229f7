"""Studies of synthesizers with few people and short trainings: what counts is that they add up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tracecup.datasets import CHECK_INS, CITIES, Metropolis
from tracecup.study import fig15, fig16, fig17, fig18, published, towns
from tracecup.study.context import FOURSQUARE_FILES, Context
from tracecup.study.reproduce import run_study, studies
from tracecup.study.results import Table
from tracecup.usefulness.teamdiversity import DIFF_TV, SAME_TV
from tracecup.usefulness.teamdiversity import Comparison as Distances


@pytest.fixture(scope="module")
def small():
    """Few people, short trainings, no data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(towns, "QUICK_INHABITANTS", 80)
        patch.setattr(towns, "QUICK_ITERATIONS", 20)
        patch.setattr(fig15, "QUICK_PEOPLE", 400)
        patch.setattr(fig18, "QUICK_ITERATIONS", 2)
        patch.setattr(fig18, "QUICK_ALPHAS", (1, 200))
        patch.setattr(fig18, "PEOPLE", 60)
        towns.measured.cache_clear()
        yield Context(quick=True)
        towns.measured.cache_clear()


@pytest.fixture(scope="module")
def results(small):
    return {
        name: run_study(studies()[name], small).result
        for name in ("fig15", "fig16", "fig17", "fig18")
    }


class TestFigure15:
    def test_example_by_hand(self, results):
        # Office: 7, 7, 6, 2 and 1 of 10 times; bar: 1, 2, 1, 2 and 2 of 10.
        example = results["fig15"].tables["example"]
        assert example.column("office") == [0.4, 0.0, 0.2, 0.4, 0.0]
        assert example.column("bar") == [1.0, 0.0, 0.0, 0.0, 0.0]

    def test_distributions_sum_to_one(self, results):
        for name in ("city", "hours"):
            for place in ("office", "bar"):
                shares = results["fig15"].tables[name].column(place)
                assert sum(shares) == pytest.approx(1)

    def test_people_stay_longer_in_the_office(self, results):
        assert results["fig15"].comparisons[0].inside

    def test_hours_at_home_do_not_count(self):
        town = Metropolis(50)
        seen = fig15.built_in(50)
        assert not (seen.traces.regions == town.inhabitants.home[:, None]).any()
        assert fig15._mean_fraction(np.array([[1, 1, -1, 2], [2, 2, 2, 2]]), 1) == 2 / 3


class TestCheckIns:
    def test_are_arrivals_of_people_to_the_hour(self):
        town = Metropolis(40)
        records = towns.check_ins(town, 5).records
        traces = town.traces(28, 0, 60, 24)
        time = records.day * 24 + records.instant
        who = records.users[records.user] - 1
        assert (traces.regions[who, time] == records.location).all()
        assert (traces.regions[who, time - 1] != records.location).all()
        arrivals = int((np.diff(traces.regions) != 0).sum())
        # A tenth of some 7000 arrivals: five standard deviations are 1.8 hundredths.
        assert len(records) / arrivals == pytest.approx(0.1, abs=0.018)

    def test_follow_from_the_seed(self):
        town = Metropolis(20)
        first, again, other = (towns.check_ins(town, seed).records for seed in (1, 1, 2))
        assert first == again
        assert first != other


class TestTowns:
    def test_built_in_flow_is_cut_like_the_people_flow(self):
        town = towns.built_in_flow(20)
        assert (town.train.n_users, town.test.n_users, town.train.n_locations) == (10, 10, 400)
        assert (np.bincount(town.train.user) == 30).all()
        assert town.train.slots == 30

    def test_people_flow(self, data_dir):
        town = towns.people_flow(Context(data_dir))
        assert town.sizes == {
            "training users": 500,
            "testing users": 500,
            "training records": 15_000,
            "locations": 400,
        }

    def test_without_a_foursquare_file_the_built_in_city_alone(self, small, tmp_path):
        assert small.foursquare is None
        assert Context(tmp_path).foursquare is None
        assert [town.name for town in towns.towns(small)] == ["built-in city"]

    @pytest.mark.parametrize("names", FOURSQUARE_FILES)
    def test_a_foursquare_file_in_the_data_folder_is_used(self, tmp_path, small, names):
        put_foursquare(tmp_path, names)
        context = Context(tmp_path, quick=True)
        first, *others = towns.towns(context)
        assert first.name == "TKY"
        assert [town.name for town in others] == ["built-in city"]
        assert (first.train.n_users, first.test.n_users) == (16, 4)
        assert (first.train.slots, first.train.instants_per_slot) == (12, CHECK_INS.instants // 12)
        # Locations are ranked by check-ins, coordinates are cells of 20 x 20.
        assert first.coordinates.shape == (first.train.n_locations, 2)
        assert 0 <= first.coordinates.min() <= first.coordinates.max() < 20
        result = run_study(studies()["fig16"], context).result
        assert result.tables["text"].column("town")[0] == "TKY"
        assert any(c.what == "PPMTF+: Same, TKY" for c in result.comparisons)
        beside = run_study(studies()["fig17"], context).result.comparisons
        assert sum(c.what.endswith(", TKY") for c in beside) == 15


def put_foursquare(folder, names):
    """20 users with 12 check-ins each at 60 places of Tokyo, in the form of the real files."""
    box, random = CITIES["TKY"], np.random.default_rng(3)
    (folder / "foursquare").mkdir()
    north = random.uniform(box.south, box.north, 60)
    east = random.uniform(box.west, box.east, 60)
    places = "".join(f"v{k}\t{north[k]}\t{east[k]}\tBar\tJP\n" for k in range(60))
    (folder / names[1]).write_text(places)
    lines = []
    for user in range(20):
        for k, place in enumerate(random.integers(0, 60, 12)):
            time = f"Tue Apr {3 + k // 4:02d} {10 + k % 4:02d}:00:06 +0000 2012"
            lines.append(f"{user + 1}\tv{place}\t{time}\t540\n")
    (folder / names[0]).write_text("".join(lines))


class TestMeasured:
    def test_two_figures_share_the_work(self, small, results, monkeypatch):
        monkeypatch.setattr(towns, "_measure", None)
        again = run_study(studies()["fig17"], small).result
        assert again == results["fig17"]

    def test_every_series_is_there(self, small):
        (one,) = towns.measured(small)
        assert list(one.diversity) == ["PPMTF", "PPMTF+", "SGD", "Uniform"]
        assert set(one.usefulness) == set(fig17.SERIES)


class TestFigure16:
    def test_users_of_ppmtf_are_alike_in_two_teams_and_others_are_not(self, results):
        text = results["fig16"].tables["text"]
        alike, fresh = (
            text.row(town="built-in city", synthesizer=name) for name in ("PPMTF", "PPMTF+")
        )
        # 32 pairs: |t| > 4 has probability 4e-4 where nothing differs.
        assert alike["t"] < -5
        assert abs(fresh["t"]) < 4

    def test_few_pairs_make_no_band(self, results):
        first, second = results["fig16"].comparisons
        assert first.inside
        assert second.inside is None
        assert "32 pairs are too few" in second.why

    def test_distance_in_standard_deviations(self):
        held = Distances(SAME_TV, DIFF_TV, np.array([0.1, 0.3]), np.array([0.5, 0.7]))
        assert fig16._apart(held) == pytest.approx(4)

    def test_the_picture_s_foot_names_every_source(self):
        def measured(source):
            return towns.Measured("x", source, {}, {}, {})

        said = fig16.source_of(tuple(map(measured, (towns.PEOPLE_FLOW, towns.BUILT_IN))))
        assert "people-flow" in said.label
        assert "built-in" in said.label
        assert "CC BY 4.0" in said.attribution


class TestFigure17:
    def test_way_from_real_to_uniform(self):
        rows = {"PPMTF+": [3.0, 1.0], "Real": [2.0, 1.0], "Uniform": [4.0, 5.0]}
        assert (fig17._way(rows, 0), fig17._way(rows, 1)) == (0.5, 0.0)

    def test_visit_fractions_are_left_out_for_regions_of_the_people_flow(self, small):
        (one,) = towns.measured(small)
        kept = fig17._rows(one)["Real"][0]
        flow = towns.Measured("people flow", towns.PEOPLE_FLOW, {}, {}, one.usefulness)
        assert kept == one.usefulness["Real"]["VF-TV"].value
        assert math.isnan(fig17._rows(flow)["Real"][0])

    def test_published_numbers_are_inside_the_bands_of_the_text(self):
        for city, rows in published.UTILITY.items():
            found = [c for c in fig17._compared(city, rows, quick=False) if c.low is not None]
            assert len(found) == 2
            assert all(c.inside for c in found)

    def test_a_quick_run_claims_nothing(self, results):
        assert all(c.inside is None for c in results["fig17"].comparisons)


class TestFigure18:
    def test_a_row_for_every_run(self, results):
        runs = results["fig18"].tables["runs"]
        assert len(runs) == 2 * 2 * 2 + 2 + 2 * 3 + 2
        assert len(runs.where(synthesizer="PPMTF+", alpha=200)) == 2
        assert results["fig18"].sizes["trainings"] == 4

    def test_means_and_spread_over_the_seeds(self, results):
        tables = results["fig18"].tables
        values = tables["runs"].where(synthesizer="SGD").column("TM-EMD")
        row = tables["means"].row(synthesizer="SGD", alpha=None)
        assert row["TM-EMD"] == pytest.approx(np.mean(values))
        assert (row["TM-EMD low"], row["TM-EMD high"]) == (min(values), max(values))

    def test_built_in_city_has_nothing_published(self, results):
        assert "published" not in results["fig18"].tables
        assert results["fig18"].comparisons == ()
        assert results["fig18"].numbers["random guess"] == 1 / 30

    def test_published_numbers_are_inside_their_own_bands(self):
        means = as_means(fig18._published())
        found = list(fig18._compared(means, flow=True, guess=0.002))
        assert len(found) == 1 + 3 + 4 + 4 + 9 + 4
        assert all(c.inside for c in found)

    def test_real_and_uniform_on_the_people_flow_to_the_published_digits(self, small, data_dir):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fig18, "QUICK_ALPHAS", (200,))
            patch.setattr(fig18, "QUICK_SEEDS", 1)
            result = run_study(studies()["fig18"], Context(data_dir, quick=True)).result
        assert "published" in result.tables
        assert all(c.inside for c in fig18._fixed(result.tables["means"]))
        sgd = result.tables["means"].row(synthesizer="SGD", alpha=None)
        assert sgd["membership_advantage"] == pytest.approx(0.1246, abs=0.019)


def as_means(table: Table) -> Table:
    """The published table as if it were ours, TP-TV from the text of the specification."""
    held = {(name, 200): value for name, value in published.TP_TV_AT_200.items()}
    held |= {(name, None): few["TP-TV"] for name, few in published.SGLT.items()}
    rows = [(*row, held.get(row[:2])) for row in table.rows]
    return Table.of((*table.columns, "TP-TV"), rows)


class TestPublished:
    def test_twelve_alphas_and_six_cities(self):
        assert {len(held) for held in published.PRIVACY.values()} == {12}
        assert set(fig18.ALPHAS) == set(published.PRIVACY["PPMTF"])
        assert list(published.UTILITY) == list(published.DIVERSITY) == list(CITIES)

    def test_statements_of_the_text_hold_in_the_numbers(self):
        for held in published.DIVERSITY.values():
            (same, _), (diff, deviation) = held["PPMTF"]
            assert diff - same > 0.1 * deviation
            (same, _), (diff, deviation) = held["PPMTF+"]
            assert abs(diff - same) < 0.1 * deviation
