"""A whole server as one file, and back: rows as JSON lines, blobs as they are, one digest each.

The form knows no database: what was saved from SQLite can be restored on PostgreSQL and back.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast

import zstandard
from django.apps import apps
from django.conf import settings
from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models, transaction
from django.db.migrations.recorder import MigrationRecorder

from tracecup.errors import InvalidFile, InvalidParameter, Problem, UnreadableFile
from tracecup.safeio import MIB, atomic_write
from tracecup.server import clock
from tracecup.server.config import KEY_FILE
from tracecup.server.models import StoredFile, Submission
from tracecup.server.storage import store

FORMAT = "tracecup-backup-1"
ENDING = ".tar.zst"
HEAD, ROWS, BLOBS, KEY = "backup.json", "rows.jsonl", "blobs/", KEY_FILE
MAX_HEAD = MIB
# Sessions are not saved: after a restore everybody logs in again.
SKIPPED = frozenset({"sessions.session", "server.visit", "server.loginattempt"})

Say = Callable[[int, int], None]


@dataclass(frozen=True)
class Backup:
    """What a backup holds, by its first member."""

    made_at: datetime
    database: str
    rows: dict[str, int]
    blobs: int
    migrations: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def save(path: Path, say: Say | None = None, leave_out: Collection[str] = ()) -> Backup:
    """Write everything into one file; it appears whole or not at all.

    Rows are read in one transaction, so the backup is one moment. Blobs never change, so they
    may be copied afterwards; none is removed meanwhile. The name ends in `.tar.zst`. One pass over
    all files; memory does not grow with them.

    A blob that is missing or has rotted is an `InvalidFile` that names it, and no backup is
    written: who has only such ones does not know it. With its SHA-256 in `leave_out` it is left
    out, and the backup says so.
    """
    if not path.name.endswith(ENDING):
        raise InvalidParameter(f"a backup's name ends in {ENDING}, got {path.name[:80]!r}")
    with store().held():
        return _save(path, say, frozenset(leave_out))


def _save(path: Path, say: Say | None, leave_out: frozenset[str]) -> Backup:
    """Write it, while no blob is removed."""
    rows, counts, named = _rows()
    _require_known(leave_out, named)
    blobs = named - leave_out
    gone = tuple(sorted(named & leave_out))
    held = Backup(clock.now(), connection.vendor, counts, len(blobs), _migrations(), gone)
    head = {
        "format": FORMAT,
        "made_at": held.made_at.isoformat(),
        "database": held.database,
        "rows": held.rows,
        "blobs": sorted(blobs),
        "left_out": list(gone),
        "migrations": list(held.migrations),
        "rows_sha256": hashlib.sha256(rows).hexdigest(),
    }
    with (
        atomic_write(path, 0o600) as file,  # packs by the name's ending, .zst
        tarfile.open(fileobj=file, mode="w|") as tar,
    ):
        _add(tar, HEAD, json.dumps(head, indent=1).encode())
        _add(tar, ROWS, rows)
        key = settings.CONFIG.folder / KEY_FILE
        if key.is_file():
            _add(tar, KEY, key.read_bytes())
        for done, sha256 in enumerate(sorted(blobs), start=1):
            _add_blob(tar, sha256)
            if say:
                say(done, len(blobs))
    return held


def restore(path: Path, say: Say | None = None, leave_out: Collection[str] = ()) -> Backup:
    """Put a backup into an empty server: all rows in one transaction, blobs checked one by one.

    Refused (`InvalidFile`) if the tables hold anything, if the file is no backup, or if a digest
    differs; then nothing is in the database. A blob whose SHA-256 is in `leave_out` is left out,
    whatever the backup holds of it; its rows are restored.
    """
    if _has_rows():
        told = Problem(0, "", "a server with data", "an empty server")
        raise InvalidFile(settings.CONFIG.folder, [told])
    with _Opened(path) as tar:
        members = iter(tar)
        head = _head(path, _next(path, members, HEAD, tar))
        rows = _next(path, members, ROWS, tar)
        if hashlib.sha256(rows).hexdigest() != head["rows_sha256"]:
            raise _broken(path, "rows that were changed")
        _require_known(leave_out, {*head["blobs"], *head.get("left_out", ())})
        missing = set(head["blobs"])
        for member in members:
            if member.name == KEY:
                _keep_key(_read(path, tar, member, MAX_HEAD))
                continue
            sha256 = member.name.removeprefix(BLOBS)
            if sha256 not in missing or not member.isfile():
                raise _broken(path, f"the member {member.name[:80]!r}")
            source = tar.extractfile(member)
            assert source is not None
            if sha256 not in leave_out and store().put_file(source).sha256 != sha256:
                raise _broken(path, f"a changed file {sha256} (--leave-out goes on without it)")
            missing.discard(sha256)
            if say:
                say(len(head["blobs"]) - len(missing), len(head["blobs"]))
        missing -= set(leave_out)
        if missing:
            raise _broken(path, f"{len(missing)} files that are missing")
    _load(path, rows)
    gone = set(leave_out) & set(head["blobs"])
    held = _described(head)
    left_out = tuple(sorted({*held.left_out, *gone}))
    return replace(held, blobs=held.blobs - len(gone), left_out=left_out)


def describe(path: Path) -> Backup:
    """What a backup says about itself, without unpacking it."""
    with _Opened(path) as tar:
        head = _head(path, _next(path, iter(tar), HEAD, tar))
    return _described(head)


def _described(head: dict[str, Any]) -> Backup:
    return Backup(
        datetime.fromisoformat(head["made_at"]),
        head["database"],
        head["rows"],
        len(head["blobs"]),
        tuple(head["migrations"]),
        tuple(head.get("left_out", ())),
    )


def _require_known(leave_out: Collection[str], blobs: Collection[str]) -> None:
    unknown = sorted(set(leave_out) - set(blobs))
    if unknown:
        raise InvalidParameter(f"there is no file {unknown[0][:80]!r} to leave out (a SHA-256)")


def backup_name(at: datetime) -> str:
    """The name of a backup made at an instant.

    >>> backup_name(datetime(2030, 4, 1, 12, 30, tzinfo=UTC))
    'tracecup-20300401T123000Z.tar.zst'
    """
    return f"tracecup-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}.tar.zst"


def saved_models() -> list[type[models.Model]]:
    """The tables that a backup holds, those that others refer to first."""
    ordered = serializers.sort_dependencies(
        [(config, list(config.get_models())) for config in apps.get_app_configs()],
        allow_cycles=True,
    )
    return [m for m in ordered if m._meta.label_lower not in SKIPPED and m._meta.managed]


def _rows() -> tuple[bytes, dict[str, int], set[str]]:
    """All rows as JSON lines, how many of each table, and the blobs that they name."""
    text, counts = io.StringIO(), {}
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        for model in saved_models():
            found = model._default_manager.order_by("pk")
            counts[model._meta.label_lower] = found.count()
            serializers.serialize("jsonl", found.iterator(), stream=text, cls=_Exact)
        blobs = set(StoredFile.objects.values_list("sha256", flat=True))
        blobs |= set(Submission.objects.exclude(state="rejected").values_list("sha256", flat=True))
    return text.getvalue().encode(), counts, {sha256 for sha256 in blobs if sha256}


def _load(path: Path, rows: bytes) -> None:
    """All rows in one transaction; numbers of new rows go on after the largest."""
    tables = saved_models()
    with transaction.atomic():
        for model in reversed(tables):
            model._default_manager.all().delete()  # what migrations put there themselves
        try:
            for made in serializers.deserialize("jsonl", io.BytesIO(rows)):
                made.save()
        except (serializers.base.DeserializationError, ValueError) as error:
            raise _broken(path, f"rows of another version ({type(error).__name__})") from error
        connection.check_constraints()
        for statement in connection.ops.sequence_reset_sql(no_style(), tables):
            with connection.cursor() as cursor:
                cursor.execute(statement)


class _Exact(DjangoJSONEncoder):
    """Django's own encoder cuts instants to milliseconds; a deadline may hang on the rest."""

    def default(self, o: Any) -> Any:
        """An instant with all its digits."""
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


