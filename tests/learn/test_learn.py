"""Training with JAX; skipped where JAX is not installed (the extra `learn`)."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install tracecup[learn]")

# ruff: noqa: E402 - what follows needs JAX, so it is imported after the skip
import jax.numpy as jnp

from simplejobs import Elsewhere
from tracecup.attack import Case
from tracecup.attack.learned import LearnedModel, LearnedR, LearnedT, NetworkShape
from tracecup.city import City, Clock, ContestClock, Grid, write_city, write_clock
from tracecup.cli._progress import PROGRESS_VARIABLE
from tracecup.cli.main import run
from tracecup.errors import InvalidParameter
from tracecup.learn.attack import Schedule, train_prior, train_release
from tracecup.learn.equalise import Equaliser, equalise, team_groups
from tracecup.learn.habits import Ground, habits
from tracecup.learn.handout import Place, handed_out
from tracecup.learn.judge import scores_of
from tracecup.learn.moves import moving_scores, train_moving
from tracecup.learn.network import log_probabilities, logits, new_network
from tracecup.learn.race import RaceSettings
from tracecup.learn.teach import Lesson, learn_attack, learn_defence, plain_network
from tracecup.score import reid_score
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces.files import write_traces

CITY = City(Grid.from_metres(6, 6, width_m=541.25, height_m=546.875), hospitals=[3, 20])
SLOTS, DAYS, USERS = 3, 8, 30
QUICK = Schedule(steps=60, users=24, precision="float32")


def people(seed):
    random = np.random.default_rng(seed)
    places = random.integers(0, 36, (USERS, SLOTS))
    habit = np.tile(places, (1, DAYS))
    noise = random.integers(0, 36, habit.shape)
    regions = np.where(random.random(habit.shape) < 0.7, habit, noise).astype(np.int32)
    return Traces(regions, np.arange(1, USERS + 1), Clock.regular(DAYS, SLOTS))


@pytest.fixture(scope="module")
def lesson():
    return Lesson(CITY, [people(1), people(2), people(3)], ("RR(2)",))


@pytest.fixture(scope="module")
def model(lesson):
    return learn_attack(lesson, QUICK)


class TestNetwork:
    def test_answers_equal_the_trained_program(self):
        """The numba twin gives the trained program's log-probabilities to 1e-5."""
        shape = NetworkShape(36, SLOTS, 8, 6, 5)
        net = new_network(shape, jax.random.key(1))
        net = {name: held + 0.1 for name, held in net.items()}
        reference = people(4)
        ground = Ground.of(CITY, SLOTS)
        trained = log_probabilities(net, habits(ground, jnp.asarray(reference.regions)))
        plain = plain_network(shape, net).probabilities(CITY, reference)
        assert np.abs(np.log(plain) - np.asarray(trained)).max() < 1e-5


class TestAttack:
    def test_learns_to_name_people(self, model, tmp_path):
        path = tmp_path / "model.npz.zst"
        model.save(path)
        original, reference = people(5), people(5)
        order = np.random.default_rng(1).permutation(USERS)
        released = SetTraces.of_traces(original).take_users(order)
        case = Case(CITY, reference, released.renamed(np.arange(USERS + 1, 2 * USERS + 1)))
        table = LearnedR(model=str(path)).identify(case)
        assert reid_score(IdTable.of(order), table).value < 0.2
        inferred = LearnedT(model=str(path)).infer(case)
        assert (inferred.regions == original.regions).mean() > 0.5

    def test_scores_equal_the_trained_program(self, model, tmp_path):
        model.save(tmp_path / "m.npz")
        back = LearnedModel.load(tmp_path / "m.npz")
        reference, released = people(6), people(6)
        case = Case(CITY, reference, SetTraces.of_traces(released))
        answered = LearnedR(model=str(tmp_path / "m.npz")).score_matrix(case)
        net = {name: jnp.asarray(held) for name, held in back.release.arrays.items()}
        seen = habits(Ground.of(CITY, SLOTS), jnp.asarray(reference.regions))
        table = np.asarray(log_probabilities(net, seen), np.float64)
        slot = np.arange(SLOTS * DAYS) % SLOTS
        trained = np.array(
            [[table[u, slot, row].sum() for u in range(USERS)] for row in released.regions]
        )
        assert np.abs(answered - trained).max() < 1e-3

    def test_same_seed_same_bytes(self, lesson, model, tmp_path):
        model.save(tmp_path / "a.npz")
        learn_attack(lesson, QUICK).save(tmp_path / "b.npz")
        assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()

    def test_an_interrupted_training_goes_on_to_the_same_result(self, lesson, model, tmp_path):
        class Stop(Exception):
            pass

        def stop(part, done, total, losses):
            if part == "attack" and done >= 50:
                raise Stop

        import tracecup.learn.attack as training

        every, training.KEEP_EVERY = training.KEEP_EVERY, 0.0
        try:
            with pytest.raises(Stop):
                learn_attack(lesson, QUICK, tmp_path, stop)
            assert (tmp_path / "attack.part").exists()
            told = []
            again = learn_attack(lesson, QUICK, tmp_path, lambda *parts: told.append(parts))
        finally:
            training.KEEP_EVERY = every
        assert [done for part, done, *_ in told if part == "attack"] == [60]
        for name, held in model.release.arrays.items():
            assert np.array_equal(again.release.arrays[name], held)


