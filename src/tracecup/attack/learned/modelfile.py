"""Files of trained models: plain arrays and a header that says what they were trained on.

No pickle; sizes, every field of the header and the SHA-256 of the arrays are checked before
anything is computed with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.arrayfiles import ArchiveFormat, Arrays
from tracecup.attack.learned.fields import Fields, Refused
from tracecup.attack.learned.network import Floats, Network
from tracecup.attack.learned.shape import FEATURES, NetworkShape
from tracecup.city import City
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.safeio import MIB, ZSTD_MAGIC, Limits, atomic_write, magic_of, read_blocks

SHIPPED = "shipped"
"""The name of the model of the built-in city that comes with the package."""

MAX_SIDE = 1 << 14
MAX_MODELS = 64
MAX_GROUP = 1 << 20
MAX_KM = 1e3
MAX_SETTING = 1e9
"""Noise, weight and loss at most, wherever they come from."""
LEAST_WEIGHT, LEAST_TAU = 1e-9, 1e-6
"""A search takes the weight's logarithm, and scores are divided by the temperature."""
MAX_NUMBER = 65504.0
"""The largest number of an array, which half precision can hold: sums of products stay finite."""
DIGEST_DIGITS = 64
MAX_SEED = 2**128
"""Seeds that derive from others have 128 bits (`rng.child_seed`)."""
MAX_NAMES, MAX_NAME, MAX_TEXT = 1000, 400, 2000
"""Defences that a model was trained on, and characters of a name and of a text."""
LIMITS = Limits(max_bytes=512 * MIB)

ATTACK_TRAINING = "tracecup attack train"
DEFEND = "tracecup defend train"
"""What trains a model for another city, as errors say it."""

SIDES: dict[str, tuple[str, ...]] = {
    "first": ("F", "h"),
    "slot": ("T", "h"),
    "second": ("h", "h"),
    "second_bias": ("h",),
    "out": ("h",),
    "skip": ("F",),
    "day_embedding": ("N", "E"),
    "slot_embedding": ("N", "E"),
    "slot_shift": ("T", "E"),
    "mix": ("E", "r"),
    "regions": ("N", "r"),
    "bias": ("T", "N"),
}
"""Shape of every array of a network in letters."""

COARSE = ("day_embedding", "slot_embedding", "mix", "regions", "bias")
"""Arrays that a defence's file keeps in few bits, with one scale per column."""

STEPS = 63
"""A column of those runs from -STEPS to STEPS: seven bits (with eight, 5.4 MB would ship)."""

SHRINK = 0.65
"""One more attacker to equalise needs about this much less weight; where the search begins."""


def _prefixed(prefix: str, stack: str = "") -> dict[str, tuple[str, ...]]:
    shapes = {}
    for name, sides in SIDES.items():
        own = tuple(side if side in "FTN" else f"{prefix}{side}" for side in sides)
        shapes[f"{prefix}{name}"] = (stack, *own) if stack else own
    return shapes


def _scales(prefix: str, stack: str = "") -> dict[str, tuple[str, ...]]:
    """One scale per column of every coarse array."""
    shapes = _prefixed(prefix, stack)
    column = {name: shapes[prefix + name] for name in COARSE}
    return {f"{prefix}{name}_scale": (*sides[:-2], sides[-1]) for name, sides in column.items()}


ATTACK = ArchiveFormat(
    "tracecup-learned",
    1,
    _prefixed("release_")
    | _prefixed("prior_")
    | {"kernel": ("two", "offsets"), "table": ("N", "N"), "slope": (), "tau": ()},
    hashed=True,
    limits=LIMITS,
)
DEFENCE = ArchiveFormat(
    "tracecup-equalise",
    1,
    _prefixed("prior_") | _prefixed("model_", "K") | _scales("prior_") | _scales("model_", "K"),
    hashed=True,
    limits=LIMITS,
)


