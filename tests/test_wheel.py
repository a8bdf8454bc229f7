"""The wheel: what it asks for and what is in it.

`make wheel-check` installs it for real into bare environments, with each extra.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BASE = {"numpy", "scipy", "numba", "pyarrow", "zstandard", "typer", "rich"}
"""What every installation has; each is used by code of the package that needs no extra."""
EXTRAS = {"plot", "report", "server", "sheets", "dask", "learn", "gpu", "docs", "dev"}
MOST_MB = 16
"""Of which the shipped models are nine."""


def called(requirement: str) -> str:
    """The name of a requirement, as pip compares them."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built as a package index would get it."""
    out = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def asked(wheel) -> list[str]:
    """Its requirements, in its own words."""
    with zipfile.ZipFile(wheel) as held:
        name = next(name for name in held.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(held.read(name)).get_all("Requires-Dist")


class TestRequirements:
    def test_the_base_is_small_in_number(self, asked):
        assert {called(one) for one in asked if "extra ==" not in one} == BASE

    def test_extras(self, asked):
        assert set(re.findall(r"extra == '([\w-]+)'", "\n".join(asked))) == EXTRAS


class TestContents:
    def test_all_of_the_package_and_nothing_else(self, wheel):
        with zipfile.ZipFile(wheel) as held:
            packed = {name for name in held.namelist() if name.startswith("tracecup/")}
            other = set(held.namelist()) - packed
        listed = subprocess.run(
            ["git", "ls-files", "src/tracecup"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if listed.returncode:
            pytest.skip("skipped: this is no checkout of git")
        kept = {name.removeprefix("src/") for name in listed.stdout.split()}
        kept = {name for name in kept if (ROOT / "src" / name).exists()}
        assert kept <= packed
        assert all(".dist-info/" in name for name in other)

    def test_its_size(self, wheel):
        assert wheel.stat().st_size < MOST_MB * 1_000_000
