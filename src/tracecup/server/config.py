"""What a server is told from outside: its folder, its database, how hard it may work.

Read from the environment once; `tracecup serve DIR` sets the folder.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tracecup.errors import InvalidParameter
from tracecup.safeio import MIB, atomic_write

FOLDER_VARIABLE = "TRACECUP_SERVER_DIR"
DATABASE_FILE = "tracecup.sqlite3"
KEY_FILE = "secret_key"
BUSY_SECONDS = 30
MAIL_SECONDS = 20


@dataclass(frozen=True)
class ServerConfig:
    """Folder, database and limits of one server."""

    folder: Path
    database_url: str = ""
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    site_url: str = ""
    secure: bool = False
    proxied: bool = False
    upload_mib: int = 1024
    job_memory_mib: int = 4096
    job_seconds: int = 900
    lease_seconds: int = 30
    mail_url: str = ""
    mail_from: str = "tracecup@localhost"

    @classmethod
    def of_environment(cls, env: Mapping[str, str] | None = None) -> ServerConfig:
        """From TRACECUP_SERVER_DIR, DATABASE_URL and the TRACECUP_... variables.

        >>> ServerConfig.of_environment({"TRACECUP_SERVER_DIR": "contest"}).folder.name
        'contest'
        """
        env = os.environ if env is None else env
        folder = Path(env.get(FOLDER_VARIABLE) or "tracecup-server").absolute()
        hosts = tuple(h.strip() for h in env.get("TRACECUP_HOSTS", "").split(",") if h.strip())
        if not env.get("TRACECUP_SITE_URL") and any(h.startswith(("*", ".")) for h in hosts):
            raise InvalidParameter(
                "where TRACECUP_HOSTS allows any name, set TRACECUP_SITE_URL: links in letters "
                "would lead to whatever name somebody asked for"
            )
        return cls(
            folder,
            env.get("DATABASE_URL", ""),
            hosts or cls.hosts,
            env.get("TRACECUP_SITE_URL", ""),
            _flag(env, "TRACECUP_SECURE"),
            _flag(env, "TRACECUP_PROXIED"),
            _whole(env, "TRACECUP_UPLOAD_MIB", cls.upload_mib),
            _whole(env, "TRACECUP_JOB_MEMORY_MIB", cls.job_memory_mib),
            _whole(env, "TRACECUP_JOB_SECONDS", cls.job_seconds),
            _whole(env, "TRACECUP_LEASE_SECONDS", cls.lease_seconds),
            env.get("TRACECUP_MAIL_URL", ""),
            env.get("TRACECUP_MAIL_FROM", "") or cls.mail_from,
        )

    @property
    def blobs(self) -> Path:
        """Where the bytes of files lie, by SHA-256."""
        return self.folder / "blobs"

    @property
    def incoming(self) -> Path:
        """Where uploads and unfinished files lie; emptied at start."""
        return self.folder / "incoming"

    @property
    def upload_bytes(self) -> int:
        """The largest body of a request."""
        return self.upload_mib * MIB

    @property
    def database(self) -> dict[str, Any]:
        """Django's settings of the database."""
        if not self.database_url:
            return {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(self.folder / DATABASE_FILE),
                "OPTIONS": {
                    "timeout": BUSY_SECONDS,
                    # A transaction that will write takes the lock at once: no upgrade, no deadlock.
                    "transaction_mode": "IMMEDIATE",
                    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
                },
            }
        return postgres_settings(self.database_url)

    @property
    def mail(self) -> dict[str, Any]:
        """Django's settings of e-mail: printed to standard output where no server is named."""
        if not self.mail_url:
            return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
        return mail_settings(self.mail_url)

    def secret_key(self) -> str:
        """The key of this server's folder; a passing one where the folder has none yet."""
        path = self.folder / KEY_FILE
        return path.read_text().strip() if path.is_file() else secrets.token_hex(32)

    def prepare(self) -> None:
        """Make the folder and its key; what is there stays.

        The folder may have been there before, for all to read: the database is made private itself.
        """
        for folder in (self.folder, self.blobs, self.incoming):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (self.folder / KEY_FILE).exists():
            with atomic_write(self.folder / KEY_FILE, 0o600) as file:
                file.write(secrets.token_hex(32).encode())
        if not self.database_url:
            (self.folder / DATABASE_FILE).touch(mode=0o600)
            (self.folder / DATABASE_FILE).chmod(0o600)


def postgres_settings(url: str) -> dict[str, Any]:
    """Django's settings from `postgres://user:password@host:port/name?option=value`.

    The password is never part of an error.

    >>> postgres_settings("postgres://me@db/contest")["NAME"]
    'contest'
    """
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in ("postgres", "postgresql") or not re.fullmatch(r"[^/]+", name):
        raise InvalidParameter(
            "DATABASE_URL must look like postgres://USER:PASSWORD@HOST:PORT/NAME; "
            "without it the server keeps everything in its folder"
        )
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", unquote(parts.hostname or "")),
        "PORT": str(parts.port or options.pop("port", "")),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def mail_settings(url: str) -> dict[str, Any]:
    """Django's settings from `smtp://USER:PASSWORD@HOST:PORT`; `smtps` is TLS from the start.

    `smtp` switches to TLS before anything is said (STARTTLS); `smtp+plain` never does, for a mail
    server on this machine. `file:FOLDER` writes letters into a folder. The password is never part
    of an error.

    >>> mail_settings("smtps://me:secret@mail.example.org")["EMAIL_PORT"]
    465
    """
    if url.startswith("file:") and len(url) > len("file:"):
        return {
            "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
            "EMAIL_FILE_PATH": url.removeprefix("file:"),
        }
    parts = urlsplit(url)
    ports = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
    try:
        port = parts.port or ports[parts.scheme]
        host = parts.hostname or ""
    except (KeyError, ValueError):
        host = ""
    if not host:
        raise InvalidParameter(
            "TRACECUP_MAIL_URL must look like smtp://USER:PASSWORD@HOST:PORT, smtps://..., "
            "smtp+plain://... or file:FOLDER; without it letters are printed"
        )
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": host,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": MAIL_SECONDS,
    }


def _flag(env: Mapping[str, str], name: str) -> bool:
    value = env.get(name, "").strip().lower()
    if value in ("", "0", "no", "false"):
        return False
    if value in ("1", "yes", "true"):
        return True
    raise InvalidParameter(f"{name} must be yes or no, got {value[:40]!r}")


def _whole(env: Mapping[str, str], name: str, default: int) -> int:
    value = env.get(name, "").strip()
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= 1 << 24:
        raise InvalidParameter(f"{name} must be a whole number from 1, got {value[:40]!r}")
    return int(value)
