"""The data of a contest: the city and the clock for everybody, traces for each data set.

They come from the built-in city, or from the city and the model that the organisers gave.
"""

from __future__ import annotations

from typing import Any

from tracecup.city import City, read_city, write_city, write_clock
from tracecup.contest.archive.folder import CITY_FILE, CLOCK_FILE
from tracecup.contest.judging import flow
from tracecup.contest.smallfiles import write_data
from tracecup.contest.worlds import BuiltinWorld, ModelWorld
from tracecup.errors import InvalidTraces
from tracecup.server.judging.compute.setting import Setting
from tracecup.synth import PpmtfModel
from tracecup.traces.files import write_id_table, write_released, write_traces

OWN_CITY, OWN_MODEL = "city", "model"
"""Names of the organisers' own city and model among the files of a payload."""


def shared(payload: dict[str, Any]) -> dict[str, Any]:
    """Write the city and the clock of a round, as everybody gets them."""
    setting = Setting(payload)
    write_city(setting.out / CITY_FILE, _city(setting))
    write_clock(setting.out / CLOCK_FILE, setting.clock)
    return {}


def entry(payload: dict[str, Any]) -> dict[str, Any]:
    """Write reference and original traces of one data set (`team`, `challenge`, `seed`).

    Sample teams (`sample` true) also get a release of the traces as they are, with its ID table.
    """
    setting = Setting(payload)
    here, seed = setting.entry, int(payload["seed"])
    reference, original = flow.make_data(setting.judge, _world(setting), here, seed)
    out = setting.out
    write_data(out / here.file("reftraces"), write_traces, reference)
    write_data(out / here.file("orgtraces"), write_traces, original, secret=True)
    if payload.get("sample"):
        released, table = flow.sample_release(here, original, seed)
        write_data(out / here.file("pubtraces"), write_released, released)
        write_data(out / here.file("ptable"), write_id_table, table)
    return {}


def _city(setting: Setting) -> City:
    if OWN_CITY in setting.payload["files"]:
        return read_city(setting.file(OWN_CITY))
    return BuiltinWorld().city


def _world(setting: Setting) -> flow.PeopleSource:
    if OWN_CITY not in setting.payload["files"]:
        return BuiltinWorld()
    return _own_world(setting)


def _own_world(setting: Setting) -> ModelWorld:
    """The organisers' own model, which has to be one of their city."""
    if OWN_MODEL not in setting.payload["files"]:
        raise InvalidTraces(
            "a contest in a city of its own needs a model of its inhabitants (tracecup train)"
        )
    model = PpmtfModel.load(setting.file(OWN_MODEL))
    regions = setting.city.n_regions
    if model.n_locations != regions:
        raise InvalidTraces(
            f"the model has {model.n_locations} locations, the city {regions} regions"
        )
    return ModelWorld(model)
