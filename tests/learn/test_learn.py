"""Training with JAX; skipped where JAX is not installed (the extra `learn`)."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install tracecup[learn]")

# ruff: noqa: E402 - what follows needs JAX, so it is imported after the skip
import jax.numpy as jnp

from simplejobs import Elsewhere
from tracecup.attack import Case
from tracecup.attack.learned import LearnedModel, LearnedR, LearnedT, NetworkShape, attack_model
from tracecup.attack.models.slotwise import slot_likelihoods
from tracecup.city import City, Clock, ContestClock, Grid, write_city, write_clock
from tracecup.cli._progress import PROGRESS_VARIABLE
from tracecup.cli.main import run
from tracecup.contest.worlds import BuiltinWorld
from tracecup.errors import InvalidParameter
from tracecup.learn.attack import Schedule, train_prior, train_release
from tracecup.learn.checkpoint import keep, resume
from tracecup.learn.equalise import Equaliser, equalise, team_groups
from tracecup.learn.habits import Ground, Habits, habits
from tracecup.learn.handout import Place, handed_out
from tracecup.learn.judge import scores_of
from tracecup.learn.moves import moving_scores, train_moving
from tracecup.learn.network import log_probabilities, logits, new_network
from tracecup.learn.race import RaceSettings
from tracecup.learn.teach import (
    RACE_LOG,
    Lesson,
    learn_attack,
    learn_defence,
    on_device,
    plain_network,
)
from tracecup.score import reid_score
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces.files import write_traces

CITY = City(Grid.from_metres(6, 6, width_m=541.25, height_m=546.875), hospitals=[3, 20])
SLOTS, DAYS, USERS = 3, 8, 30
QUICK = Schedule(steps=60, users=24, precision="float32")


TWENTY = Schedule(steps=20, users=24, warm=True, precision="float32")
RACE = RaceSettings(2, Equaliser(group=5, sweeps=3), TWENTY, 0.6)


def people(seed, users=USERS, days=DAYS, slots=SLOTS, n_regions=36):
    random = np.random.default_rng(seed)
    places = random.integers(0, n_regions, (users, slots))
    habit = np.tile(places, (1, days))
    noise = random.integers(0, n_regions, habit.shape)
    regions = np.where(random.random(habit.shape) < 0.7, habit, noise).astype(np.int32)
    return Traces(regions, np.arange(1, users + 1), Clock.regular(days, slots))


def trained_scores(city, net, reference, released):
    """S of the trained program: its table in float32, sums of its entries in float64."""
    slots = reference.clock.slots
    seen = habits(Ground.of(city, slots), jnp.asarray(reference.regions))
    parts = [
        log_probabilities(on_device(net), Habits(seen.features[:, at], seen.near[at], seen.day[at]))
        for at in (slice(low, low + 50) for low in range(0, reference.n_users, 50))
    ]  # as one it would take two gigabytes
    table = np.concatenate(parts).astype(np.float64)
    slot = np.arange(released.times) % slots
    return np.array([table[:, slot, row].sum(1) for row in released.regions])


def equal_but_for_ties(answered, trained, within):
    """Arg-max and assignment name the same users, or others whose scores are as good."""
    rows = np.arange(len(trained))
    assert (trained[rows, answered.argmax(1)] >= trained.max(1) - 2 * within).all()
    sums = [
        trained[linear_sum_assignment(scores, maximize=True)].sum()
        for scores in (answered, trained)
    ]
    assert sums[0] >= sums[1] - 2 * within * len(trained)
    lead = np.diff(np.sort(trained, 1)[:, -2:])[:, 0]
    clear = lead > 2 * within
    assert clear.mean() > 0.9
    assert (answered.argmax(1) == trained.argmax(1))[clear].all()


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
        trained = trained_scores(CITY, back.release, reference, released)
        assert np.abs(answered - trained).max() < 1e-3

    def test_scores_equal_those_of_the_weights_in_memory(self, model, tmp_path):
        """200 users, 399 events. The file has half precision: 1e-3 of a score, not 1e-3."""
        model.save(tmp_path / "m.npz")
        reference, released = (people(6, 200, days) for days in (133, 133))
        trained = trained_scores(CITY, model.release, reference, released)
        case = Case(CITY, reference, SetTraces.of_traces(released))
        table = model.release.probabilities(CITY, reference)
        for answered, within in (
            (slot_likelihoods(table, case.released).rows(0, 200), 1e-3),
            (LearnedR(model=str(tmp_path / "m.npz")).score_matrix(case), 1e-3 * abs(trained).max()),
        ):
            assert np.abs(answered - trained).max() < within
            equal_but_for_ties(answered, trained, within)

    def test_scores_equal_those_of_a_network_of_full_size(self):
        """The shipped one: 1024 regions, 400 events; 200 users."""
        city, shipped = BuiltinWorld().city, attack_model("shipped")
        traces = (people(6, 200, 20, 20, 1024) for _ in range(2))
        reference, released = traces
        case = Case(city, reference, SetTraces.of_traces(released))
        answered = LearnedR().score_matrix(case)
        trained = trained_scores(city, shipped.release, reference, released)
        assert np.abs(answered - trained).max() < 1e-3
        equal_but_for_ties(answered, trained, 1e-3)

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


class TestCheckpoint:
    TREE: ClassVar = {"a": np.arange(3.0), "b": np.array(2.5)}

    @pytest.fixture
    def file(self, tmp_path):
        keep(tmp_path / "x.part", "mark", 7, self.TREE, {"loss": 0.1})
        return tmp_path / "x.part"

    def test_gives_back_what_was_kept(self, file):
        done, tree, note = resume(file, "mark", self.TREE)
        assert (done, note) == (7, {"loss": 0.1})
        assert all(np.array_equal(tree[name], held) for name, held in self.TREE.items())

    @pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.5, 0.9, 0.999])
    def test_a_truncated_file_counts_as_none(self, file, share):
        whole = file.read_bytes()
        file.write_bytes(whole[: int(share * len(whole))])
        assert resume(file, "mark", self.TREE) == (0, self.TREE, {})

    def test_another_file_counts_as_none(self, file):
        assert resume(file, "other", self.TREE).done == 0
        assert resume(file, "mark", self.TREE | {"b": np.zeros(2)}).done == 0
        assert resume(file, "mark", self.TREE | {"b": np.zeros((), np.int32)}).done == 0
        assert resume(file, "mark", self.TREE | {"c": np.zeros(2)}).done == 0
        assert resume(file.with_name("none"), "mark", self.TREE).done == 0
        for content in (b"reg_id\n1\n", b"PK\x03\x04 and nothing more"):
            file.write_bytes(content)
            assert resume(file, "mark", self.TREE).done == 0
        with file.open("wb") as opened:
            np.save(opened, np.zeros(3))
        assert resume(file, "mark", self.TREE).done == 0


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
        settings = RACE
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
            assert all(np.array_equal(new.arrays[k], held) for k, held in old.arrays.items())

    def test_killed_at_any_stage_it_leaves_the_same_bytes(self, lesson, tmp_path, monkeypatch):
        """Two chunks a training; each kill stands with what the next run is told there first."""
        monkeypatch.setattr("tracecup.learn.attack.CHUNK", 10)
        monkeypatch.setattr("tracecup.learn.attack.KEEP_EVERY", -1.0)

        class Killed(Exception):
            pass

        def play(rounds, folder, kill=None):
            """Bytes of the model, stages in the order in which they were told."""
            told = []

            def say(part, done, total, losses):
                told.append((part, done))
                if told[-1] == kill:
                    raise Killed

            try:
                model = learn_defence(lesson, 1, replace(RACE, rounds=rounds), 20, folder, say)
            except Killed:
                return None, told
            model.save(tmp_path / "m.npz")
            assert model.training.loss > 0
            return (tmp_path / "m.npz").read_bytes(), told

        (one, _), (two, _) = play(1, tmp_path), play(2, None)
        log = (tmp_path / RACE_LOG).read_bytes()
        assert [played["number"] for played in json.loads(log)] == [1]
        parts = tmp_path / "parts"
        parts.mkdir()
        after: dict[str, float] = {}
        for rounds, part, done, then in (
            (1, "prior", 10, 20),
            (1, "first attacker", 10, 20),
            (1, "rounds", 0.5, 0.25),  # before its releases were kept
            (1, "rounds", 0.75, 1),
            (1, "rounds", 1, 1),
            (2, "rounds", 1.75, 2),
        ):
            if rounds == 2:  # one round is over: what it left is damaged, and one more asked for
                made, told = play(1, parts)
                assert made == one
                assert dict(reversed(told))["rounds"] == 1
                assert (parts / RACE_LOG).read_bytes() == log
                (parts / RACE_LOG).write_text("{")
                (parts / "first.part").write_text("of another kind")
                after = {"first attacker": 10, "rounds": 1.25}
            made, told = play(rounds, parts, (part, done))
            assert made is None
            first = dict(reversed(told))
            assert {name: first[name] for name in after} == after
            after = {part: then}
        made, told = play(2, parts)
        assert made == two
        assert dict(reversed(told))["rounds"] == 2
        assert len(json.loads((parts / RACE_LOG).read_text())) == 2
        names = {RACE_LOG, "prior.part", "first.part", "round01.npz", "round02.npz"}
        assert {file.name for file in parts.iterdir()} == names
        whole = (parts / "round01.npz").read_bytes()
        (parts / "round01.npz").write_bytes(whole[: len(whole) // 2])
        made, told = play(2, parts)
        assert made == two
        assert dict(reversed(told))["rounds"] == 0.25
        assert play(1, parts)[0] == one

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

    @pytest.mark.parametrize(("device", "precision"), [("cpu", "float32"), ("gpu", "bfloat16")])
    @pytest.mark.parametrize("verb", ["attack", "defend"])
    def test_precision_is_that_of_the_device(
        self, files, tmp_path, verb, device, precision, monkeypatch
    ):
        class Asked(Exception):
            pass

        def learn(lesson, *settings, **more):
            raise Asked(lesson.seed, *settings)

        monkeypatch.setattr(jax, "default_backend", lambda: device)
        monkeypatch.setattr("tracecup.learn.teach.learn_attack", learn)
        monkeypatch.setattr("tracecup.learn.teach.learn_defence", learn)
        given = [f"--city={files}/city.csv", f"--clock={files}/clock.csv", "--defence=RR(2)"]
        given += [f"--references={files}/ref{seed}.csv" for seed in (1, 2)]
        with pytest.raises(Asked) as raised:
            run([verb, "train", *given, f"--out={tmp_path}/m.npz"])
        seed, first, *rest = raised.value.args
        schedule = first if verb == "attack" else rest[0].schedule
        assert schedule.precision == precision
        assert seed == 0  # a training that draws another seed could not go on

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
