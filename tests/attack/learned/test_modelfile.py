import io
import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import zstandard

from tracecup.arrayfiles import digest_of
from tracecup.attack.learned import (
    SHIPPED,
    DefenceModel,
    Ground,
    LearnedModel,
    Network,
    NetworkShape,
    Training,
    attack_model,
    defence_model,
    shipped_suits,
)
from tracecup.attack.learned.modelfile import LIMITS
from tracecup.city import City, Grid, Places
from tracecup.datasets import Metropolis
from tracecup.errors import InvalidFile, InvalidTraces, UnreadableFile

CITY = City(Grid.from_metres(3, 2, width_m=341.25, height_m=346.875), hospitals=[4])
GROUND = Ground.of(CITY, 2)
TRAINING = Training(("PL(4,1)",), 2, "toy data", 10, 7, 1.5)


def network(seed, hidden=4, embedding=3, rank=2):
    shape = NetworkShape(6, 2, hidden, embedding, rank)
    random = np.random.default_rng(seed)
    return Network(
        shape, {n: random.normal(0, 1, s).astype(np.float32) for n, s in shape.arrays.items()}
    )


def attack():
    random = np.random.default_rng(9)
    kernel = random.normal(0, 1, (2, 15)).astype(np.float32)
    table = random.normal(0, 1, (6, 6)).astype(np.float32)
    return LearnedModel(GROUND, TRAINING, network(1), network(2, 8), kernel, table, 1.25, 2.0)


def defence():
    return DefenceModel(GROUND, TRAINING, network(1), (network(2), network(3)), 5, 15.0, 0.01)


class TestLearnedModel:
    @pytest.mark.parametrize("name", ["model.npz", "model.npz.zst"])
    def test_round_trip(self, tmp_path, name):
        attack().save(tmp_path / name)
        back = LearnedModel.load(tmp_path / name)
        assert (back.ground, back.training, back.slope, back.tau) == (GROUND, TRAINING, 1.25, 2.0)
        for part in ("release", "prior"):
            for key, held in getattr(attack(), part).arrays.items():
                found = getattr(back, part).arrays[key]
                assert np.abs(found - held).max() < 2e-3

    def test_same_model_same_bytes(self, tmp_path):
        attack().save(tmp_path / "a.npz")
        attack().save(tmp_path / "b.npz")
        assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()

    def test_channel_by_hand(self):
        model = attack()
        found = model.channel(CITY)
        logs = np.empty((6, 6))
        for x in range(6):
            for y in range(6):
                dx, dy = x % 3 - y % 3, x // 3 - y // 3
                row = 1 if x == 4 else 0
                logs[x, y] = model.kernel[row, (dy + 1) * 5 + dx + 2] + model.table[x, y]
                logs[x, y] -= 1.25 * CITY.grid.distance(x, y)
        assert np.abs(found - np.exp(logs - logs.max(0))).max() < 1e-5

    def test_another_ground_is_refused(self):
        with pytest.raises(InvalidTraces, match="trained for 3 x 2 regions of 341 x 347 m and 2"):
            GROUND.check(CITY, 3)

    @pytest.mark.parametrize(
        "other",
        [
            City(CITY.grid, hospitals=[3]),
            City(CITY.grid),
            City(Grid.from_metres(3, 2, width_m=341.25, height_m=346.875, west=0.5), [4]),
        ],
        ids=["other hospitals", "no hospitals", "elsewhere"],
    )
    def test_another_city_of_the_same_grid_is_refused(self, other):
        with pytest.raises(InvalidTraces, match="another city; train one .*`tracecup attack"):
            GROUND.check(other, 2)

    def test_names_and_last_digits_do_not_matter(self):
        grid = replace(CITY.grid, latitudes=tuple(y + 1e-13 for y in CITY.grid.latitudes))
        GROUND.check(City(grid, [4], Places.of([("food/Cafe", 0.001, 0.001, 0)])), 2)

    def test_a_file_that_was_trained_again_is_read_again(self, tmp_path):
        path = tmp_path / "model.npz"
        attack().save(path)
        first = attack_model(str(path))
        assert attack_model(str(path)) is first
        replace(attack(), slope=2.5).save(path)
        os.utime(path, ns=(1, 1))
        assert attack_model(str(path)).slope == 2.5
        defence().save(path)
        assert defence_model(str(path)).group == 5
        replace(defence(), group=7).save(path)
        os.utime(path, ns=(2, 2))
        assert defence_model(str(path)).group == 7


