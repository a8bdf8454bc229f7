"""Files for those who may have them: lists, single files in ranges, everything as one archive.

What one may not see is not found; every fetched byte range is in the download log.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q, QuerySet
from django.http import (
    FileResponse,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.utils.translation import gettext as _
from ninja import Schema

from tracecup.safeio import COMPRESSIONS, plain_name, read_blocks
from tracecup.server import clock
from tracecup.server.access import Role, role_of
from tracecup.server.errors import not_found
from tracecup.server.models import Contest, Download, Round, StoredFile
from tracecup.server.models.filekinds import JUDGES_PAPERS, KIND_OF_FILE, TELLING
from tracecup.server.results.readme import readme
from tracecup.server.results.service import may_see_scores
from tracecup.server.results.unpacked import zip_stream
from tracecup.server.storage import store
from tracecup.server.web.segments import Packed, Part, Segments, zip_parts

SUMS_FILE, RULES_FILE, README_FILE = "SHA256SUMS", "contest.toml", "README.txt"
TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".zip": "application/zip",
    **{one.suffix: one.media_type for one in COMPRESSIONS},
    ".parquet": "application/vnd.apache.parquet",
}
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


class FileInfo(Schema):
    """A file that one may fetch. `team` is whose data it is about; 901 and 902 are the samples."""

    name: str
    kind: str
    about: str
    round: str | None
    team: int | None
    challenge: str
    own: bool
    size: int
    sha256: str
    visible_from: datetime | None


class FilesPage(Schema):
    """Where are our data? All files that one may fetch in a round now."""

    contest: str
    round: str
    files: list[FileInfo]
    size: int


@dataclass(frozen=True)
class _Offer:
    """Bytes that can be fetched, and under which name and digest; `blobs` are those behind it."""

    name: str
    parts: Sequence[Part]
    size: int
    sha256: str
    etag: str
    blobs: Sequence[str]


def files_for(role: Role, round: Round) -> list[FileInfo]:
    """What a role may fetch in a round now: the own files first, then by team and name."""
    found = [_info(file, role) for file in _visible(role, round).select_related("round", "team")]
    return sorted(found, key=lambda one: (not one.own, one.team or -1, one.name))


def files_page(role: Role, round: Round) -> FilesPage:
    """The same as a page's data."""
    files = files_for(role, round)
    size = sum(file.size for file in files)
    return FilesPage(contest=role.contest.slug, round=round.name, files=files, size=size)


def open_file(role: Role, round: Round, name: str) -> StoredFile:
    """A file by its name; one that the role may not see is not found."""
    # A file of the round goes before one of the whole contest.
    seen = _visible(role, round).filter(name=name)
    found = seen.order_by(F("round").asc(nulls_last=True)).first()
    if found is None:
        raise not_found("file")
    file: StoredFile = found
    return file


def ranged_response(
    request: HttpRequest, file: StoredFile, role: Role | None = None
) -> HttpResponseBase:
    """The file, or the asked range of it (206), with ETag and SHA-256; logged."""
    offer = _Offer(
        file.name,
        [(store().path(file.sha256), file.size)],
        file.size,
        file.sha256,
        f'"{file.sha256}"',
        [file.sha256],
    )
    return _answer(request, offer, role or role_of(file.contest, request.user), file)


def archive_response(request: HttpRequest, role: Role, round: Round) -> HttpResponseBase:
    """Everything that a role may fetch in a round as one zip archive, never made beforehand.

    With the rules and a README, in the reader's language, that says what each file is.
    """
    files = _all_files(role, round)
    folder = f"{role.contest.slug}-{round.name}"
    sums = "".join(f"{one.sha256}  {one.name}\n" for one in files).encode()
    packed = [
        Packed.of_blob(f"{folder}/{one.name}", store().path(one.sha256), one.size) for one in files
    ]
    papers = {**_papers(role, round, files), SUMS_FILE: sums}
    parts = zip_parts(
        [*packed, *(Packed.of_bytes(f"{folder}/{name}", text) for name, text in papers.items())]
    )
    etag = hashlib.sha256(b"\0".join([folder.encode(), *papers.values()])).hexdigest()
    with Segments(parts) as whole:
        size = len(whole)
    blobs = [one.sha256 for one in files]
    offer = _Offer(f"{folder}.zip", parts, size, "", f'"{etag}"', blobs)
    return _answer(request, offer, role, None)


def plain_response(request: HttpRequest, file: StoredFile) -> HttpResponseBase:
    """The file unpacked, for those who cannot open `.zst`; a plain one goes out as it is."""
    name = plain_name(file.name)
    if name == file.name:
        return ranged_response(request, file)
    asker = role_of(file.contest, request.user)
    path = store().checked(file.sha256)
    if request.method != "HEAD":
        _log(file.contest, name, asker, file, 0, file.size)
    return _streamed(request, name, read_blocks(path))


def plain_archive_response(request: HttpRequest, role: Role, round: Round) -> HttpResponseBase:
    """The same archive with every packed file as plain CSV, packed by the archive itself."""
    files = _all_files(role, round)
    folder = f"{role.contest.slug}-{round.name}"
    members = [(f"{folder}/{plain_name(one.name)}", store().checked(one.sha256)) for one in files]
    papers = [
        (f"{folder}/{name}", text) for name, text in _papers(role, round, files, plain=True).items()
    ]
    name = f"{folder}-csv.zip"
    if request.method != "HEAD":
        _log(role.contest, name, role, None, 0, sum(one.size for one in files))
    return _streamed(request, name, zip_stream(papers, members))