def _has_rows() -> bool:
    return any(
        model._default_manager.exists()
        for model in saved_models()
        if model._meta.app_label == "server"
    )


def _migrations() -> tuple[str, ...]:
    done = MigrationRecorder(connection).applied_migrations()
    return tuple(sorted(name for app, name in done if app == "server"))


def _keep_key(key: bytes) -> None:
    with atomic_write(settings.CONFIG.folder / KEY_FILE, 0o600) as file:
        file.write(key)


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    _add_stream(tar, name, io.BytesIO(data), len(data))


def _add_stream(tar: tarfile.TarFile, name: str, source: IO[bytes], size: int) -> None:
    about = tarfile.TarInfo(name)
    about.size, about.mode = size, 0o600
    tar.addfile(about, source)


def _add_blob(tar: tarfile.TarFile, sha256: str) -> None:
    """Add a blob that is hashed on its way."""
    blob = store().path(sha256)
    try:
        with blob.open("rb") as file:
            source = _Hashed(file)
            _add_stream(tar, BLOBS + sha256, cast(IO[bytes], source), blob.stat().st_size)
    except FileNotFoundError:
        gone = f"is missing ({_owners(sha256)}); --leave-out goes on without it"
        raise UnreadableFile(sha256, gone) from None
    except OSError as error:
        if error.errno is not None:
            raise  # a full disk is no fault of the blob
        raise _rotten(sha256, "fewer bytes than it had") from error
    if source.digest.hexdigest() != sha256:
        raise _rotten(sha256, "other bytes than were received")


