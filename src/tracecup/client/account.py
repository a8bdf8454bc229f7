"""Where a participant's server and token are kept: the environment, or one file of her own.

`TRACECUP_URL` and `TRACECUP_TOKEN` go before the file, which only its owner can read.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tracecup.errors import InvalidFile, InvalidParameter, Problem, UnreadableFile
from tracecup.safeio import atomic_write, ensure_folder

URL_VARIABLE, TOKEN_VARIABLE = "TRACECUP_URL", "TRACECUP_TOKEN"
CONTEST_VARIABLE, FOLDER_VARIABLE = "TRACECUP_CONTEST", "TRACECUP_CONFIG_DIR"
ACCOUNT_FILE = "client.json"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_SLUG = re.compile(r"[-a-zA-Z0-9_]{1,60}", re.ASCII)


@dataclass(frozen=True)
class Account:
    """A server, the token that it gave ("": a visitor), and the contest that is meant.

    >>> Account("https://contest.example/", "tct_secret")
    Account(url='https://contest.example', contest='')
    """

    url: str
    token: str
    contest: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidParameter(
                f"a server's address looks like https://contest.example, got {self.url!r}"
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise InvalidParameter("a server's address holds no name, password or query")
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise InvalidParameter("a token is a line of letters and digits that begins with tct_")
        if self.contest and not _SLUG.fullmatch(self.contest):
            raise InvalidParameter(f"a contest's short name is a word, got {self.contest!r}")
        object.__setattr__(self, "url", self.url.rstrip("/"))

    def __repr__(self) -> str:
        """Without the token."""
        return f"Account(url={self.url!r}, contest={self.contest!r})"

    @classmethod
    def of_page(cls, address: str, token: str) -> Account:
        """The account at the server of any page, since people copy what their browser shows.

        >>> Account.of_page("https://contest.example/c/spring/team/", "tct_secret")
        Account(url='https://contest.example', contest='spring')
        """
        site, found, rest = address.partition("/c/")
        slug = re.split("[/?#]", rest)[0]
        return cls(site if found else address, token, slug)

    @property
    def is_private(self) -> bool:
        """Whether nobody on the way can read the token."""
        parts = urlsplit(self.url)
        return parts.scheme == "https" or parts.hostname in LOCAL_HOSTS


def config_folder(env: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """The folder for settings on this system.

    >>> config_folder({"XDG_CONFIG_HOME": "/home/a/.config"}, "linux").as_posix()
    '/home/a/.config/tracecup'
    """
    env = os.environ if env is None else env
    if env.get(FOLDER_VARIABLE):
        return Path(env[FOLDER_VARIABLE])
    if platform == "win32":
        base = env.get("APPDATA") or str(Path.home() / "AppData" / "Roaming")
    elif platform == "darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = env.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "tracecup"


def load_account(env: Mapping[str, str] | None = None) -> Account:
    """The account to use: from the environment, else from the file that `save_account` wrote."""
    env = os.environ if env is None else env
    contest = env.get(CONTEST_VARIABLE, "")
    if env.get(URL_VARIABLE) and env.get(TOKEN_VARIABLE):
        return Account(env[URL_VARIABLE], env[TOKEN_VARIABLE].strip(), contest)
    path = config_folder(env) / ACCOUNT_FILE
    if not path.is_file():
        raise InvalidParameter(
            f"not logged in: run tracecup client login, or set {URL_VARIABLE} and {TOKEN_VARIABLE}"
        )
    held = _read(path)
    return Account(
        env.get(URL_VARIABLE) or held["url"],
        (env.get(TOKEN_VARIABLE) or held["token"]).strip(),
        contest or held["contest"],
    )


def save_account(account: Account, env: Mapping[str, str] | None = None) -> Path:
    """Keep an account in the owner's folder; nobody else can read the file."""
    folder = config_folder(env)
    ensure_folder(folder, 0o700)
    path = folder / ACCOUNT_FILE
    with atomic_write(path, 0o600) as file:
        file.write(json.dumps(asdict(account), indent=1).encode())
    return path


def forget_account(env: Mapping[str, str] | None = None) -> bool:
    """Remove the file; whether there was one."""
    path = config_folder(env) / ACCOUNT_FILE
    there = path.is_file()
    path.unlink(missing_ok=True)
    return there


def _read(path: Path) -> dict[str, str]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(path, str(error.strerror).lower()) from error
    except ValueError:
        held = None
    names = ("url", "token", "contest")
    if not isinstance(held, dict) or not all(isinstance(held.get(name), str) for name in names):
        wanted = "an account; log in again"
        raise InvalidFile(path, [Problem(0, "", "something else", wanted)])
    return {name: held[name] for name in names}
