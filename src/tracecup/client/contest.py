"""One contest on a server, as a participant sees it: status, data, submissions, results.

Every method is one thing to do; what the server answers comes back as it is, as JSON.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from tracecup.client.account import Account
from tracecup.client.connection import Body, Connection, multipart
from tracecup.client.downloads import Progress, RemoteFile, digest, fetch_all, save_stream
from tracecup.client.naming import Meant
from tracecup.contest.rules.file import RULES_FILE
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.safeio import atomic_write

BLOCK = 1 << 18
ARCHIVE_NAME = "data.zip"
WAITING = ("queued", "scoring")
# While a score is awaited the server is asked every eight seconds at the end.
CALM = 4
Answer = dict[str, Any]


class ContestClient:
    """A contest, a round of it, and a connection to the server that runs it.

    Without names the only contest that the person plays in and its current round are meant.
    """

    def __init__(
        self, connection: Connection, contest: str | None = None, round_name: str | None = None
    ) -> None:
        self.connection = connection
        self.slug = contest or connection.account.contest or _only_contest(connection.get("/me"))
        self._round = round_name

    @property
    def round(self) -> str:
        """The round that is meant; asked for once."""
        if self._round is None:
            named = self.get("")["round"]
            if not named:
                raise InvalidParameter(f"the contest {self.slug} has no round yet")
            self._round = str(named)
        return self._round

    def get(self, path: str, **query: str | None) -> Any:
        """The JSON of an address of this contest and round."""
        return self.connection.get(self._path(path), round=self._round, **query)

    def status(self) -> Answer:
        """The contest (phases, rules) and what the own team should do now."""
        contest: Answer = self.get("")
        self._round = self._round or contest["round"]
        return {"contest": contest, "team": self.get("/team")}

    def team_number(self) -> int:
        """The number of the own team."""
        return int(self.get("/team")["number"])

    def files(self) -> list[RemoteFile]:
        """The files that the own team may fetch in this round."""
        return [self._file(told) for told in self.get("/files")["files"]]

    def download(self, folder: Path, progress: Progress = lambda done, total: None) -> list[Answer]:
        """Fetch the rules and every file into a folder; only what is missing travels."""
        got = fetch_all(self.connection, self.files(), folder, progress)
        with atomic_write(folder / RULES_FILE) as file:
            file.write(self.connection.text(self._path("/rules")))
        return [file.told(fetched) for file, fetched in got]

    def submit(
        self,
        path: Path,
        meant: Meant,
        *,
        key: str | None = None,
        method: str = "",
        consent: bool = False,
        confirm_invalid: bool = False,
    ) -> Answer:
        """Hand in a file; what the server says of it.

        The key makes sending safe: under the same key a file is taken once. Without one it comes
        from the content and the place, so that a program that was killed can simply run again.
        """
        whole = digest(path)
        where, place = "/archives", {"round": self.round}
        if meant.kind != "archive":
            where = "/submissions"
            place |= {"kind": meant.kind, "challenge": meant.challenge}
            place |= {"target": str(meant.target)} if meant.target is not None else {}
        # Other words about the same file are no new try: only content and place make the key.
        key = key or content_key(whole, self.slug, *place.values())
        fields = place | {"method": method, "consent": _flag(consent)}
        if meant.kind == "release":
            fields["confirm_invalid"] = _flag(confirm_invalid)
        form = multipart(fields, "file", path.name, file_body(path), secrets.token_hex(16))
        status, answer = self.connection.send(self._path(where), form, {"Idempotency-Key": key})
        if meant.kind != "archive":
            if answer["sha256"] != whole:
                raise UnreadableFile(path, "arrived with another SHA-256; it changed on the way")
            answer["repeated"] = status == 200
        return dict(answer)

    def submissions(self) -> list[Answer]:
        """What the own team has handed in, the newest first."""
        found: list[Answer] = self.get("/submissions")
        return found

    def receipt(self, ref: str) -> Answer:
        """One submission."""
        found: Answer = self.get(f"/submissions/{ref}")
        return found

    def settled(self, refs: Collection[str], patience: float = 600.0) -> list[Answer]:
        """These submissions once none of them waits for its score any more.

        Asks with growing pauses, for `patience` seconds at most; then as they stand.
        """
        end, asked = time.monotonic() + patience, 0
        while True:
            found = [one for one in self.submissions() if one["ref"] in refs]
            if not any(one["state"] in WAITING for one in found) or time.monotonic() >= end:
                return found
            self.connection.pause(min(asked, CALM))
            asked += 1

    def targets(self) -> Answer:
        """Whom the own team may attack: tries left, answers so far, what may be known of them."""
        found: Answer = self.get("/team/attack")
        return found

    def defence(self, user: int | None = None) -> Answer:
        """Which attacks hurt the own team, as far as policy and phase allow."""
        found: Answer = self.get("/team/defence", user=None if user is None else str(user))
        return found

    def describe(self, ref: str, method: str, consent: bool | None = None) -> Answer:
        """Say how a submission was made; `consent` None leaves as it was whether it is public."""
        if consent is None:
            consent = bool(self.receipt(ref)["consent"])
        said = {"method": method, "consent": consent}
        where = self._path(f"/submissions/{ref}/describe")
        answer: Answer = self.connection.post(where, said, again=True)
        return answer

    def choose(self, ref: str) -> Answer:
        """Let this release count."""
        return self._act(ref, "choose")

    def withdraw(self, ref: str) -> Answer:
        """Take a submission back."""
        return self._act(ref, "withdraw")

    def results(self) -> Answer:
        """The published results of the round; `board` is None before."""
        found: Answer = self.get("/results")
        return found

    def download_results(
        self, folder: Path, progress: Progress = lambda done, total: None
    ) -> list[Answer]:
        """Fetch archive, report and tables of the published results."""
        files = [self._file(told) for told in self.results()["files"]]
        got = fetch_all(self.connection, files, folder, progress)
        return [file.told(fetched) for file, fetched in got]

    def download_archive(self, target: Path) -> int:
        """All data as one zip file, made by the server on the fly."""
        return save_stream(self.connection, self._path("/archive"), {"round": self.round}, target)

    def _file(self, told: Answer) -> RemoteFile:
        path = self._path(f"/files/{told.get('name')}")
        return RemoteFile.of(told, path, {"round": self.round})

    def _act(self, ref: str, verb: str) -> Answer:
        where = self._path(f"/submissions/{ref}/{verb}")
        answer: Answer = self.connection.post(where, again=True)
        return answer

    def _path(self, path: str) -> str:
        return f"/contests/{self.slug}{path}"


def log_in(connection: Connection, username: str, password: str, name: str, days: int) -> str:
    """A new token for a name and a password; `connection` is a visitor's."""
    payload = {"username": username, "password": password, "token_name": name, "days": days}
    return str(connection.post("/log-in", payload)["secret"])