def _rotten(sha256: str, found: str) -> InvalidFile:
    """The error for a blob that is not what was received; says whose file it was."""
    wanted = "the bytes that were received; --leave-out goes on without it"
    return InvalidFile(sha256, [Problem(0, _owners(sha256), found, wanted)])


def _owners(sha256: str) -> str:
    """The files and submissions that a blob belongs to, the first few."""
    named = [
        f"{one.contest.slug}/{one.name}"
        for one in StoredFile.objects.filter(sha256=sha256).select_related("contest")[:3]
    ]
    named += [
        f"{one.contest.slug}: submission {one.ref}"
        for one in Submission.objects.filter(sha256=sha256).select_related("contest")[:3]
    ]
    return "; ".join(named)


class _Hashed:
    """A file that is hashed while it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        block = self._file.read(size)
        self.digest.update(block)
        return block


class _Opened:
    """A packed tar that is read once, from front to back."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> tarfile.TarFile:
        try:
            self._file = self._path.open("rb")
        except OSError as error:
            raise UnreadableFile(self._path, error.strerror or "cannot be read") from error
        try:
            self._packed = zstandard.ZstdDecompressor().stream_reader(self._file)
            self._tar = tarfile.open(fileobj=self._packed, mode="r|")
        except (tarfile.TarError, zstandard.ZstdError, EOFError) as error:
            self._file.close()
            raise _broken(self._path, "something else") from error
        return self._tar

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        self._tar.close()
        self._file.close()
        if kind is not None and issubclass(kind, (tarfile.TarError, zstandard.ZstdError)):
            raise _broken(self._path, "a file that ends early or was changed") from error


def _next(path: Path, members: Iterator[tarfile.TarInfo], name: str, tar: tarfile.TarFile) -> bytes:
    member = next(members, None)
    if member is None or member.name != name or not member.isfile():
        raise _broken(path, "something else")
    return _read(path, tar, member, MAX_HEAD * 4096 if name == ROWS else 64 * MAX_HEAD)


def _read(path: Path, tar: tarfile.TarFile, member: tarfile.TarInfo, most: int) -> bytes:
    if member.size > most:
        raise _broken(path, f"{member.name[:80]!r} of {member.size} bytes")
    source = tar.extractfile(member)
    assert source is not None
    return source.read()


def _head(path: Path, data: bytes) -> dict[str, Any]:
    try:
        head: dict[str, Any] = json.loads(data)
        if head["format"] != FORMAT:
            raise ValueError(head["format"])
        assert isinstance(head["blobs"], list)
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise _broken(path, "another format") from error
    unknown = set(head["migrations"]) - set(_migrations())
    if unknown:
        raise _broken(path, f"tables of a newer tracecup ({sorted(unknown)[0]})")
    return head


def _broken(path: Path, found: str) -> InvalidFile:
    return InvalidFile(path, [Problem(0, "", found, "a backup of a tracecup server")])