def _all_files(role: Role, round: Round) -> list[StoredFile]:
    files = sorted(_visible(role, round), key=lambda one: one.name)
    if not files:
        raise not_found("file")
    return files


def _papers(
    role: Role, round: Round, files: Sequence[StoredFile], *, plain: bool = False
) -> dict[str, bytes]:
    """What goes with the files of a round: the rules, and what is what."""
    told = [(plain_name(one.name) if plain else one.name, about(one.kind)) for one in files]
    return {
        RULES_FILE: role.contest.rules_text.encode(),
        README_FILE: readme(role.contest, round, told, plain=plain).encode(),
    }


def _streamed(request: HttpRequest, name: str, blocks: Iterator[bytes]) -> HttpResponseBase:
    """Bytes that are made while they are sent: no length, no ranges."""
    kind = _type_of(name)
    response: HttpResponseBase
    if request.method == "HEAD":
        blocks = iter(())
    response = StreamingHttpResponse(blocks, content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _visible(role: Role, round: Round) -> QuerySet[StoredFile]:
    """The files of a round, and of the whole contest, that a role may see now."""
    of_round = Q(round=round) | Q(round=None)
    found = StoredFile.objects.filter(of_round, contest=role.contest)
    if not may_see_scores(role, round):
        found = found.exclude(kind__in=TELLING)
    out = Q(visible_from__lte=clock.contest_now(role.contest))
    seen = Q(pk__in=[])
    if role.organiser:
        seen |= Q(audience="all") | Q(audience="judge", kind__in=JUDGES_PAPERS)
    if role.team is not None:
        seen |= out & (Q(audience="all") | Q(audience="team", team=role.team))
    if round.released_at is not None:
        seen |= out & Q(audience="all")
    return found.filter(seen).distinct()


def _info(file: StoredFile, role: Role) -> FileInfo:
    return FileInfo(
        name=file.name,
        kind=file.kind,
        about=about(file.kind),
        round=file.round.name if file.round else None,
        team=file.team.number if file.team else file.entry_team,
        challenge=file.challenge,
        own=role.team is not None and file.team_id == role.team.pk,
        size=file.size,
        sha256=file.sha256,
        visible_from=file.visible_from,
    )


def about(kind: str) -> str:
    """What is in a file of a kind, for people."""
    found = KIND_OF_FILE.get(kind)
    return _(found.about) if found and found.about else ""


def _answer(
    request: HttpRequest, offer: _Offer, role: Role, file: StoredFile | None
) -> HttpResponseBase:
    asked = None if _unchanged(request, offer) else _range_of(request, offer)
    response: HttpResponseBase
    if _unchanged(request, offer):
        response = HttpResponse(status=304)
    elif asked is not None and asked[1] <= 0:
        response = HttpResponse(status=416)
        response.headers["Content-Range"] = f"bytes */{offer.size}"
    else:
        first, length = asked or (0, offer.size)
        response = _content(request, offer, first, length)
        if asked is not None:
            response.status_code = 206
            last = first + length - 1
            response.headers["Content-Range"] = f"bytes {first}-{last}/{offer.size}"
        if request.method != "HEAD":
            _log(role.contest, offer.name, role, file, first, length)
    response.headers["ETag"] = offer.etag
    response.headers["Accept-Ranges"] = "bytes"
    if offer.sha256:
        digest = b64encode(bytes.fromhex(offer.sha256)).decode()
        response.headers["X-SHA256"] = offer.sha256
        response.headers["Repr-Digest"] = f"sha-256=:{digest}:"
    return response


def _content(request: HttpRequest, offer: _Offer, first: int, length: int) -> HttpResponseBase:
    kind = _type_of(offer.name)
    response: HttpResponseBase
    if request.method == "HEAD":
        response = HttpResponse(content_type=kind)
        response.headers["Content-Disposition"] = f'attachment; filename="{offer.name}"'
    else:
        # Before the first byte: what has been sent cannot be taken back.
        for sha256 in offer.blobs:
            store().checked(sha256)
        content = Segments(offer.parts, first, length)
        response = FileResponse(content, as_attachment=True, filename=offer.name, content_type=kind)
    response.headers["Content-Length"] = str(length)
    return response


def _type_of(name: str) -> str:
    return TYPES.get("." + name.rpartition(".")[2].lower(), "application/octet-stream")


def _unchanged(request: HttpRequest, offer: _Offer) -> bool:
    said = request.headers.get("If-None-Match", "")
    return said.strip() == "*" or offer.etag in [one.strip() for one in said.split(",")]


def _range_of(request: HttpRequest, offer: _Offer) -> tuple[int, int] | None:
    """First byte and length of the asked range; length 0 where there is none of it.

    None means everything: no range, several ranges, or one of another version of the file.
    """
    found = _RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    if found is None or found.group(1) == found.group(2) == "":
        return None
    version = request.headers.get("If-Range")
    if version is not None and version.strip() != offer.etag:
        return None
    first, last = found.groups()
    if not first:
        length = min(int(last), offer.size)
        return offer.size - length, length
    begin = int(first)
    end = min(int(last), offer.size - 1) if last else offer.size - 1
    if last and int(last) < begin:
        return None
    return begin, max(0, end - begin + 1)


def _log(
    contest: Contest, name: str, role: Role, file: StoredFile | None, first: int, length: int
) -> None:
    Download.objects.create(
        contest=contest,
        file=file,
        name=name,
        person=role.person,
        team=role.team,
        at=clock.now(),
        first=first,
        length=length,
    )