class TestDefenceModel:
    def test_round_trip_in_seven_bits(self, tmp_path):
        defence().save(tmp_path / "d.npz.zst")
        back = DefenceModel.load(tmp_path / "d.npz.zst")
        assert (back.group, back.noise, back.weight) == (5, 15.0, 0.01)
        assert len(back.models) == 2
        for old, new in zip(defence().models, back.models, strict=True):
            for key, held in old.arrays.items():
                assert np.abs(new.arrays[key] - held).max() <= np.abs(held).max() / 125 + 1e-6


def replaced(path, name, content):
    """The same archive with other bytes for one array."""
    with zipfile.ZipFile(path) as old:
        held = {member: old.read(member) for member in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for member, old_content in (held | {f"{name}.npy": content}).items():
            new.writestr(member, old_content)


def rewritten(path, change):
    with np.load(path) as held:
        arrays = {name: held[name] for name in held.files}
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


class TestHostileFiles:
    @pytest.fixture
    def path(self, tmp_path):
        attack().save(tmp_path / "model.npz")
        return tmp_path / "model.npz"

    def test_not_a_file(self, tmp_path):
        with pytest.raises(UnreadableFile):
            LearnedModel.load(tmp_path / "none.npz")

    def test_text(self, path):
        path.write_text("hello")
        with pytest.raises(InvalidFile, match="tracecup-learned file of version 1"):
            LearnedModel.load(path)

    def test_a_compressed_file_is_called_by_its_own_name(self, tmp_path):
        path = tmp_path / "packed.npz.zst"
        defence().save(path)
        with pytest.raises(InvalidFile, match="another kind of archive") as raised:
            LearnedModel.load(path)
        assert str(raised.value).startswith(f"{path}: file: found")

    def test_a_derived_seed_of_128_bits_fits(self, path):
        rewritten(path, lambda header, _: header["training"].update(seed=2**128 - 1))
        assert LearnedModel.load(path).training.seed == 2**128 - 1

    def test_a_defence_is_no_attack(self, path):
        defence().save(path)
        with pytest.raises(InvalidFile, match="another kind of archive"):
            LearnedModel.load(path)

    def test_pickle_is_never_loaded(self, path, tmp_path):
        class Trap:
            def __reduce__(self):
                return (open, (str(tmp_path / "opened"), "w"))

        def change(header, arrays):
            arrays["table"] = np.array([[Trap()]], dtype=object)

        with np.load(path) as held:
            arrays = {name: held[name] for name in held.files}
        change(None, arrays)
        np.savez(path, **arrays)
        with pytest.raises(InvalidFile):
            LearnedModel.load(path)
        assert not (tmp_path / "opened").exists()

    def test_numbers_that_are_none(self, path):
        rewritten(path, lambda header, arrays: arrays["table"].fill(np.nan))
        with pytest.raises(InvalidFile, match="not finite"):
            LearnedModel.load(path)

    def test_wrong_shape(self, path):
        rewritten(path, lambda header, arrays: arrays.update(table=np.zeros((6, 5))))
        with pytest.raises(InvalidFile, match=r"array table of shape \(6, 5\)"):
            LearnedModel.load(path)

    def test_a_number_that_was_changed(self, path):
        rewritten(path, lambda header, arrays: arrays["table"].put(3, 0.5))
        with pytest.raises(InvalidFile, match="do not have the SHA-256 of the header"):
            LearnedModel.load(path)

    def test_no_hash_in_the_header(self, path):
        rewritten(path, lambda header, arrays: header.pop("sha256"))
        with pytest.raises(InvalidFile, match="do not have the SHA-256 of the header"):
            LearnedModel.load(path)

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (lambda h: h.pop("training"), "training: found nothing, expected names and values"),
            (lambda h: h.update(ground=3), "ground: found 3, expected names and values"),
            (lambda h: h["ground"].update(extra=4), "ground.extra: found another field"),
            (lambda h: h["ground"].update(nx=4), "file, field sizes.N: found 6, expected 8"),
            (lambda h: h["ground"].update(nx=6, ny=1), "sizes.offsets: found 15, expected 11"),
            (lambda h: h["ground"].update(nx=True), "ground.nx: found True, expected a whole"),
            (lambda h: h["ground"].update(nx=10**30), "ground.nx: found 10{30}, expected a whole"),
            (lambda h: h["ground"].update(km_x=float("inf")), "ground.km_x: found inf"),
            (lambda h: h["ground"].update(slots=3), "sizes.T: found 2, expected 3"),
            (lambda h: h["ground"].pop("digest"), "ground.digest: found nothing, expected 64 hex"),
            (lambda h: h["ground"].update(digest="A" * 64), "ground.digest: found A{40}"),
            (lambda h: h["ground"].update(digest="0" * 64 + "\n"), "ground.digest: found 0{40}"),
            (lambda h: h["ground"].update(digest=7), "ground.digest: found 7, expected 64 hexa"),
            (lambda h: h["sizes"].pop("two"), "'two'"),
            (lambda h: h["sizes"].update(N=-6), "sizes.N: found -6, expected a whole number"),
            (lambda h: h["sizes"].update(N=6.0), "sizes.N: found 6.0, expected a whole number"),
            (lambda h: h.update(sizes=[6]), "sizes: found .6., expected the sizes of the arrays"),
            (lambda h: h["training"].update(steps="ten"), "training.steps: found ten"),
            (lambda h: h["training"].update(defences="PL"), "training.defences: found PL"),
            (lambda h: h["training"].update(defences=["PL", 3]), r"defences\[1\]: found 3"),
            (lambda h: h["training"].update(data="x" * 3000), "training.data: found x{40}[.]{3},"),
            (lambda h: h.update(version="2" * 1000), "found version '2{39},"),
        ],
    )
    def test_a_field_that_does_not_fit_is_named(self, path, change, told):
        rewritten(path, lambda header, arrays: change(header))
        with pytest.raises(InvalidFile, match=told):
            LearnedModel.load(path)

    @pytest.mark.parametrize(
        ("settings", "told"),
        [
            ({"noise": float("nan")}, "settings.noise: found nan, expected a number from 0"),
            ({"noise": 22, "group": 1}, "settings.group: found 1, expected a whole number from 2"),
            ({"weight": -1}, "settings.weight: found -1, expected a number from 1e-09"),
            ({"weight": 0}, "settings.weight: found 0, expected a number from 1e-09"),
            ({"sigma": 1}, "settings.sigma: found another field"),
        ],
    )
    def test_settings_of_a_defence(self, path, settings, told):
        defence().save(path)
        rewritten(path, lambda header, arrays: header["settings"].update(settings))
        with pytest.raises(InvalidFile, match=told):
            DefenceModel.load(path)

    @pytest.mark.parametrize(
        ("name", "value", "told"),
        [
            ("slope", 3e38, r"array.slope: found 3e\+38, expected at most 65504"),
            ("table", -1e30, r"array.table: found 1e\+30, expected at most 65504"),
            ("release_out", 7e4, "array.release_out: found 70000, expected at most 65504"),
            ("tau", 0.0, "array.tau: found 0.0, expected a number from"),
            ("tau", -2.0, "array.tau: found -2.0, expected a number from"),
        ],
    )
    def test_numbers_that_no_training_makes(self, path, name, value, told):
        def change(header, arrays):
            arrays[name] = np.full_like(arrays[name], value, dtype=np.float32)
            header["sha256"] = digest_of({n: held for n, held in arrays.items() if n != "header"})

        rewritten(path, change)
        with pytest.raises(InvalidFile, match=told):
            LearnedModel.load(path)

    def test_scales_that_no_training_makes(self, path):
        defence().save(path)

        def change(header, arrays):
            arrays["model_mix_scale"] = np.full_like(arrays["model_mix_scale"], 1e30)
            header["sha256"] = digest_of({n: held for n, held in arrays.items() if n != "header"})

        rewritten(path, change)
        with pytest.raises(InvalidFile, match=r"array.model_mix: found 6.3e\+31, expected at most"):
            DefenceModel.load(path)

    def test_a_temperature_below_all_is_written_as_the_least(self, path):
        replace(attack(), tau=-3.0).save(path)
        assert 0 < LearnedModel.load(path).tau < 1e-5

    def test_a_defence_without_models(self, path):
        defence().save(path)

        def change(header, arrays):
            header["sizes"]["K"] = 0
            for name in [name for name in arrays if name.startswith("model_")]:
                arrays[name] = arrays[name][:0]
            header["sha256"] = digest_of({n: held for n, held in arrays.items() if n != "header"})

        rewritten(path, change)
        with pytest.raises(InvalidFile, match=r"sizes.K: found 0, expected a whole number from 1"):
            DefenceModel.load(path)

    def test_texts_do_nothing_on_a_terminal(self, path):
        rewritten(path, lambda header, arrays: header["training"].update(data="\x1b[2Jtoy\r"))
        assert LearnedModel.load(path).training.data == "?[2Jtoy?"

    def test_a_loss_that_nobody_knows(self, path):
        """A training that goes on after its last step has none."""
        rewritten(path, lambda header, arrays: header["training"].update(loss=float("nan")))
        assert np.isnan(LearnedModel.load(path).training.loss)

    @pytest.mark.parametrize("loss", [0.0, float("nan")])
    def test_no_loss_is_told_where_it_is_not_known(self, loss):
        assert str(TRAINING).endswith("10 steps, in the last ones 1.50 nats per released place")
        assert str(replace(TRAINING, loss=loss)).endswith("10 steps")

    def test_an_announced_array_is_not_made(self, path):
        """A header of 128 bytes that announces 8 exabytes: refused by its shape, unread."""
        head = io.BytesIO()
        announced = {"descr": "<f8", "fortran_order": False, "shape": (1 << 30, 1 << 30)}
        np.lib.format.write_array_header_1_0(head, announced)
        replaced(path, "table", head.getvalue())
        with pytest.raises(InvalidFile, match=r"array table of shape \(1073741824, 1073741824\)"):
            LearnedModel.load(path)

    def test_more_than_the_file_can_hold(self, path):
        """Sizes and shapes agree, but the file is too small for them."""
        head = io.BytesIO()
        announced = {"descr": "<f8", "fortran_order": False, "shape": (2, 1 << 40)}
        np.lib.format.write_array_header_1_0(head, announced)
        rewritten(path, lambda header, arrays: header["sizes"].update(offsets=1 << 40))
        replaced(path, "kernel", head.getvalue())
        with pytest.raises(InvalidFile, match=r"arrays of 1759218\d+ bytes in a file of \d+"):
            LearnedModel.load(path)

    def test_a_file_over_the_limit_is_not_read(self, path):
        with path.open("r+b") as file:
            file.truncate(LIMITS.max_bytes + 1)
        with pytest.raises(InvalidFile, match="at most 536870912 bytes"):
            LearnedModel.load(path)

    def test_a_header_over_the_limit(self, path):
        rewritten(path, lambda header, arrays: header.update(more="x" * (1 << 20)))
        with pytest.raises(InvalidFile, match="a header of shape"):
            LearnedModel.load(path)

    def test_compressed_members_are_refused(self, path, tmp_path):
        other = tmp_path / "packed.npz"
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                new.writestr(name, old.read(name))
        with pytest.raises(InvalidFile, match="compressed members"):
            LearnedModel.load(other)

    def test_a_bomb_stops_at_the_limit(self, tmp_path):
        path = tmp_path / "bomb.npz.zst"
        packer = zstandard.ZstdCompressor(level=1)
        with path.open("wb") as file, packer.stream_writer(file) as out:
            for _ in range(520):
                out.write(bytes(1 << 20))
        with pytest.raises(InvalidFile, match="after decompression"):
            LearnedModel.load(path)


class TestShipped:
    def test_attack_says_what_it_was_trained_on(self):
        model = attack_model(SHIPPED)
        model.ground.check(Metropolis().city, 20)
        assert "KMeans(100)" in model.training.defences
        assert model.training.teams == 31

    def test_defence_fits_the_built_in_city(self):
        model = defence_model(SHIPPED)
        model.ground.check(Metropolis().city, 20)
        assert len(model.models) == 11

    def test_both_know_the_built_in_city_from_others_of_its_grid(self):
        city = Metropolis().city
        assert attack_model(SHIPPED).ground == defence_model(SHIPPED).ground
        assert shipped_suits(city, 20)
        assert not shipped_suits(city, 10)
        mirrored = [city.n_regions - 1 - region for region in city.hospitals]
        for hospitals in (mirrored, [], city.hospitals[1:]):
            assert not shipped_suits(City(city.grid, hospitals), 20)