@dataclass(frozen=True)
class Ground:
    """The city and the day that a model was trained for; answers elsewhere would mean nothing.

    A network has numbers of its own for every region, so a city with the same grid is another one
    if its hospitals or its place on earth differ (to 1e-4 degrees): `digest` is a hash of both.
    Names and places do not matter.
    """

    nx: int
    ny: int
    km_x: float
    km_y: float
    slots: int
    digest: str

    @classmethod
    def of(cls, city: City, slots: int) -> Ground:
        """The ground of a city whose day has `slots` slots."""
        grid = city.grid
        corner = [round(grid.latitudes[0], 4), round(grid.longitudes[0], 4)]
        kept = json.dumps([corner, [int(region) for region in city.hospitals]])
        digest = hashlib.sha256(kept.encode()).hexdigest()
        return cls(grid.nx, grid.ny, round(grid.km_x, 6), round(grid.km_y, 6), slots, digest)

    def check(self, city: City, slots: int, training: str = ATTACK_TRAINING) -> None:
        """Raise `InvalidTraces` unless a case stands on the same ground; `training` makes it so."""
        found = Ground.of(city, slots)
        if found == self:
            return
        why = f"the model was trained for {self}, the case has {found}"
        if replace(found, digest=self.digest) == self:
            why = (
                f"the model was trained for {self}, and this city has the same, but its hospitals "
                "or its coordinates are others: it is another city"
            )
        raise InvalidTraces(f"{why}; train one for this city (`{training}`) and name its file")

    def __str__(self) -> str:
        return (
            f"{self.nx} x {self.ny} regions of {1000 * self.km_x:.0f} x {1000 * self.km_y:.0f} m "
            f"and {self.slots} slots a day"
        )