class TestMoves:
    def test_scores_equal_a_slow_twin(self, lesson):
        from tracecup.learn.teach import lesson_pool

        pool, ground = lesson_pool(lesson), Ground.of(CITY, SLOTS)
        shape = NetworkShape(36, SLOTS, 8, 6, 5)
        attack = train_moving(ground, pool, shape, QUICK)
        reference, released = pool.reference[0], pool.released[0]
        seen = habits(ground, jnp.asarray(reference, jnp.int32), jnp.bfloat16)
        z = np.asarray(logits(attack.net, seen), np.float64)
        step = np.asarray(attack.step["kernel"])[np.asarray(ground.offset)].T
        step = step + np.asarray(attack.step["table"])
        slow = np.zeros((4, USERS))
        for p in range(4):
            for u in range(USERS):
                for j, y in enumerate(released[p]):
                    t = j % SLOTS
                    weight = z[u, t] + (step[released[p, j - 1]] if t else 0.0)
                    slow[p, u] += weight[y] - np.log(np.exp(weight).sum())
        fast = np.asarray(moving_scores(ground, attack, reference, released))[:4]
        centred = [s - s.mean(1, keepdims=True) for s in (slow, fast)]
        assert np.abs(centred[0] - centred[1]).max() < 1e-3


class TestRace:
    def test_goes_on_after_its_last_whole_round(self, lesson, tmp_path):
        settings = RaceSettings(
            2, Equaliser(group=5, sweeps=3), Schedule(steps=20, users=24, warm=True,
                                                      precision="float32"), 0.6
        )  # fmt: skip
        whole, first, there = [], [], Elsewhere()
        made = learn_defence(lesson, 1, settings, 20, None, after_round=whole.append)
        handed = learn_defence(lesson, 1, settings, 20, None, executor=there)
        # 3 teams for the first attacker, groups of 3; each round 1 + 1 defences, 1 verdict, misses
        assert there.calls == 3 + 3 + (3 + 1) + (3 + 2)
        for k, model in enumerate((made, handed)):
            model.save(tmp_path / f"{k}.npz")
        assert (tmp_path / "0.npz").read_bytes() == (tmp_path / "1.npz").read_bytes()
        assert len(made.models) == 2
        assert [played.number for played in whole] == [1, 2]
        json.dumps([played.record() for played in whole])

        class Stop(Exception):
            pass

        def stop(played):
            first.append(played)
            raise Stop

        with pytest.raises(Stop):
            learn_defence(lesson, 1, settings, 20, tmp_path, after_round=stop)
        rest, told = [], []
        again = learn_defence(
            lesson, 1, settings, 20, tmp_path,
            lambda part, done, total, losses: told.append((part, done, total)), rest.append,
        )  # fmt: skip
        assert [played.number for played in rest] == [2]
        assert list(dict(part[::2] for part in told)) == [
            "defending", "prior", "first attacker", "rounds"
        ]  # fmt: skip
        # the rest of a race: the second of two rounds, its two defences first, then its attacker
        assert [part[1:] for part in told if part[0] == "rounds"] == [(1.25, 2), (1.5, 2), (2, 2)]
        for old, new in zip(made.models, again.models, strict=True):
            assert all(np.allclose(new.arrays[k], held) for k, held in old.arrays.items())

    def test_a_worker_with_another_device_refuses(self, monkeypatch):
        here = Place.here()
        assert handed_out(Elsewhere(), [partial(abs, -2)]) == [2]
        places = iter([here, here._replace(kind="another")])
        monkeypatch.setattr(Place, "here", classmethod(lambda cls: next(places)))
        with pytest.raises(InvalidParameter, match="a worker computes on .* another"):
            handed_out(Elsewhere(), [partial(abs, -2)])

    def test_attackers_see_several_releases_of_every_team(self, lesson, monkeypatch):
        import tracecup.learn.race as racing

        pools = []

        def seen(ground, pool, shape, prior, schedule, **more):
            pools.append(pool)
            return train_release(ground, pool, shape, prior, schedule, **more)

        monkeypatch.setattr(racing, "train_release", seen)
        schedule = Schedule(steps=2, users=24, warm=True, precision="float32")
        settings = RaceSettings(1, Equaliser(group=5, sweeps=2), schedule, 0.6, copies=2)
        learn_defence(lesson, 1, settings, 2)
        (pool,) = pools
        teams = len(pool.reference)
        assert teams > 1
        assert pool.team.tolist() == [*range(teams), *range(teams)]
        assert not np.array_equal(pool.released[:teams], pool.released[teams:])

    def test_the_defence_pays_for_alike_scores(self, lesson):
        from tracecup.learn.teach import lesson_pool

        pool, ground = lesson_pool(lesson), Ground.of(CITY, SLOTS)
        shape = NetworkShape(36, SLOTS, 8, 6, 5)
        prior = train_prior(ground, pool, shape, QUICK)
        attack = train_release(ground, pool, shape, prior, QUICK)
        settings = Equaliser(group=6, sweeps=4)
        groups = [team_groups(ground, own, prior, settings) for own in pool.reference]
        utility = []
        for weight in (1e-4, 1e-1):
            released, kept, _ = equalise(
                ground, pool.reference[:2], pool.original[:2], groups[:2], prior, [attack.net],
                weight, settings, 1,
            )  # fmt: skip
            utility.append(kept)
            assert released.shape == pool.original[:2].shape
        assert utility[0][0] > utility[1][0]
        assert utility[0][1] > utility[1][1]
        spread = [
            np.std(np.asarray(scores_of(ground, attack.net, pool.reference[0], rows))[g][:, g], 1)
            for rows in (pool.original[0], released[0])
            for g in groups[0][:1]
        ]
        assert spread[1].mean() < spread[0].mean()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    clock = ContestClock.regular(2, SLOTS, reference_days=DAYS)
    write_city(folder / "city.csv", CITY)
    write_clock(folder / "clock.csv", clock)
    for seed in (1, 2):
        known = Traces.of(people(seed).regions, clock.reference)
        write_traces(folder / f"ref{seed}.csv", known)
    return folder


