"""All targets of a folder at once: every release with its team's reference traces, one zip out.

What a participant does in the attack phase, without a server.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tracecup.attack import Case, InferenceAttack, ReidAttack
from tracecup.attack.naming import answer_of, kind_of
from tracecup.city import City, ContestClock, read_city, read_clock
from tracecup.contest.challenges import CHALLENGES, AttackKind
from tracecup.contest.filenames import ContestFile, attack_file, parse_file_name
from tracecup.contest.judging.answers import ANSWERS
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.rng import child_seed
from tracecup.safeio import TEXT_SUFFIXES, atomic_write
from tracecup.traces.files import read_released, read_traces

Attack = ReidAttack | InferenceAttack
CITY, CLOCK = "info_region", "info_time"
OLDEST = (1980, 1, 1, 0, 0, 0)
"""The date of every file in the zip, so that the same answers are the same bytes."""


@dataclass(frozen=True)
class Target:
    """A release and the reference traces of its users."""

    about: ContestFile
    released: Path
    reference: Path

    def case(self, city: City, clock: ContestClock) -> Case:
        """What an attacker sees of it; reference traces may have gaps."""
        released = read_released(self.released, n_regions=city.n_regions, clock=clock.original)
        known = read_traces(
            self.reference,
            "reference",
            n_regions=city.n_regions,
            clock=clock.reference,
            users=released.n_users,
            gaps=True,
        )
        return Case(city, known, released)


@dataclass(frozen=True)
class Answered:
    """What was made: the files in the zip, and releases that lack their reference traces."""

    answers: tuple[str, ...]
    without_reference: tuple[str, ...]


def find_targets(folder: Path) -> tuple[list[Target], list[str]]:
    """The releases in a folder and the folders in it, and the names of those without references.

    A release is `pubtraces_teamNNN_...`, its references `reftraces_teamNNN_...` of the same data
    set, as `tracecup client download` and archives name them. A sample team's release, whose ID
    table lies beside it, is for practice and no target.
    """
    if not folder.is_dir():
        raise UnreadableFile(folder, "no such folder")
    samples = {(path.parent, _data_set(path)) for path in folder.rglob("ptable_team*")}
    files: dict[str, dict[tuple[str, AttackKind], Path]] = {"pubtraces": {}, "reftraces": {}}
    abouts: dict[tuple[str, AttackKind], ContestFile] = {}
    for path in sorted(path for path in folder.rglob("*traces_team*") if path.is_file()):
        about = parse_file_name(path.name)
        sample = (path.parent, _data_set(path)) in samples
        if about is not None and about.kind in files and not sample:
            key = about.team, about.challenge
            if key in files[about.kind]:
                raise InvalidParameter(
                    f"{folder} holds {files[about.kind][key].name} and {path.name}; one of them "
                    "must go"
                )
            files[about.kind][key] = path
            if about.kind == "pubtraces":
                abouts[key] = about
    known = files["reftraces"]
    found = [
        Target(abouts[key], path, known[key])
        for key, path in files["pubtraces"].items()
        if key in known
    ]
    lone = [path.name for key, path in files["pubtraces"].items() if key not in known]
    return found, lone


def attack_all(
    folder: Path,
    attacks: Iterable[Attack],
    team: str,
    out: Path,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
    only: Collection[str] | None = None,
) -> Answered:
    """Attack every release in `folder` but those of `team`, and write the answers as a zip.

    File names are those of the contest (`etable_team001-003_data02_TRP.csv`), so that `tracecup
    client submit` takes the zip as it is. At most one attack of each kind. `only` names the
    answers that are wanted; without it all are.
    """
    chosen = list(attacks)
    by_kind = {kind_of(attack): attack for attack in chosen}
    if not chosen or len(by_kind) < len(chosen):
        raise InvalidParameter("one re-identification, one trace inference, or one of each")
    found, lone = find_targets(folder)
    targets = [(target, _wanted(target, team, by_kind, only)) for target in found]
    targets = [(target, names) for target, names in targets if names]
    if not targets:
        raise InvalidParameter(
            f"{folder} holds no release of another team with its reference traces "
            "(pubtraces_teamNNN_..., reftraces_teamNNN_...)"
        )
    city, clock = read_city(_table(folder, CITY)), read_clock(_table(folder, CLOCK))
    names: list[str] = []
    with (
        TemporaryDirectory() as scratch,
        atomic_write(out) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for k, (target, wanted) in enumerate(targets):
            case = target.case(city, clock)
            for kind, name in wanted.items():
                plain = Path(scratch) / name
                answer = answer_of(by_kind[kind], case, child_seed(seed, name))
                ANSWERS[kind].write(plain, answer)
                _pack(packed, plain)
                names.append(name)
            if progress:
                progress(k + 1, len(targets))
    return Answered(tuple(names), tuple(lone))


def _data_set(path: Path) -> str:
    """`team901_data02_TRP` of `pubtraces_team901_data02_TRP.csv.zst`."""
    return path.name.partition(".")[0].partition("_")[2]


def _wanted(
    target: Target, team: str, kinds: Iterable[AttackKind], only: Collection[str] | None
) -> dict[AttackKind, str]:
    """The answers to make about one target, by kind; none about the own team."""
    about = target.about
    if about.team == team:
        return {}
    named = {
        kind: attack_file(CHALLENGES[kind].answer, team, about.team, about.challenge)
        for kind in kinds
    }
    return {kind: name for kind, name in named.items() if only is None or name in only}


def _pack(packed: zipfile.ZipFile, plain: Path) -> None:
    entry = zipfile.ZipInfo(plain.name, OLDEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    packed.writestr(entry, plain.read_bytes())
    plain.unlink()


def _table(folder: Path, stem: str) -> Path:
    for ending in TEXT_SUFFIXES:
        for path in sorted(folder.rglob(f"{stem}{ending}")):
            return path
    raise UnreadableFile(folder / f"{stem}.csv", "no such file or folder")