@dataclass(frozen=True)
class Training:
    """What a model was trained on, in words and numbers, for everybody who reads a score of it.

    `loss` is the mean -log p of a released cell of the last steps, in nats.
    """

    defences: tuple[str, ...]
    teams: int
    data: str
    steps: int
    seed: int
    loss: float

    def __str__(self) -> str:
        told = f"{', '.join(self.defences)}; {self.teams} teams, {self.data}; {self.steps} steps"
        if not self.loss > 0:  # unknown: files of trained defences once had 0
            return told
        return f"{told}, in the last ones {self.loss:.2f} nats per released place"


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """A learned attack: release model, prior, channel, and the temperature of its scores.

    `channel` (N, N) is log Q[x, y] up to a constant of each y; rows are origins.
    """

    ground: Ground
    training: Training
    release: Network
    prior: Network
    kernel: Floats
    table: Floats
    slope: float
    tau: float

    def channel(self, city: City) -> Floats:
        """Q[x, y], the largest of every column 1: how likely x is where y was released."""
        grid = city.grid
        dy = np.subtract.outer(grid.y, grid.y) + grid.ny - 1
        dx = np.subtract.outer(grid.x, grid.x) + grid.nx - 1
        rows = city.is_hospital.astype(np.int64)[:, None]
        log_q = self.kernel[rows, dy * (2 * grid.nx - 1) + dx] + self.table
        log_q = log_q - np.float32(self.slope) * grid.distances.astype(np.float32)
        return np.asarray(np.exp(log_q - log_q.max(axis=0)), dtype=np.float32)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file in half precision; a name ending in .zst is compressed."""
        arrays: Arrays = {}
        for prefix, net in (("release_", self.release), ("prior_", self.prior)):
            arrays |= {prefix + name: _half(held) for name, held in net.arrays.items()}
        arrays |= {
            "kernel": _half(self.kernel),
            "table": _half(self.table),
            "slope": np.array(self.slope, dtype=np.float32),
            "tau": np.array(max(self.tau, LEAST_TAU), dtype=np.float32),
        }
        sizes = _sizes("release_", self.release.shape) | _sizes("prior_", self.prior.shape)
        sizes |= {"two": 2, "offsets": self.kernel.shape[1]}
        _write(ATTACK, path, self.ground, self.training, sizes, arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> LearnedModel:
        """Read a file that `save` wrote; anything else is an `InvalidFile`."""
        header, arrays = _read(ATTACK, path)
        with _refusing(ATTACK, path):
            ground, training, sizes = _heads(header)
            sizes.only("offsets", (2 * ground.nx - 1) * (2 * ground.ny - 1))
            sizes.only("two", 2)
            _check_size(ATTACK, path, arrays)
            tau = Fields({"tau": float(arrays["tau"])}, "array")
            return cls(
                ground,
                training,
                _network("release_", sizes, arrays),
                _network("prior_", sizes, arrays),
                arrays["kernel"].astype(np.float32),
                arrays["table"].astype(np.float32),
                float(arrays["slope"]),
                tau.number("tau", LEAST_TAU / 2, MAX_NUMBER),
            )


@dataclass(frozen=True, eq=False)
class DefenceModel:
    """What a race left: the prior and the release models of all attackers it has met.

    `group`, `noise` and `weight` are the settings of the defence that was tried at the end.
    """

    ground: Ground
    training: Training
    prior: Network
    models: tuple[Network, ...]
    group: int
    noise: float
    weight: float

    @property
    def digest(self) -> str:
        """A hash of all weights: other networks, another digest."""
        made = hashlib.sha256()
        for net in (self.prior, *self.models):
            for name in SIDES:
                made.update(net.arrays[name].tobytes())
        return made.hexdigest()

    def first(self, count: int) -> DefenceModel:
        """The defence when it had met the first `count` attackers; its weight is a guess."""
        left_out = len(self.models) - count
        weight = self.weight / SHRINK**left_out
        return replace(self, models=self.models[:count], weight=weight)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file, large arrays in seven bits."""
        shape = self.models[0].shape
        arrays: Arrays = {}
        for name in SIDES:
            stacked = np.stack([net.arrays[name] for net in self.models])
            arrays |= _coarse(f"prior_{name}", name, self.prior.arrays[name])
            arrays |= _coarse(f"model_{name}", name, stacked)
        sizes = _sizes("prior_", self.prior.shape) | _sizes("model_", shape)
        sizes |= {"K": len(self.models)}
        settings = {"group": self.group, "noise": self.noise, "weight": self.weight}
        _write(DEFENCE, path, self.ground, self.training, sizes, arrays, settings)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> DefenceModel:
        """Read a file that `save` wrote; anything else is an `InvalidFile`."""
        header, arrays = _read(DEFENCE, path)
        with _refusing(DEFENCE, path):
            ground, training, sizes = _heads(header)
            count = sizes.whole("K", 1, MAX_MODELS)
            settings = Fields(header).part("settings", "group", "noise", "weight")
            for name in (f"{prefix}{name}" for prefix in ("prior_", "model_") for name in COARSE):
                arrays[name] = arrays[name] * arrays[f"{name}_scale"][..., None, :]
            _check_size(DEFENCE, path, arrays)
            models = tuple(
                _network("model_", sizes, {name: held[k] for name, held in arrays.items()
                                           if name.startswith("model_")})
                for k in range(count)
            )  # fmt: skip
            return cls(
                ground,
                training,
                _network("prior_", sizes, arrays),
                models,
                settings.whole("group", 2, MAX_GROUP),
                settings.number("noise", 0, MAX_SETTING),
                settings.number("weight", LEAST_WEIGHT, MAX_SETTING),
            )


def _half(array: Floats) -> NDArray[np.float16]:
    return np.clip(array, -6e4, 6e4).astype(np.float16)


def _coarse(key: str, name: str, array: Floats) -> Arrays:
    """An array as the file keeps it: in seven bits with a scale per column, or as it is."""
    if name not in COARSE:
        return {key: array.astype(np.float32)}
    scale = np.maximum(np.abs(array).max(axis=-2), 1e-9) / STEPS
    steps = np.round(array / scale[..., None, :]).astype(np.int8)
    return {key: steps, f"{key}_scale": scale.astype(np.float32)}


