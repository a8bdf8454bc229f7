"""`make wheel-check`: a built wheel in bare environments, the base and then each extra.

Every environment must import all public names and modules that need no other extra, and use its
extra once; prints what each one takes on the disk, without compiled Python. Packages come from
wherever pip gets them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOOK = ROOT / "tests" / "support" / "everyname.py"
MB = 1_000_000
BASE_USE = (
    "import tracecup as tc; made = tc.publish(tc.load_demo(days=1, users=5), 'RR(8)');"
    "print(tc.score(made, tc.attack(made, 'VisitProb-R')))"
)
EXTRAS = {
    "plot": "import tracecup as tc; data = tc.load_demo(days=1, users=5);"
    "tc.evaluate(data, 'RR(8)', ['VisitProb-R', 'VisitProb-T']).plot('a.png'); print('a picture')",
    "report": "from tracecup.report.figures import still_picture;"
    "print(still_picture({'data': {'values': [{'a': 1}]}, 'mark': 'point'})[:4])",
    "server": "from tracecup.cli.main import run; run(['serve', '--help'])",
    "sheets": "import openpyxl; print('openpyxl', openpyxl.__version__)",
    "dask": "import distributed; print('distributed', distributed.__version__)",
    "learn": "from tracecup.learn import require_jax; require_jax(); print('JAX')",
    "gpu": "import jax; print('JAX', jax.__version__)",
}
"""Each with something that needs it."""
LARGE = ("gpu",)
NEEDS = {
    "tracecup.server.": ("server",),
    "tracecup.learn.": ("learn", "gpu"),
    "tracecup.study.racing.": ("learn", "gpu"),
}
"""Modules that cannot be imported without one of these extras."""


class Environment:
    """A bare environment of its own; `above` lends it what is installed there."""

    def __init__(self, folder: Path, above: Environment | None = None) -> None:
        self.folder, self.above = folder, above
        venv.create(folder, with_pip=True)
        self.packages = next((folder / "lib").glob("python*/site-packages"))
        self.bare = size_of(self.packages)
        if above is not None:
            (self.packages / "above.pth").write_text(f"{above.packages}\n")

    def python(self, *words: str, cwd: Path | None = None) -> str:
        env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        command = [str(self.folder / "bin" / "python"), *words]
        done = subprocess.run(
            command, env=env, cwd=cwd or self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{' '.join(words)[:200]}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def install(self, what: str) -> int:
        """Install with pip; the bytes that it added, without a copy of what `above` has."""
        quiet = ("--quiet", "--no-compile", "--disable-pip-version-check")
        self.python("-m", "pip", "install", *quiet, "--root-user-action=ignore", what)
        twice = size_of(self.packages / "tracecup") if self.above else 0
        return size_of(self.packages) - self.bare - twice

    def look(self, *having: str) -> str:
        """Import everything; what may be missing depends on the extras that are there."""
        found = json.loads(self.python(str(LOOK), "--all"))
        allowed = tuple(head for head, extras in NEEDS.items() if not set(extras) & set(having))
        bad = [name for name in found["missing"] if not name.startswith(allowed)]
        if not found["public"] or bad:
            sys.exit(f"cannot be imported with {having or 'the base'}: {bad}")
        lacking = f", {len(found['missing'])} wait for an extra" if found["missing"] else ""
        return f"{found['names']} names, {found['modules']} modules{lacking}"


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def packages_in(folder: Path) -> list[tuple[str, int]]:
    """The packages in a folder with their sizes, the largest first."""
    sizes: dict[str, int] = {}
    for path in folder.iterdir():
        if path.is_dir() and not path.name.endswith(".dist-info"):
            name = path.name.removesuffix(".libs")
            sizes[name] = sizes.get(name, 0) + size_of(path)
    return sorted(sizes.items(), key=lambda one: -one[1])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("extras", nargs="*", help="these alone; all but gpu without")
    chosen = options.parse_args().extras or [name for name in EXTRAS if name not in LARGE]
    with tempfile.TemporaryDirectory(prefix="tracecup-wheel-") as name:
        folder = Path(name)
        words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", name]
        subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        wheel = next(folder.glob("*.whl"))
        print(f"wheel: {wheel.stat().st_size / MB:.1f} MB", flush=True)
        base = Environment(folder / "base")
        report("base", base, str(wheel), BASE_USE)
        for package, size in packages_in(base.packages)[:8]:
            print(f"    {package:12} {size / MB:5.0f} MB")
        base.python("-m", "pip", "check")
        for extra in chosen:
            made = Environment(folder / extra, base)
            report(extra, made, f"tracecup[{extra}] @ {wheel.as_uri()}", EXTRAS[extra], extra)


def report(title: str, made: Environment, what: str, use: str, *having: str) -> None:
    """Install, look, use; one line about it."""
    began = time.monotonic()
    added = made.install(what)
    seen = made.look(*having)
    said = made.python("-c", use).strip().splitlines()[-1]
    seconds = time.monotonic() - began
    print(f"{title:8} {added / MB:6.0f} MB  {seen}; {said[:60]}  ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
