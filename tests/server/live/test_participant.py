"""A participant with nothing but the command line, over a way that breaks, against a real server.

Three teams play with `tracecup client` from the download to the results; what a team computes on
its own machine has the digits of the server. `make participant`; tests/server/test_client_live.py
has a small one with a server in the test's own process.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from dropping import dropping_way
from tracecup.city import read_city
from tracecup.cli.main import run
from tracecup.contest.archive.export import opened
from tracecup.contest.archive.folder import Archive
from tracecup.contest.archive.scored import results_of, score_all
from tracecup.contest.entries import Entry
from tracecup.contest.rules.file import read_rules
from tracecup.contest.standing.scoreboard import State
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import read_traces, write_obfuscated

SET_UP = Path(__file__).with_name("participant_contest.py").read_text()
OPEN = """
from tracecup.server.access import SYSTEM
from tracecup.server.models import Round
from tracecup.server.organising.running import open_archive
open_archive(Round.objects.get(), True, SYSTEM, "the teams may compute everything again")
"""
RULES = """
name = "Spring contest"
users = 24
[clock]
days = 2
slots = 4
[limits]
release_tries = 100
[feedback]
policy = "exact"
"""
TEAMS = (1, 2, 3)
HAND_INS = 50
HOUR, PATIENCE = 3600.0, 600.0
DATA = Path("spring/final")
API = "/api/v1/contests/spring"


class Player:
    """A member of a team at a command line, in a folder of its own."""

    def __init__(self, number: int, folder: Path, monkeypatch, capsys) -> None:
        self.number, self.folder = number, folder
        self._patch, self._read = monkeypatch, capsys
        folder.mkdir()

    def __call__(self, *words: str, codes: tuple[int, ...] = (0,)) -> dict:
        """Run a command with `--json`: what it prints."""
        self._patch.chdir(self.folder)
        self._patch.setenv("TRACECUP_CONFIG_DIR", str(self.folder / "config"))
        self._read.readouterr()
        found = run([*words, "--json"])
        read = self._read.readouterr()
        assert found in codes, (words, read)
        return json.loads(read.out)

    def has(self, name: str) -> bool:
        """Whether a file is among the data once everything there is was fetched."""
        return name in {one["name"] for one in self("client", "download")["files"]}

    @property
    def original(self) -> Traces:
        clock = read_rules(self.folder / DATA / "contest.toml").clock_of("final")
        name = Entry(self.number).file("orgtraces")
        return read_traces(self.folder / DATA / name, clock=clock.original)

    def random_release(self, k: int, rng: np.random.Generator) -> str:
        """A release at random: some cells deleted, some moved, some with several regions."""
        original, city = self.original, read_city(self.folder / DATA / "info_region.csv")
        cells = [[[int(region)] for region in row] for row in original.regions]
        changed = rng.random(original.regions.shape) < rng.uniform(0, 0.6)
        for user, time_ in np.argwhere(changed):
            size = int(rng.choice([0, 1, 1, 2, 5]))
            cells[user][time_] = rng.integers(0, city.n_regions, size).tolist()
        suffix = str(rng.choice([".csv", ".csv.gz", ".csv.zst", ".parquet"]))
        name = f"{k}_{Entry(self.number).file('anotraces', suffix)}"
        write_obfuscated(self.folder / name, SetTraces.of_cells(cells, original.clock))
        return name


def until(what, why: str):
    end = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < end, f"never: {why}"
        time.sleep(0.2)  # between two looks
    return found


class Story:
    """The steps in their order; team 1 is the one whose connection breaks."""

    def __init__(self, served, way, players: dict[int, Player]) -> None:
        self.served, self.way, self.players = served, way, players
        self.me = players[1]

    def to_hour(self, hour: float) -> None:
        self.served.move_clock(hour * HOUR)

    def download(self) -> None:
        """A city and the rules break off on their way; the city goes on where it broke off."""
        self.to_hour(1.1)
        for number, player in self.players.items():
            until(lambda p=player, n=number: p.has(Entry(n).file("orgtraces")), "data are made")
        city = self.me.folder / DATA / "info_region.csv"
        whole = city.read_bytes()
        city.unlink()
        asked, before = f"GET {API}/files/info_region.csv", len(self.way.requests)
        self.way.drop(asked, down=6_000)
        self.way.drop(asked, down=3_000)
        self.way.drop(f"GET {API}/rules", down=300)
        files = self.me("client", "download")["files"]
        assert "info_region.csv" in [one["name"] for one in files if one["fetched"]]
        assert city.read_bytes() == whole
        assert len(self.way.dropped) == 3
        heads = [one.decode().lower() for one in self.way.requests[before:]]
        heads = [one for one in heads if asked.lower() in one]
        assert ["range: bytes=" in one for one in heads] == [False, True, True]

    def defend(self, rng: np.random.Generator) -> None:
        """A method of the package, checked and handed in, with a break in the middle."""
        self.to_hour(2.1)
        release = Entry(1).file("anotraces", ".csv")
        own = str(DATA / Entry(1).file("orgtraces"))
        regions = str(DATA / "info_region.csv")
        words = ("--city", regions, "--original", own, "--out", release, "--seed", "1")
        made = self.me("obfuscate", "MRLH(1,0,0.1)", *words)
        checked = self.me("client", "check", release)["files"][0]
        assert (checked["valid"], checked["utility"]) == (True, made["utility"]["score"])
        size = (self.me.folder / release).stat().st_size
        sent = f"POST {API}/submissions"
        self.way.drop(sent, up=size // 2)  # in the middle of the file
        self.way.drop(sent, down=0)  # the answer never comes: it is taken, and nobody knows
        self.way.drop(sent, down=400)  # nor does all of the answer
        receipt = self.me("client", "submit", release, "--method", "MRLH")
        assert len(self.way.dropped) == 6
        assert receipt["utility"] == checked["utility"]
        assert receipt["repeated"] is True  # the second of four requests was the one
        assert [one["ref"] for one in self.me("client", "list")["submissions"]] == [receipt["ref"]]
        for k in range(HAND_INS):
            self.random_hand_in(self.players[TEAMS[k % 3]], k, rng)

    def random_hand_in(self, player: Player, k: int, rng: np.random.Generator) -> None:
        """The same digits here and there, above the floor or below."""
        words = (player.random_release(k, rng), "--kind", "release")
        local = player("client", "check", *words, codes=(0, 1))["files"][0]
        said = player("client", "submit", *words, "--confirm-invalid", "--no-check")
        assert (said["utility"], said["valid"]) == (local["utility"], local["valid"])

    def attack(self) -> None:
        """All targets in one go; the zip breaks off, and so does the answer about it."""
        self.to_hour(3.1)
        self.to_hour(4.1)
        until(lambda: self.me("client", "targets")["targets"], "releases are out")
        self.way.drop(f"POST {API}/archives", up=1_500)
        self.way.drop(f"POST {API}/archives", down=100)
        said = self.me("client", "attack", "--with", "VisitProb-R", "--with", "Prior-T", "--wait")
        assert len(self.way.dropped) == 8
        assert said["accepted"] == len(said["items"]) == 6
        scored = [one["submission"] for one in said["items"]]
        assert {one["state"] for one in scored} == {"scored"}
        assert {one["method"] for one in scored} == {"VisitProb-R, Prior-T"}
        page = self.me("client", "targets")
        assert page["missing"] == 0
        left = {one["tries"]["left"] for target in page["targets"] for one in target["answers"]}
        assert left == {1}  # nothing was counted twice
        for other in (2, 3):
            said = self.players[other]("client", "attack", "--wait")
            assert said["accepted"] == 6

    def archive_named(self) -> str:
        files = self.me("client", "results")["files"]
        return next((one["name"] for one in files if one["kind"] == "archive"), "")

    def read_scores(self) -> None:
        """The board, and every digit of it again from the archive on the own machine."""
        self.to_hour(5.1)
        until(lambda: self.me("client", "results", codes=(0, 1))["board"], "results are out")
        self.served.python(OPEN)
        until(self.archive_named, "the archive is open")
        found = self.me("client", "results", "--download")
        assert self.me("client", "defence")["out"]
        archive = self.archive_named()
        with opened(self.me.folder / DATA / archive) as folder:
            held = Archive(folder)
            again = results_of(held, score_all(held))
        compared = 0
        for matrix in found["board"]["matrices"]:
            board = again.board.board(matrix["kind"])
            ours = np.where(board.states == State.SCORED, board.values, np.nan)
            theirs = [[np.nan if v is None else v for v in r["values"]] for r in matrix["rows"]]
            np.testing.assert_array_equal(ours, np.array(theirs))
            compared += int(np.isfinite(ours).sum())
        assert compared >= 18


@pytest.mark.slow
def test_from_the_download_to_the_scores(new_server, tmp_path, monkeypatch, capsys):
    served = new_server().start()
    tokens = json.loads(served.python(SET_UP, RULES=RULES))
    players = {k: Player(k, tmp_path / f"team{k}", monkeypatch, capsys) for k in TEAMS}
    with dropping_way(served.port) as way:
        for token, player in zip(tokens, players.values(), strict=True):
            (player.folder / "token").write_text(token)
            player("client", "login", way.url, "--token-file", "token")
        story = Story(served, way, players)
        story.download()
        story.defend(np.random.default_rng(50))
        story.attack()
        story.read_scores()
        assert way.drops == []
