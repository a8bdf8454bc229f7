import numpy as np
import pytest

from tracecup.attack import Case, LearnedR
from tracecup.city import City, Clock, ContestClock, Grid
from tracecup.contest.entries import Entry
from tracecup.contest.worlds import BuiltinWorld
from tracecup.errors import InvalidTraces
from tracecup.obfuscate import Equalise, to_utility
from tracecup.obfuscate.equalising import (
    _add_product,
    _inner_products,
    _prices,
    _sum_scores,
    _sweep_slot,
    stakes_of,
    utility_of,
)
from tracecup.obfuscate.grouping import similar_groups
from tracecup.registry import parse
from tracecup.score import utility_score
from tracecup.traces import IdTable, Traces

CITY = City(Grid.from_metres(9, 8, width_m=541.25, height_m=546.875), hospitals=[40])


@pytest.fixture(scope="module")
def people():
    """24 users with a home and a work place each, 4 slots, 10 + 10 days."""
    return commuters(24)


def commuters(users):
    random = np.random.default_rng(3)
    places = random.integers(0, 72, (users, 4))

    def days():
        habit = np.tile(places, (1, 10))
        other = random.integers(0, 72, habit.shape)
        regions = np.where(random.random(habit.shape) < 0.8, habit, other).astype(np.int32)
        return Traces(regions, np.arange(1, users + 1), Clock.regular(10, 4))

    return days(), days()


