"""What a team may download, in groups: the city, its own data, the samples, the releases.

Typed; a page renders it and the API returns it.
"""

from __future__ import annotations

from ninja import Schema

from tracecup.safeio import plain_name
from tracecup.server.access import Role
from tracecup.server.models import Round
from tracecup.server.models.filekinds import KIND_OF_FILE
from tracecup.server.results import downloads
from tracecup.server.submissions.data_handed import WindowInfo, window_info

GROUPS = ("city", "own", "targets", "samples", "results")
SAMPLES = (901, 902)


class FileRow(Schema):
    """A file; `kind` says what is in it. `plain` is its name unpacked, where it is packed."""

    name: str
    plain: str
    kind: str
    size: int
    sha256: str


class FileGroup(Schema):
    """Files that belong together: city, own, targets, samples, results."""

    key: str
    files: list[FileRow]


class DataPage(Schema):
    """Where is our data?"""

    contest: str
    round: str
    window: WindowInfo
    total: int
    files: int
    groups: list[FileGroup]


def data_page(role: Role, round: Round) -> DataPage:
    """Everything that the asker may download in a round."""
    team = role.require_team()
    held: dict[str, list[FileRow]] = {key: [] for key in GROUPS}
    found = downloads.files_for(role, round)
    for file in found:
        plain = plain_name(file.name)
        row = FileRow(
            name=file.name,
            plain=plain if plain != file.name else "",
            kind=file.kind,
            size=file.size,
            sha256=file.sha256,
        )
        held[_group(file.kind, file.team, team.number)].append(row)
    return DataPage(
        contest=role.contest.slug,
        round=round.name,
        window=window_info(round, "data", team),
        total=sum(file.size for file in found),
        files=len(found),
        groups=[FileGroup(key=key, files=rows) for key, rows in held.items() if rows],
    )


def _group(kind: str, owner: int | None, team: int) -> str:
    if kind in KIND_OF_FILE and (group := KIND_OF_FILE[kind].group):
        return group
    if owner == team:
        return "own"
    return "samples" if owner in SAMPLES else "targets"
