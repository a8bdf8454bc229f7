import stat

import numpy as np
import pytest

from tracecup import City, ContestClock, Grid
from tracecup.contest.entries import Entry
from tracecup.contest.worlds import (
    SHIPPED_MODEL,
    SHIPPED_SEED,
    BuiltinWorld,
    TrainedWorld,
    pack_model,
    shipped_model,
    synthesize,
    train_shipped_model,
)
from tracecup.datasets import Metropolis
from tracecup.errors import InvalidTraces
from tracecup.rng import generator
from tracecup.synth import CONTEST_SYNTHESIZER, PpmtfModel, PPMTFPlus, Training, make_tensors

CLOCK = ContestClock.regular(days=2)
SMALL = PPMTFPlus(z=4, iterations=3, rho=50, masks=True, home="own")


def silent(done, total):
    pass


@pytest.fixture(scope="module")
def town():
    return Metropolis(n_inhabitants=40, nx=6, ny=6)


@pytest.fixture(scope="module")
def training(town):
    return Training.of_records(town.records(days=1))


@pytest.fixture(scope="module")
def small_model(training):
    return SMALL.fit(training, rng=1)


class TestShippedModel:
    def test_is_small_and_made_by_the_contests_synthesizer(self):
        model = shipped_model()
        assert model.method == CONTEST_SYNTHESIZER
        assert model.n_locations == BuiltinWorld().city.n_regions == 1024
        assert model.n_users is None
        assert model.factors.iteration == CONTEST_SYNTHESIZER.iterations

    def test_was_trained_on_the_built_in_city_as_it_is_now(self):
        # If this fails the city was changed: make the model again with
        # `python -m tracecup.contest.worlds src/tracecup/contest/models/metropolis.npz.zst`.
        training = Training.of_records(Metropolis().records())
        method = CONTEST_SYNTHESIZER
        tensors = make_tensors(
            training,
            element_cap=method.element_cap,
            value_cap=method.value_cap,
            rng=generator(SHIPPED_SEED),
        )
        assert shipped_model().factors.fingerprint == tensors.fingerprint()

    @pytest.mark.slow
    def test_can_be_made_again(self, tmp_path):
        from importlib import resources

        pack_model(train_shipped_model(), tmp_path / "model.npz.zst")
        shipped = (resources.files("tracecup.contest") / SHIPPED_MODEL).read_bytes()
        assert (tmp_path / "model.npz.zst").read_bytes() == shipped


class TestPackModel:
    def test_keeps_what_makes_traces_and_drops_the_training_users(self, small_model, tmp_path):
        pack_model(small_model, tmp_path / "plain.npz")
        small_model.save(tmp_path / "whole.npz")
        packed = PpmtfModel.load(tmp_path / "plain.npz")
        assert len(packed.factors.A) == 0
        assert (tmp_path / "plain.npz").stat().st_size < (tmp_path / "whole.npz").stat().st_size
        for name in ("B", "C", "D", "mean", "precision", "population"):
            kept, whole = (getattr(m.factors, name) for m in (packed, small_model))
            # half precision has 11 significant bits
            assert np.allclose(kept, whole, rtol=2**-10, atol=1e-6)
        support, whole = packed.factors.support, small_model.factors.support
        assert np.array_equal(support.targets, whole.targets)
        assert np.array_equal(support.starts, whole.starts)

    def test_same_model_same_bytes(self, small_model, tmp_path):
        for name in ("a.npz.zst", "b.npz.zst"):
            pack_model(small_model, tmp_path / name)
        assert (tmp_path / "a.npz.zst").read_bytes() == (tmp_path / "b.npz.zst").read_bytes()


class TestSynthesize:
    def test_traces_are_on_the_contests_clock(self, small_model):
        reference, original = synthesize(small_model, Entry(1), CLOCK, 5, 7)
        assert reference.clock == CLOCK.reference
        assert original.clock == CLOCK.original
        assert reference.shape == (5, 40)

    def test_other_clocks(self, small_model):
        clock = ContestClock.regular(days=1, slots=1, start=600, reference_days=3)
        reference, original = synthesize(small_model, Entry(1), clock, 5, 7)
        assert (reference.clock, original.clock) == (clock.reference, clock.original)

    def test_every_seed_and_team_has_its_own_people(self, small_model):
        made = [
            synthesize(small_model, Entry(team), CLOCK, 5, seed)[0].regions.tobytes()
            for team in (1, 2)
            for seed in (7, 8)
        ]
        assert len(set(made)) == 4


class TestBuiltinWorld:
    def test_names_its_model(self):
        assert "model " in BuiltinWorld().name
        assert BuiltinWorld().name == BuiltinWorld().name

    def test_people_live_in_the_city(self):
        world = BuiltinWorld()
        reference, original = world.data(Entry(1), CLOCK, 20, 3)
        assert max(reference.regions.max(), original.regions.max()) < world.city.n_regions
        assert not original.has_gaps


class TestTrainedWorld:
    def test_trains_once_and_keeps_the_model_secret(self, town, training, tmp_path):
        told = []
        world = TrainedWorld("here", town.city, training, 1, SMALL)
        world.prepare(tmp_path / "model.npz", lambda *step: told.append(step))
        assert told[-1] == (3, 3)
        assert stat.S_IMODE((tmp_path / "model.npz").stat().st_mode) == 0o600
        assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]
        again = TrainedWorld("here", town.city, training, 1, SMALL)
        again.prepare(tmp_path / "model.npz", lambda *step: told.append(step))
        assert len(told) == 3
        both = [w.data(Entry(1), CLOCK, 5, 2)[1] for w in (world, again)]
        assert both[0] == both[1]

    def test_what_an_interruption_left_is_removed(self, town, training, tmp_path):
        world = TrainedWorld("here", town.city, training, 1, SMALL)
        world.prepare(tmp_path / "model.npz", silent)
        (tmp_path / "model.npz.part").write_bytes(b"")
        world.prepare(tmp_path / "model.npz", silent)
        assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]

    def test_needs_to_be_prepared(self, town, training):
        with pytest.raises(InvalidTraces, match="prepared"):
            TrainedWorld("here", town.city, training, 1).data(Entry(1), CLOCK, 5, 2)

    def test_city_and_training_data_must_fit(self, training):
        city = City(Grid.from_metres(5, 5, width_m=300, height_m=300))
        with pytest.raises(InvalidTraces, match="36 locations, the city 25 regions"):
            TrainedWorld("here", city, training, 1)
