"""Secrets are in no answer and no log line: all that left the server is searched for them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import pytest
import zstandard
from tally import tally

from tracecup.server.config import ServerConfig

# One worker plays the contest for all tests of this folder.
pytestmark = pytest.mark.django_db
OWNS_THE_LINK = ("/receipt/", "/receipts/", "/link/", "/links/", "/join/")
GIVEN_AWAY = ("join code", "receipt")
"""Who has a secret link of team 1 may see what such a link is: nothing else of the team."""
WHOLE_SERVER = ("/backups/",)
"""A backup holds everything; only `staff` gets one, and that is in the table of roles."""


def unpacked(body: bytes, depth: int = 3) -> Iterator[bytes]:
    """A body, and what is packed in it."""
    yield body
    if depth and body.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield from unpacked(archive.read(name), depth - 1)
    elif depth and body.startswith(b"\x28\xb5\x2f\xfd"):
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(body)) as reader:
            yield from unpacked(reader.read(), depth - 1)


@pytest.fixture(scope="module")
def texts(played) -> list:
    """Each different text that left the server, with those who got it, phase by phase."""
    seen: dict[tuple, list] = {}
    for heard in played.heard:
        role = "own" if any(part in heard.filled for part in OWNS_THE_LINK) else heard.role
        if any(part in heard.filled for part in WHOLE_SERVER) and heard.role == "staff":
            continue
        key = (heard.phase, role, heard.role, heard.body, heard.head)
        seen.setdefault(key, heard)
    return list(seen.items())


class TestSecrets:
    def test_are_in_no_answer(self, played, texts):
        by_phase: dict[str, list] = {}
        for secret in played.secrets:
            by_phase.setdefault(secret.phase, []).append(secret)
        tally("canaries: texts searched", len(texts))
        leaks = set()
        contents: dict[bytes, list[bytes]] = {}
        for (phase, role, real, body, head), heard in texts:
            if body not in contents:
                contents[body] = list(unpacked(body))
            for secret in by_phase[phase]:
                given = role in secret.seen_by and secret.name in GIVEN_AWAY
                if real in secret.seen_by or given:
                    continue
                for needle in secret.needles:
                    if needle in heard.filled.encode():
                        continue
                    if needle in head.encode() or any(needle in one for one in contents[body]):
                        leaks.add((secret.name, phase, real, heard.address.method, heard.filled))
        assert leaks == set()

    def test_are_in_no_log_line(self, played):
        logged = {heard.logged.encode(): heard for heard in played.heard if heard.logged}
        leaks = {
            (secret.name, heard.filled)
            for line, heard in logged.items()
            for secret in played.secrets
            for needle in secret.needles
            if needle in line
        }
        assert leaks == set()

    def test_the_search_finds_what_is_there(self, played):
        """Owners do get their secrets: the needles look as the server writes them."""
        everything = b"\n".join(
            text
            for heard in played.heard
            if heard.role in ("own", "other", "organiser")
            for text in unpacked(heard.body)
        )
        kinds = ("join code", "receipt", "e-mail", "news", "utility", "orgtraces", "draft")
        kinds += ("score of own", "score of other")
        names = {one.name for one in played.secrets if one.seen_by and one.name.startswith(kinds)}
        shown = {
            secret.name
            for secret in played.secrets
            if secret.seen_by and any(needle in everything for needle in secret.needles)
        }
        assert names - shown == set()

    def test_what_the_judge_kept_is_in_the_archive_of_the_results(self, played):
        """The same needles are in the organisers' archive: the search knows how they look."""
        opened = b"\n".join(
            text
            for heard in played.heard
            if (heard.role, heard.phase) == ("organiser", "results")
            for text in unpacked(heard.body)
        )
        kept = [one for one in played.secrets if one.phase == "attack"]
        for secret in kept:
            if secret.name.startswith(("ptable", "nonce", "orgtraces")):
                assert secret.needles[0] in opened, secret.name


class TestFolder:
    def test_the_servers_own_files_are_for_its_owner(self, tmp_path):
        config = ServerConfig(tmp_path / "server")
        config.prepare()
        modes = {path.stat().st_mode & 0o077 for path in config.folder.rglob("*")}
        assert modes == {0}
