"""A whole season with bots: data, obfuscation, publication, attacks, scores, awards, archive.

Deterministic steps that write files atomically: interrupted at any moment and started again, a
season ends with the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tracecup.city import City, ContestClock, write_city, write_clock
from tracecup.cluster import Jobs
from tracecup.contest.archive.folder import (
    ABOUT_FILE,
    BOTS_FILE,
    CITY_FILE,
    CLOCK_FILE,
    COMMITMENTS_FILE,
    MODEL_FILE,
    PUBLIC,
    SECRET,
    SEED_FILE,
    About,
    Archive,
    versions,
)
from tracecup.contest.archive.manifest import DIGEST, MANIFEST, WORK, read_digest, write_manifest
from tracecup.contest.archive.scored import results_of
from tracecup.contest.attackphase import AttackPhase
from tracecup.contest.bots import Bot, bots_for
from tracecup.contest.entries import BENCHMARK, BENCHMARK_TEAM, Entry, team_entries
from tracecup.contest.judging import flow
from tracecup.contest.judging.commitment import content_hash, derived_nonce
from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.contest.ledger import Ledger
from tracecup.contest.results.compute import write_results
from tracecup.contest.rules import ChallengeRules, CityRules, ClockRules, Rules
from tracecup.contest.rules.file import RULES_FILE, rules_text
from tracecup.contest.smallfiles import make_folder, write_data, write_json, write_text
from tracecup.contest.stages import Progress, Stages, in_threads
from tracecup.contest.worlds import World
from tracecup.errors import InvalidParameter
from tracecup.rng import child_seed
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import (
    write_id_table,
    write_obfuscated,
    write_release_and_table,
    write_released,
    write_traces,
)


@dataclass(frozen=True)
class Season:
    """What is played: rules, number of bot teams, the seed that everything random comes from."""

    rules: Rules
    teams: int
    seed: int

    @property
    def clock(self) -> ContestClock:
        """The clock of the round that is played, the last one of the rules."""
        return self.rules.clock_of(self.rules.rounds[-1].name)

    @property
    def bots(self) -> list[Bot]:
        """The bot of every team."""
        return bots_for(self.teams, self.rules.users)


def season_rules(
    *,
    users: int = 2000,
    days: int = 20,
    trace: bool = True,
    reid: bool = False,
    name: str = "A season of bots",
    preset: str = "paper",
) -> Rules:
    """The paper's rules for a simulated season; its city is the one in the archive.

    Sample attacks are those of the `preset`.
    """
    rules = Rules(
        name=name,
        users=users,
        clock=ClockRules(days=days),
        challenges=ChallengeRules(trace_inference=trace, reidentification=reid),
        samples=Rules.preset(preset).samples,
    )
    return in_archive(rules)


def in_archive(rules: Rules) -> Rules:
    """The same rules with the city as it lies in the archive."""
    return replace(rules, city=CityRules(builtin=None, file=f"{PUBLIC}/{CITY_FILE}"))


def play(
    folder: Path,
    season: Season,
    world: World,
    progress: Progress | None = None,
    jobs: Jobs | None = None,
) -> Archive:
    """Play a season into `folder`, or go on with the one that was begun there.

    A folder that holds another season (other rules, teams, seed, world or versions) or anything
    else is refused. Returns the archive; `timings.json` tells what took how long. With `jobs` the
    making of data, the obfuscation and the attacks are computed there; files are written here.
    """
    archive = _begin(folder, season, world)
    if is_finished(archive):
        shutil.rmtree(folder / WORK, ignore_errors=True)
        return archive
    make_folder(folder / WORK, secret=True)
    ledger = Ledger(folder / WORK / "ledger.jsonl", folder)
    _Play(archive, season, world, Stages(folder, ledger, progress, jobs)).all()
    shutil.rmtree(folder / WORK)
    return archive


def is_finished(archive: Archive) -> bool:
    """Whether the season has ended: the manifest and its digest are there and agree."""
    manifest, digest = archive.root / MANIFEST, archive.root / DIGEST
    if not manifest.exists() or not digest.exists():
        return False
    return hashlib.sha256(manifest.read_bytes()).hexdigest() == read_digest(archive.root)


def _begin(folder: Path, season: Season, world: World) -> Archive:
    """Write what says which season this is, or check that it is the same one."""
    about = About(season.teams, world.name, versions())
    team_entries(season.teams, season.rules.challenges_played)
    season.rules.check()
    # The first of these marks the folder as a season's; without it nothing there is touched.
    texts = {
        ABOUT_FILE: about.text,
        RULES_FILE: rules_text(season.rules),
        f"{SECRET}/{SEED_FILE}": f'{{"seed": {season.seed}}}\n',
        f"{SECRET}/{BOTS_FILE}": json.dumps([asdict(bot) for bot in season.bots], indent=1),
    }
    make_folder(folder)
    leftover = re.compile(rf"\.{re.escape(ABOUT_FILE)}\.[0-9a-f]+\.tmp")
    if not (folder / ABOUT_FILE).exists() and any(
        not leftover.fullmatch(path.name) for path in folder.iterdir()
    ):
        raise InvalidParameter(f"{folder} is not empty and holds no season; give a new folder")
    for name, text in texts.items():
        path = folder / name
        if not path.exists():
            write_text(path, text, secret=name.startswith(SECRET))
        elif path.read_bytes() != text.encode():
            raise InvalidParameter(
                f"{folder} holds another season ({name} differs); give a new folder"
            )
    for left in folder.rglob(".*.tmp"):
        left.unlink()  # what a killed writer left behind
    return Archive(folder)


class _Play:
    """The stages of one season."""

    def __init__(self, archive: Archive, season: Season, world: World, stages: Stages) -> None:
        self.archive, self.season, self.world, self.stages = archive, season, world, stages
        self.bots = season.bots
        self.entries = team_entries(season.teams, season.rules.challenges_played)

    def all(self) -> None:
        archive, each = self.archive, self.stages.each
        every = [BENCHMARK, *self.entries, *archive.samples]
        self.stages.once("city", self.city)
        self.train()
        each("data", every, _label, self.data)
        each("obfuscation", [BENCHMARK, *self.entries], _label, self.submit)
        each("publication", self.published(), _label, self.publish)
        self.stages.once("commitments", self.commit)
        players = {Entry(k).number: bot for k, bot in enumerate(self.bots, start=1)}
        phase = AttackPhase(archive, players, flow.attack_seed(self.season.seed), self.stages)
        targets = phase.run(self.published())
        self.stages.once("results", lambda: self.results(targets))
        self.stages.once("openings", self.open)
        with self.stages.stage("manifest"):
            write_manifest(archive.root)

    def bot(self, entry: Entry) -> Bot:
        return self.bots[entry.team - 1]

    def city(self) -> Sequence[Path]:
        public = self.archive.public
        city, clock = self.world.city, self.season.clock
        return [
            write_data(public / CITY_FILE, write_city, city),
            write_data(public / CLOCK_FILE, write_clock, clock),
        ]

    def train(self) -> None:
        """The world gets ready; a model that is kept from before is only read."""
        with self.stages.stage("training"):
            self.world.prepare(
                self.archive.secret / MODEL_FILE,
                lambda done, total: self.stages.say("training", done, total),
            )

    def data(self, entry: Entry) -> Sequence[Path]:
        """Reference traces for everybody, original traces for the team and the judge."""
        archive, judge = self.archive, self.archive.judge
        reference, original = self.stages.compute(
            flow.make_data, judge, self.world, entry, self.season.seed
        )
        known = archive.public_file(entry, "reftraces")
        paths = [write_data(known, write_traces, reference)]
        if entry in archive.samples:
            return [*paths, *self.sample(entry, original)]
        kept = archive.secret_file(entry, "orgtraces")
        return [*paths, write_data(kept, write_traces, original, secret=True)]

    def sample(self, entry: Entry, original: Traces) -> Sequence[Path]:
        """A sample team's truth is public: original traces, a release of them, its ID table."""
        file = self.archive.public_file
        released, table = flow.sample_release(entry, original, self.season.seed)
        paths = [
            write_data(file(entry, "orgtraces"), write_traces, original),
            write_data(file(entry, "pubtraces"), write_released, released),
            write_data(file(entry, "ptable"), write_id_table, table),
        ]
        paths[-1].chmod(0o644)
        return paths

    def submit(self, entry: Entry) -> Sequence[Path]:
        """A bot obfuscates its traces; the judge checks the file."""
        archive, judge = self.archive, self.archive.judge
        original = archive.original(entry)
        seed = child_seed(self.season.seed, "obfuscation", entry.label)
        if entry.is_benchmark:
            method, hors_concours = flow.BENCHMARK_METHOD, False
            obfuscated = SetTraces.of_traces(original)
        else:
            bot = self.bot(entry)
            floor = judge.rules.scores.utility_floor
            method, obfuscated = self.stages.compute(
                _obfuscated, bot, judge.city, original, archive.reference(entry), floor, seed
            )
            hors_concours = bot.hors_concours
        path = archive.secret_file(entry, "anotraces")
        write_data(path, write_obfuscated, obfuscated, secret=True)
        given = flow.judge_release(archive, entry, method, hors_concours)
        return [path, write_json(archive.submission_file(entry), given.as_dict(), secret=True)]

    def published(self) -> list[Entry]:
        defenders = [BENCHMARK, *self.entries]
        return [e for e in defenders if self.archive.judged(e).published]

    def publish(self, entry: Entry) -> Sequence[Path]:
        """The judge shuffles a release; in a simulation the shuffle comes from the seed."""
        archive = self.archive
        shuffle = flow.shuffle_seed(self.season.seed, entry)
        released, table = flow.shuffle_release(archive, entry, archive.judged(entry), shuffle)
        public, secret = (
            archive.public_file(entry, "pubtraces"),
            archive.secret_file(entry, "ptable"),
        )
        write_release_and_table(public, released, secret, table)
        return [public, secret]

    def seal(self, team: int) -> Path:
        """Fix a team's secrets before the attacks."""
        archive = self.archive
        own = [entry for entry in archive.defenders if entry.team == team]
        opening = flow.seal(archive, own, derived_nonce(self.season.seed, team))
        path = archive.opening_file(team, opened=False)
        return write_text(path, opening.text, secret=True)

    def commit(self) -> Sequence[Path]:
        """Publish the commitments of all teams and which releases are out."""
        archive, teams = self.archive, range(BENCHMARK_TEAM, self.season.teams + 1)
        openings = sorted(in_threads(self.seal, teams))
        sealed = {
            Entry(team).number: content_hash(archive.opening_file(team, opened=False))
            for team in teams
        }
        judged = {entry: archive.judged(entry) for entry in archive.defenders}
        held = flow.commitments(sealed, judged)
        return [*openings, write_json(archive.public / COMMITMENTS_FILE, held)]

    def results(self, targets: Sequence[ReleaseScores]) -> Sequence[Path]:
        """Compute and write all results."""
        archive = self.archive
        return write_results(archive.results, results_of(archive, targets))

    def open(self) -> Sequence[Path]:
        """Show the openings of the commitments."""
        paths = []
        for team in range(BENCHMARK_TEAM, self.season.teams + 1):
            text = self.archive.opening_file(team, opened=False).read_text()
            paths.append(write_text(self.archive.opening_file(team, opened=True), text))
        return paths


def _obfuscated(
    bot: Bot, city: City, original: Traces, reference: Traces, floor: float, seed: int
) -> tuple[str, SetTraces]:
    """What a bot makes of its traces, and by which method."""
    chosen = bot.obfuscator(city, original, floor, seed)
    return str(chosen), chosen.obfuscate(city, original, seed, reference=reference)


def _label(entry: Entry) -> str:
    return entry.label