def visitor(url: str) -> Connection:
    """A connection of nobody in particular."""
    return Connection(Account(url, ""))


def content_key(*parts: str) -> str:
    """The idempotency key of a content at a place.

    >>> content_key("a", "b") == content_key("a", "b") != content_key("ab", "")
    True
    """
    return "c-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:48]


def new_key() -> str:
    """A fresh idempotency key, for sending the same file once more on purpose."""
    return "n-" + secrets.token_hex(16)


def file_body(path: Path) -> Body:
    """A file to be sent, block by block; it must not change meanwhile."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise UnreadableFile(path, str(error.strerror).lower()) from error
    if not path.is_file():
        raise UnreadableFile(path, "is not a regular file")

    def blocks() -> Iterator[bytes]:
        sent = 0
        try:
            with path.open("rb") as file:
                while block := file.read(min(BLOCK, size - sent + 1)):
                    sent += len(block)
                    if sent > size:
                        break
                    yield block
        except OSError as error:
            raise UnreadableFile(path, str(error.strerror).lower()) from error
        if sent != size:
            raise UnreadableFile(path, "changed while it was being sent")

    return Body("application/octet-stream", size, blocks)


def _only_contest(me: Any) -> str:
    roles = me.get("roles", []) if isinstance(me, dict) else []
    played = sorted({one["contest"] for one in roles if one.get("role") == "member"})
    if len(played) == 1:
        return str(played[0])
    if not played:
        raise InvalidParameter("you are in no team yet; join one on the contest's page first")
    raise InvalidParameter(f"say which contest with --contest: {', '.join(played)}")


def _flag(value: bool) -> str:
    return "true" if value else "false"
