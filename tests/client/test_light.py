"""The client's install is light: it works where the server's dependencies are not there."""

from __future__ import annotations

import subprocess
import sys

SERVER_ONLY = ("django", "ninja", "django_htmx", "whitenoise", "waitress", "psycopg", "argon2")
BLOCK = f"import sys; sys.modules.update({{name: None for name in {SERVER_ONLY!r}}}); "


def python(code: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", BLOCK + code]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)


class TestImports:
    def test_every_module_of_the_room(self):
        done = python(
            "import pkgutil, importlib, tracecup.client as room; "
            "names = [m.name for m in pkgutil.iter_modules(room.__path__)]; "
            "[importlib.import_module(f'tracecup.client.{name}') for name in names]; "
            "print(len(names))"
        )
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) >= 5

    def test_the_command_line(self):
        done = python("from tracecup.cli.main import run; sys.exit(run(['client', '--help']))")
        assert done.returncode == 0, done.stderr
        assert "submit" in done.stdout
