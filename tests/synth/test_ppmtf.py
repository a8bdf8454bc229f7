from __future__ import annotations

import numpy as np
import pytest

from tracecup import Clock, Traces
from tracecup.errors import InvalidParameter
from tracecup.registry import parse
from tracecup.synth import PPMTF, PpmtfModel, PPMTFPlus, Training
from tracecup.synth.factors import SHAPES

SMALL = PPMTF(z=3, iterations=8, rho=20)


class Stopped(Exception):
    pass


def same_factors(first, second):
    return all(
        np.array_equal(first.factors._array(name), second.factors._array(name)) for name in SHAPES
    )


@pytest.fixture(scope="module")
def model(town):
    return SMALL.fit(town, rng=1)


class TestFit:
    def test_same_seed_same_factors(self, town, model):
        assert same_factors(model, SMALL.fit(town, rng=1))

    def test_other_seed_other_factors(self, town, model):
        assert not same_factors(model, SMALL.fit(town, rng=2))

    def test_thread_count_does_not_matter(self, town, model, monkeypatch):
        monkeypatch.setenv("TRACECUP_THREADS", "5")
        assert same_factors(model, SMALL.fit(town, rng=1))

    def test_shapes(self, town, model):
        factors = model.factors
        assert factors.A.shape == (23, 3)
        assert factors.B.shape == factors.C.shape == (9, 3)
        assert factors.D.shape == (6, 3)
        assert factors.iteration == 8

    def test_hyper_parameters_are_those_of_the_last_iteration(self, town):
        # Drawn at its start, hence not yet from the A that is kept.
        factors = PPMTF(z=3, iterations=1, rho=20).fit(town, rng=1).factors
        deviations = factors.A - factors.mean
        assert np.isfinite(deviations).all()
        assert np.linalg.eigvalsh(factors.precision).min() > 0

    def test_first_slot_population(self, town, model):
        at_six = town.location[town.slot == 0]
        assert model.factors.population.tolist() == np.bincount(at_six, minlength=9).tolist()

    def test_progress_counts_up_and_estimates(self, town):
        seen = []
        SMALL.fit(town, rng=1, progress=lambda *state: seen.append(state))
        assert [done for done, _, _ in seen] == list(range(1, 9))
        assert {total for _, total, _ in seen} == {8}
        assert seen[-1][2] == 0.0
        assert min(left for _, _, left in seen[:-1]) > 0

    @pytest.mark.parametrize("bad", [{"z": 0}, {"alpha": 0.0}, {"zeros": "none"}, {"rho": -1}])
    def test_settings_out_of_range(self, town, bad):
        with pytest.raises(InvalidParameter, match=next(iter(bad))):
            PPMTF(**bad).fit(town)


class TestResume:
    def stop_after(self, iterations):
        def progress(done, total, left):
            if done == iterations:
                raise Stopped

        return progress

    @pytest.mark.parametrize("at", [1, 5])
    def test_goes_on_to_the_identical_result(self, town, model, tmp_path, at):
        path = tmp_path / "state.npz"
        with pytest.raises(Stopped):
            SMALL.fit(
                town,
                rng=1,
                checkpoint=path,
                checkpoint_seconds=0,
                progress=self.stop_after(at),
            )
        seen = []
        resumed = SMALL.fit(
            town, rng=1, checkpoint=path, progress=lambda done, *_: seen.append(done)
        )
        assert seen[0] == at + 1
        assert same_factors(model, resumed)

    def test_a_finished_checkpoint_is_the_model(self, town, model, tmp_path):
        path = tmp_path / "state.npz"
        SMALL.fit(town, rng=1, checkpoint=path)
        assert same_factors(model, PpmtfModel.load(path))
        assert same_factors(model, SMALL.fit(town, rng=1, checkpoint=path))

    @pytest.mark.parametrize(
        ("method", "seed", "named"),
        [
            (PPMTF(z=4, iterations=8, rho=20), 1, "z"),
            (PPMTF(z=3, iterations=8, rho=21), 1, "rho"),
            (PPMTF(z=3, iterations=7, rho=20), 1, "iterations"),
            (SMALL, 2, "seed"),
        ],
    )
    def test_another_training_is_refused(self, town, tmp_path, method, seed, named):
        path = tmp_path / "state.npz"
        SMALL.fit(town, rng=1, checkpoint=path)
        with pytest.raises(InvalidParameter, match=f"different .*{named}"):
            method.fit(town, rng=seed, checkpoint=path)

    def test_other_data_are_refused(self, town, tmp_path):
        path = tmp_path / "state.npz"
        SMALL.fit(town, rng=1, checkpoint=path)
        other = Training.of_traces(Traces.of([[0, 1], [1, 0]], Clock.regular(1, 2)), 9)
        with pytest.raises(InvalidParameter, match="training data"):
            SMALL.fit(other, rng=1, checkpoint=path)


class TestPpmtfModel:
    def test_ppmtf_has_the_training_users(self, model):
        assert model.sample(rng=1).n_users == 23
        with pytest.raises(InvalidParameter, match="within the 23 there are"):
            model.sample(24, rng=1)

    def test_ppmtf_plus_has_any_number(self, model):
        plus = model.using(PPMTFPlus())
        assert plus.sample(100, rng=1).n_users == 100
        with pytest.raises(InvalidParameter, match="must be given"):
            plus.sample(rng=1)

    def test_fresh_features_differ_between_teams(self, model):
        plus = model.using(PPMTFPlus())
        first, second = (plus.sample(50, 4, rng=k) for k in (1, 2))
        assert first != second

    def test_clock_of_the_traces(self, model):
        traces = model.sample(2, 3, rng=1, instants=2)
        assert traces.clock == Clock.regular(3, 12, 360, 30)

    def test_picked_instants(self, model):
        whole = model.sample(2, 3, rng=1, instants=2)
        assert model.sample(2, 3, rng=1, instants=2, pick=[1, 4]) == whole.take_slots([1, 4])

    def test_parts_make_the_whole(self, model):
        whole = model.sample(23, 2, rng=1)
        part = model.sample(5, 2, rng=1, first_user=10)
        assert np.array_equal(part.regions, whole.regions[10:15])
        assert part.users.tolist() == list(range(11, 16))

    def test_thread_count_does_not_matter(self, model, monkeypatch):
        whole = model.sample(23, 2, rng=1)
        monkeypatch.setenv("TRACECUP_THREADS", "7")
        assert model.sample(23, 2, rng=1) == whole

    def test_files_keep_the_settings(self, model, tmp_path):
        path = tmp_path / "model.npz"
        plus = model.using(PPMTFPlus(masks=True, home="population", gamma=3.0))
        plus.save(path)
        back = PpmtfModel.load(path)
        assert back.method == plus.method
        assert back.sample(9, 2, rng=1) == plus.sample(9, 2, rng=1)


class TestNames:
    @pytest.mark.parametrize("name", ["PPMTF(16,200)", "PPMTF+(32,100,masks=true,home=own)"])
    def test_print_as_they_are_read(self, name):
        assert str(parse("synthesizer", name)) == name