class TestCommands:
    """`attack train` and `defend train` as commands, with processes and on the named device."""

    @pytest.mark.parametrize(
        "words",
        [
            "attack train --defence RR(2) --steps 2 --users 24",
            pytest.param(
                "defend train --defence RR(2) --rounds 1 --tests 1 --steps 2 --users 24 --group 5",
                marks=pytest.mark.slow,  # half a minute of compiling; TestRace compares bytes, too
            ),
        ],
    )
    def test_processes_leave_the_same_model(self, files, tmp_path, words, capsys, monkeypatch):
        monkeypatch.setenv("JAX_PLATFORMS", "cpu")
        monkeypatch.setattr("tracecup.jobs.thread_count", lambda: 1)  # one process compiles once
        monkeypatch.setenv(PROGRESS_VARIABLE, "0")
        given = [f"--city={files}/city.csv", f"--clock={files}/clock.csv", "--floor=0.6"]
        given += [f"--references={files}/ref{seed}.csv" for seed in (1, 2)]
        for engine in ("local", "processes"):
            where = [f"--out={tmp_path}/{engine}.npz", f"--engine={engine}", "--device=cpu"]
            assert run([*words.split(), *given, *where, "--seed=1"]) == 0
        made = [(tmp_path / f"{engine}.npz").read_bytes() for engine in ("local", "processes")]
        assert made[0] == made[1]
        told = capsys.readouterr().err
        last = "attack" if words.startswith("attack") else "rounds"
        assert "defending: 100% after" in told
        assert f"{last}: 100% after" in told
