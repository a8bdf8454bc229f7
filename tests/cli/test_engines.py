"""Every command that takes `--engine`, played with real processes: the same numbers and files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracecup.city import City, ContestClock, Grid, write_city, write_clock
from tracecup.cli.main import app, run
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.contest.stages import TIMINGS_FILE
from tracecup.errors import UnreadableFile
from tracecup.jobs import ProcessJobs
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import write_release_and_table, write_traces

FILES = "--city {data}/info_region.csv --clock {data}/info_time.csv --reference {data}/{ref}"
COMMANDS = {
    "contest simulate": "--out {out} --teams 4 --users 12 --days 1 --no-report --no-zip --json",
    "contest verify": "{season} --json",
    "synth contest": "--out {out} --teams 3 --users 5 --days 1 --seed 1 --json",
    "benchmark": "--data {data} --out {out} --defences None,RR(3) --attacks VisitProb-R "
    "--seeds 1-2 --as-written --json",
    "compare": FILES + " --original {data}/{org} --defence None --defence RR(3) "
    "--reid VisitProb-R --trace Replay-T --as-written --json",
    "audit": FILES + " --original {data}/{org} --released {data}/pub.csv "
    "--id-table {data}/ids.csv --no-protections --strength quick --json",
    "reproduce": "fig7 --quick --out {out} --json",
}
TRAINING = "--city none --clock none --references none --defence RR(2) --out {out}"
ELSEWHERE = {"attack train": TRAINING, "defend train": TRAINING}
"""Commands that need JAX: tests/learn plays them."""

TIMED = {"seconds", "defence_seconds", "attack_seconds", "peak_mb"}
"""What says how long something took there, and how large this process was."""


class Kept(ProcessJobs):
    """Two processes that outlive a command: each test would wait for new ones."""

    sent = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.sent += 1
        return super().submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Not yet."""

    def end(self) -> None:
        super().shutdown()


@pytest.fixture(scope="module")
def processes() -> Iterator[Kept]:
    jobs = Kept(2)
    yield jobs
    jobs.end()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small city, twelve people on two days of four slots each, and their release."""
    folder = tmp_path_factory.mktemp("engines") / "data"
    folder.mkdir()
    clock, random = ContestClock.regular(days=2, slots=4), np.random.default_rng(1)
    write_city(
        folder / "info_region.csv", City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875))
    )
    write_clock(folder / "info_time.csv", clock)
    parts = {"ref": clock.reference, "org": clock.original}
    made = {
        kind: Traces.of(random.integers(35, size=(12, 8)), part) for kind, part in parts.items()
    }
    for kind, traces in made.items():
        write_traces(folder / f"{kind}traces_team001.csv", traces)
    released, table = pseudonymize(SetTraces.of_traces(made["org"]), 1)
    write_release_and_table(folder / "pub.csv", released, folder / "ids.csv", table)
    return folder


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a small season."""
    folder = tmp_path_factory.mktemp("engines") / "season"
    words = COMMANDS["contest simulate"].format(out=folder).split()
    assert run(["contest", "simulate", *words]) == 0
    return folder


def untimed(found: Any) -> Any:
    """What a command said, without what says how long it took."""
    if isinstance(found, dict):
        return {name: untimed(one) for name, one in found.items() if name not in TIMED}
    return [untimed(one) for one in found] if isinstance(found, list) else found


def content(path: Path) -> Any:
    """A file's bytes; of a file that notes seconds what stands beside them."""
    if path.suffix == ".csv":
        rows = list(csv.DictReader(path.read_text().splitlines()))
        return [{k: v for k, v in row.items() if k not in TIMED} for row in rows]
    if path.suffix == ".json":
        return untimed(json.loads(path.read_text()))
    return path.read_bytes()


def files(folder: Path) -> dict[str, Any]:
    """The files below a folder by their names, but for those that only note seconds."""
    return {
        str(path.relative_to(folder)): content(path)
        for path in sorted(folder.rglob("*"))
        if path.suffix in {".csv", ".json", ".zst"} and path.name != TIMINGS_FILE
    }


class TestEngines:
    def test_every_command_is_played(self) -> None:
        assert set(COMMANDS) | set(ELSEWHERE) == set(with_engine())

    @pytest.mark.parametrize("command", COMMANDS | ELSEWHERE)
    def test_an_engine_that_is_none_is_told_before_anything_is_read_or_written(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        here = dict.fromkeys(("data", "season", "ref", "org"), "none") | {"out": tmp_path / "out"}
        words = (COMMANDS | ELSEWHERE)[command].replace(" --json", "").format(**here).split()
        assert run([*command.split(), *words, "--engine", "slurm"]) == 2
        assert "error: no engine is called 'slurm'" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("words", ["benchmark --demo", "synth contest --teams 1"])
    def test_an_engine_that_does_not_answer_leaves_no_folder(
        self, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse() -> None:
            raise UnreadableFile("processes", "none can be started")

        monkeypatch.setattr("tracecup.jobs.ProcessJobs", refuse)
        where = ["--out", f"{tmp_path}/out", "--engine", "processes"]
        assert run([*words.split(), *where]) == 3
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("command", COMMANDS)
    def test_processes_give_what_this_process_gives(
        self,
        command: str,
        data: Path,
        request: pytest.FixtureRequest,
        processes: Kept,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr("tracecup.jobs.ProcessJobs", lambda: processes)
        before, found = processes.sent, {}
        names: dict[str, Any] = {"ref": "reftraces_team001.csv", "org": "orgtraces_team001.csv"}
        if "{season}" in COMMANDS[command]:
            names["season"] = request.getfixturevalue("season")
        for engine in ("local", "processes"):
            capsys.readouterr()
            out = tmp_path / "out"
            words = COMMANDS[command].format(out=out, data=data, **names).split()
            assert run([*command.split(), *words, "--engine", engine]) == 0
            said = untimed(json.loads(capsys.readouterr().out))
            found[engine] = said, files(out) if out.exists() else {}
            if out.exists():
                out.rename(tmp_path / engine)
        assert processes.sent > before
        assert found["local"] == found["processes"]


def with_engine() -> Iterator[str]:
    """The names of the commands that have `--engine`."""
    groups = [("", app)] + [(f"{group.name} ", group.typer_instance) for group in groups_of(app)]
    for group, commands in groups:
        for one in commands.registered_commands:
            call: Callable[..., object] | None = one.callback
            assert call is not None
            if "engine" in call.__annotations__:
                yield group + (one.name or call.__name__)


def groups_of(commands: Any) -> list[Any]:
    return list(commands.registered_groups)