def _sizes(prefix: str, shape: NetworkShape) -> dict[str, int]:
    sizes = {"F": len(FEATURES), "T": shape.slots, "N": shape.regions}
    own = {"h": shape.hidden, "E": shape.embedding, "r": shape.rank}
    return sizes | {f"{prefix}{letter}": size for letter, size in own.items()}


def _network(prefix: str, sizes: Fields, arrays: Arrays) -> Network:
    own = (sizes.whole(f"{prefix}{letter}", 1, MAX_SIDE) for letter in "hEr")
    shape = NetworkShape(sizes.whole("N", 1, MAX_SIDE), sizes.whole("T", 1, MAX_SIDE), *own)
    held = {name: np.asarray(arrays[prefix + name], dtype=np.float32) for name in SIDES}
    return Network(shape, held)


def _heads(header: Mapping[str, Any]) -> tuple[Ground, Training, Fields]:
    """What both kinds of files say: their ground, their training, and the sizes of their arrays."""
    held = Fields(header)
    where = held.part("ground", *(field.name for field in fields(Ground)))
    ground = Ground(
        where.whole("nx", 1, MAX_SIDE),
        where.whole("ny", 1, MAX_SIDE),
        where.number("km_x", 0, MAX_KM),
        where.number("km_y", 0, MAX_KM),
        where.whole("slots", 1, MAX_SIDE),
        where.hexadecimal("digest", DIGEST_DIGITS),
    )
    told = held.part("training", *(field.name for field in fields(Training)))
    training = Training(
        told.texts("defences", MAX_NAMES, MAX_NAME),
        told.whole("teams", 0),
        told.text("data", MAX_TEXT),
        told.whole("steps", 0),
        told.whole("seed", 0, MAX_SEED),
        told.number("loss", -MAX_SETTING, MAX_SETTING, unknown=True),
    )
    sizes = Fields(header["sizes"], "sizes")
    sizes.only("F", len(FEATURES))
    sizes.only("T", ground.slots)
    sizes.only("N", ground.nx * ground.ny)
    return ground, training, sizes


@contextmanager
def _refusing(form: ArchiveFormat, path: str | PathLike[str]) -> Iterator[None]:
    """A field that does not fit, or a network of no shape, as the error of the file."""
    try:
        yield
    except Refused as wrong:
        raise form.invalid(path, wrong.found, wrong.field, wrong.expected) from wrong
    except InvalidParameter as wrong:
        raise form.invalid(path, str(wrong), "sizes") from wrong


def _write(
    form: ArchiveFormat,
    path: str | PathLike[str],
    ground: Ground,
    training: Training,
    sizes: Mapping[str, int],
    arrays: Arrays,
    settings: Mapping[str, float] | None = None,
) -> None:
    header = {
        "ground": asdict(ground),
        "training": asdict(training),
        "sizes": dict(sizes),
        "settings": dict(settings or {}),
    }
    with TemporaryDirectory() as folder, atomic_write(path) as file:
        plain = Path(folder) / "model.npz"
        form.write(plain, header, arrays)
        file.write(plain.read_bytes())


def _read(form: ArchiveFormat, path: str | PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays; a compressed file is unpacked to at most half a gigabyte first."""
    if magic_of(path) != ZSTD_MAGIC:
        return form.read(path)
    with TemporaryDirectory() as folder:
        plain = Path(folder) / "model.npz"
        plain.write_bytes(b"".join(read_blocks(path, LIMITS)))
        return form.read(plain, named=path)


def _check_size(form: ArchiveFormat, path: str | PathLike[str], arrays: Arrays) -> None:
    """Refuse numbers that no training makes and that would overflow where they are multiplied."""
    for name, held in arrays.items():
        largest = max(float(held.max(initial=0)), -float(held.min(initial=0)))
        if largest > MAX_NUMBER:
            raise form.invalid(path, f"{largest:g}", f"array.{name}", f"at most {MAX_NUMBER:g}")