class TestEqualise:
    @pytest.mark.parametrize(("group", "floor"), [(6, 0.7), (2, 0.7), (2, 0.9), (3, 0.5)])
    def test_utility_is_at_the_floor(self, people, group, floor):
        """Also where there are more groups than the weight is sought on."""
        reference, original = people
        method = Equalise(group, sweeps=6, floor=floor)
        cells = method.obfuscate(CITY, original, 1, reference=reference)
        one_cell = 1 / original.regions.size
        assert floor - 1e-9 <= utility_score(CITY, original, cells).value <= floor + 2 * one_cell

    def test_hospitals_are_given_back_where_the_floor_leaves_too_little(self, people):
        reference, original = people
        city = City(CITY.grid, hospitals=range(4, 72, 9))
        cells = Equalise(6, sweeps=4, floor=0.99).obfuscate(city, original, 1, reference=reference)
        changed = cells.as_traces().regions != original.regions
        was, budget = np.isin(original.regions, city.hospitals), 0.01 * original.regions.size
        assert was.sum() > 2 * budget
        assert not changed[~was].any()
        assert changed[was].sum() == int(budget)
        assert utility_score(city, original, cells).value == pytest.approx(0.99, abs=1e-3)

    @pytest.mark.parametrize(("sweeps", "floor"), [(4, 0.6), (1, 0.7)])
    def test_utility_that_is_left_is_spent(self, sweeps, floor):
        """Six users in pairs: as the weight grows utility falls in steps and may miss the floor."""
        reference, original = commuters(6)
        method = Equalise(2, noise=1.0, sweeps=sweeps, floor=floor)
        cells = method.obfuscate(CITY, original, 1, reference=reference)
        found = utility_score(CITY, original, cells).value
        assert floor - 1e-9 <= found <= floor + 1 / original.regions.size

    def test_its_floor_is_a_knob(self, people):
        reference, original = people
        method, score = to_utility(
            "Equalise(6,sweeps=3)", CITY, original, 0.85, 1, reference=reference
        )
        assert method == Equalise(6, sweeps=3, floor=0.85)
        assert score.value == pytest.approx(0.85, abs=2 / original.regions.size)

    @pytest.mark.parametrize(("users", "group"), [(30, 25), (310, 100), (12, 25), (63, 25)])
    def test_crowds_are_the_groups_that_are_made(self, users, group):
        made = similar_groups(np.random.default_rng(1).random((users, 3)), group)
        assert sorted(Equalise(group).crowds(users)) == sorted(map(len, made))

    def test_a_trained_defence_says_that_it_hides_less_of_few(self):
        assert "of 300 it hides far less" in Equalise(model="shipped").note(300)
        assert Equalise(model="shipped").note(2000) == Equalise().note(300) == ""

    def test_same_seed_same_cells_whatever_the_threads(self, people, monkeypatch):
        reference, original = people
        made = []
        for threads in ("1", "3"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            cells = Equalise(6, sweeps=3).obfuscate(CITY, original, 5, reference=reference)
            made.append(cells.regions)
        assert np.array_equal(*made)

    def test_hospitals_move_out_of_reach(self, people):
        reference, original = people
        cells = Equalise(6, sweeps=3).obfuscate(CITY, original, 1, reference=reference)
        released = cells.as_traces().regions
        was = original.regions == 40
        assert was.any()
        assert (CITY.grid.distance(40, released[was]) >= 2.0).all()

    def test_scores_of_a_group_come_together(self, people):
        """What an attacker sums up differs far less between members than on the originals."""
        reference, original = people
        method = Equalise(6, sweeps=8, noise=0.0, floor=0.5)
        habit, models, scores = method._portfolio(CITY, reference)
        groups = similar_groups(np.sqrt(habit.mean(axis=1)), 6)
        stakes = stakes_of(groups, habit, models, scores)
        released = method.obfuscate(CITY, original, 1, reference=reference).as_traces().regions

        def spread(regions):
            sums = []
            for group in stakes:
                for i in group.members:
                    cells = [group.scores[j % 4, :, r] for j, r in enumerate(regions[i])]
                    sums.append(np.sqrt(np.mean(np.sum(cells, axis=0) ** 2)))
            return np.mean(sums)

        assert spread(released) < 0.6 * spread(original.regions)

    def test_without_references_the_originals_stand_in(self, people):
        _, original = people
        cells = Equalise(6, sweeps=2).obfuscate(CITY, original, 1)
        assert cells.shape == original.shape

    def test_references_of_others_are_refused(self, people):
        reference, original = people
        with pytest.raises(InvalidTraces, match="reference traces of 3 users"):
            Equalise(6).obfuscate(CITY, original, 1, reference=reference.take_users(slice(0, 3)))

    def test_a_model_of_another_city_is_refused(self, people):
        reference, original = people
        method = parse("obfuscator", "Equalise(6,model=shipped)")
        with pytest.raises(InvalidTraces, match="trained for 32 x 32 regions"):
            method.obfuscate(CITY, original, 1, reference=reference)


@pytest.fixture(scope="module")
def team():
    """Sixty people of the built-in city for twenty days."""
    world = BuiltinWorld()
    return world.city, *world.data(Entry(1), ContestClock.regular(20), 60, 5)


class TestBuiltInCity:
    @pytest.mark.parametrize("floor", [0.85, 0.95])
    @pytest.mark.parametrize("model", ["none", "shipped"])
    def test_utility_is_at_the_floor(self, team, model, floor):
        city, reference, original = team
        method = Equalise(20, model=model, sweeps=2, floor=floor)
        cells = method.obfuscate(city, original, 1, reference=reference)
        found = utility_score(city, original, cells).value
        assert floor - 1e-9 <= found <= floor + 1 / original.regions.size

    def test_a_mirrored_city_is_another_one(self, team):
        city, reference, original = team
        other = City(city.grid, [city.n_regions - 1 - h for h in city.hospitals])
        with pytest.raises(InvalidTraces, match="another city; train .* .`tracecup defend"):
            Equalise(20, model="shipped").obfuscate(other, original, 1, reference=reference)


class TestStakes:
    def test_are_centred_over_members_and_under_the_habit(self):
        random = np.random.default_rng(1)
        habit = random.random((6, 2, 5)).astype(np.float32)
        habit /= habit.sum(-1, keepdims=True)
        table = random.normal(size=(6, 2, 5)).astype(np.float32)
        (first, _) = stakes_of(
            [np.arange(3), np.arange(3, 6)], habit, 1, lambda users: table[users][None]
        )
        own = habit[:3].mean(0)[:, None]
        assert np.abs(first.scores.mean(1)).max() < 1e-5
        assert np.abs((first.scores * own).sum(2)).max() < 1e-5
        assert (first.scores**2 * own).sum(2).mean() == pytest.approx(1, abs=1e-4)


class TestSweep:
    def test_equals_a_slow_descent(self):
        """Every cell takes the least price + weight |sum - target|^2 over all regions, in turn."""
        random = np.random.default_rng(4)
        slots, size, regions, users, days = 3, 6, 72, 2, 5
        scores = random.normal(size=(slots, size, regions)).astype(np.float32)
        original = random.integers(0, regions, (users, days * slots)).astype(np.int32)
        answers, total = original.copy(), np.zeros((users, size), dtype=np.float32)
        _sum_scores(scores, original, total)
        target = random.normal(scale=5, size=total.shape).astype(np.float32)
        price = _prices(CITY, CITY.is_hospital)
        cells = random.permutation(days * slots).astype(np.int32)
        for t in (2, 0, 1):
            products = _inner_products(scores[t])
            pull = np.zeros((users, regions), dtype=np.float32)
            _add_product(2 * (total - target), scores[t], pull)
            _sweep_slot(
                scores[t], products, np.diagonal(products).copy(), pull, price, original, answers,
                total, cells[cells % slots == t], np.float32(0.05),
            )  # fmt: skip

        slow, sums = original.copy(), np.zeros((users, size))
        for i in range(users):
            sums[i] = sum(scores[j % slots, :, r].astype(float) for j, r in enumerate(original[i]))
            for t in (2, 0, 1):
                for j in cells[cells % slots == t]:
                    rest = sums[i] - scores[t, :, slow[i, j]]
                    after = rest[:, None] + scores[t] - target[i][:, None]
                    cost = price[original[i, j]] + 0.05 * (after**2).sum(0)
                    slow[i, j] = np.argmin(cost)
                    sums[i] = rest + scores[t, :, slow[i, j]]
        assert (answers != original).any()
        assert np.array_equal(answers, slow)
        assert np.allclose(total, sums, atol=1e-3)

    def test_products_of_every_remainder(self):
        random = np.random.default_rng(5)
        for size in (1, 4, 7):
            table = random.normal(size=(size, 70)).astype(np.float32)
            assert np.allclose(_inner_products(table), table.T @ table, atol=1e-4)


class TestUtility:
    def test_by_hand(self):
        assert utility_of(CITY, np.array([[0, 0]]), np.array([[0, 8]])) == pytest.approx(0.5)


class TestLearned:
    def test_another_city_is_refused(self, people):
        reference, original = people
        released = Equalise(6, sweeps=1).obfuscate(CITY, original, 1)
        case = Case(CITY, reference, released.renamed(np.arange(25, 49)))
        with pytest.raises(InvalidTraces, match="trained for 32 x 32 regions"):
            LearnedR().identify(case)
        assert IdTable.of(np.arange(24)).is_permutation
