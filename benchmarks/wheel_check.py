"""`make wheel-check`: a built wheel in bare environments, the base and then each extra.

Every environment must import all public names and modules that need no other extra, and use its
extra once; in that of JAX the tests of what runs on a GPU run on its CPU tensors. Prints what each
one takes on the disk, without compiled Python. Packages come from wherever pip gets them; where it
gets none, the check says so and is skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOOK = ROOT / "tests" / "support" / "everyname.py"
PINS = ROOT / "requirements" / "dev.txt"
MB = 1_000_000
QUIET = ("--quiet", "--no-compile", "--disable-pip-version-check", "--root-user-action=ignore")
USED = {"numpy", "scipy", "numba", "pyarrow", "zstandard", "typer", "rich"}
"""What the base asks for: each must be imported by some module that needs no extra."""
SERVE_OR_DRAW = {
    *("django", "django-ninja", "fastapi", "flask", "starlette", "tornado", "uvicorn", "waitress"),
    *("whitenoise", "werkzeug", "jinja2", "asgiref", "aiohttp", "httpx", "requests", "urllib3"),
    *("matplotlib", "pillow", "contourpy", "plotly", "bokeh", "altair", "vl-convert-python"),
    *("pandas", "polars", "openpyxl", "distributed", "jax", "psycopg", "ipython"),
}
"""Nothing of the kind is in the base, whoever may ask for it."""


@dataclass(frozen=True)
class Extra:
    """Modules (by the beginnings of their names) that wait for an extra, and a use of it.

    `tests` need the extra and are skipped where it is not installed; some need what is `beside`.
    """

    use: str
    opens: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


BASE = Extra(
    "import tracecup as tc; walk = tc.Traces.of([[0, 1, 2, 3]] * 4);"
    "city = tc.City(tc.Grid.from_metres(4, 4, width_m=1000, height_m=1000));"
    "data = tc.Data('toy', city, walk, walk);"
    "print('published,', tc.score(tc.publish(data, 'RR(8)')))"
)
EXTRAS = {
    "plot": Extra("from tracecup.plot.flows import overview; print(overview().png()[1:4])"),
    "report": Extra(
        "from tracecup.report.figures import still_picture;"
        "print(still_picture({'data': {'values': [{'a': 1}]}, 'mark': 'point'})[:4])"
    ),
    "server": Extra(
        "from tracecup.cli.main import run; run(['serve', '--help']); print('serve --help')",
        ("tracecup.server.",),
    ),
    "sheets": Extra("import openpyxl; print('openpyxl', openpyxl.__version__)"),
    "dask": Extra("import distributed; print('distributed', distributed.__version__)"),
    "learn": Extra(
        "from tracecup.learn import require_jax; require_jax(); print('JAX')",
        ("tracecup.learn.", "tracecup.study.racing."),
        (
            "tests/device/test_search.py",
            "tests/synth/test_ondevice.py",
            "tests/learn/test_learn.py",
            "tests/study/test_racing.py",
            "tests/test_jobs.py::TestDask::test_a_lesson_has_the_same_releases",
            "tests/test_jobs.py::TestDask::test_a_race_has_the_same_bytes",
        ),
        beside=("distributed",),
    ),
    "gpu": Extra(
        "import jax; print('JAX', jax.__version__)",
        ("tracecup.learn.", "tracecup.study.racing."),
    ),
}
TESTING = ("pytest", "hypothesis")
RESOLVED = ("gpu",)
"""Gigabytes of CUDA: unless they are named, pip only says what it would install."""


class Environment:
    """A bare environment without even pip; `above` lends it what is installed there."""

    def __init__(self, folder: Path, above: Environment | None = None) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False, symlinks=True)
        self.packages = next((folder / "lib").glob("python*/site-packages"))
        if above is not None:
            (self.packages / "above.pth").write_text(f"{above.packages}\n")

    def python(self, *words: str, seeing: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run its Python, which sees no other packages but those in the folder `seeing`."""
        # Bytecode is kept: several processes come here, and none after the last one.
        hidden = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
        env = {key: value for key, value in os.environ.items() if key not in hidden}
        if seeing is not None:
            env["PYTHONPATH"] = str(seeing)
        command = [str(self.folder / "bin" / "python"), *words]
        return subprocess.run(
            command, env=env, cwd=self.folder, capture_output=True, text=True, check=False
        )

    def look(self, waiting: tuple[str, ...], extra: Extra, *, deep: bool) -> str:
        """Import everything but what is waiting for another extra, then use this one."""
        done = self.python(str(LOOK), *(["--all"] if deep else []), "--use", extra.use)
        if done.returncode:
            sys.exit(f"{extra.use}\n{done.stdout}\n{done.stderr}")
        *said, last = done.stdout.strip().splitlines()
        found = json.loads(last)
        bad = [name for name in found["missing"] if not name.startswith(waiting)]
        if not found["public"] or bad:
            sys.exit(f"cannot be imported: {bad or 'a public name'}")
        if not Path(found["from"]).is_relative_to(self.folder.parent):
            sys.exit(f"this is another tracecup: {found['from']}")
        if not set(found["used"]) >= USED:
            sys.exit(f"installed and used by nothing: {USED - set(found['used'])}")
        lacking = f", {len(found['missing'])} wait for an extra" if found["missing"] else ""
        return f"{found['names']} names, {found['modules']} modules{lacking}; {said[-1][:48]}"

    def test(self, paths: tuple[str, ...]) -> str:
        """Run tests that are not slow and need nothing else; none may be skipped."""
        own = self.folder / "pytest.ini"
        own.write_text(
            f"[pytest]\npythonpath = {LOOK.parent}\naddopts = --import-mode=importlib\n"
            "markers = slow: studies that do not belong in every run\n"
        )
        words = ("-m", "pytest", "-q", "-rs", "-m", "not slow", "-p", "no:cacheprovider")
        where = ("-c", str(own), "--rootdir", str(ROOT), "--confcutdir", str(ROOT / "tests"))
        done = self.python(*words, *where, *(str(ROOT / path) for path in paths))
        said = done.stdout.strip().splitlines()
        if done.returncode or "skipped" in said[-1]:
            sys.exit(f"tests of {', '.join(paths)}\n{done.stdout}\n{done.stderr}")
        return said[-1]


class Installer:
    """A pip outside the environments, which can say what it would install without fetching it."""

    def __init__(self, folder: Path, *, pinned: bool) -> None:
        self.tools, self.pins = folder / "tools", folder / "pins.txt"
        self.pins.write_text(_pins() if pinned else "")
        words = ["install", *QUIET, "--retries", "1", "--target", str(self.tools), "pip>=25,<27"]
        done = subprocess.run(
            [sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False
        )
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
        self.trouble = " ".join(errors or [done.stderr]) if done.returncode else ""

    def pip(self, made: Environment, *words: str) -> None:
        done = made.python("-m", "pip", *words, seeing=self.tools)
        if done.returncode:
            sys.exit(f"pip {' '.join(words)}\n{done.stdout}\n{done.stderr}")

    def install(self, made: Environment, *what: str) -> int:
        """Install into an environment; the bytes that it added."""
        before = size_of(made.packages)
        self.pip(made, "install", *QUIET, "--constraint", str(self.pins), *what)
        return size_of(made.packages) - before

    def would_install(self, made: Environment, what: str) -> list[str]:
        """What pip would install beside what is there, as `name version`."""
        told = made.folder / "would.json"
        self.install(made, "--dry-run", "--use-feature=fast-deps", "--report", str(told), what)
        found = [one["metadata"] for one in json.loads(told.read_text())["install"]]
        return [f"{one['name']} {one['version']}" for one in found]


def _pins() -> str:
    """The versions that the tests run with, for pip; hashes would be asked of the wheel, too."""
    return "\n".join(re.findall(r"^[\w.-]+==[^ \\]+", PINS.read_text("utf-8"), re.MULTILINE))


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


def installed_in(folder: Path) -> set[str]:
    """The names of the distributions in a folder, as pip compares them."""
    found = (path.name.partition("-")[0] for path in folder.glob("*.dist-info"))
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found}


def base_holds(made: Environment) -> str:
    """What is in the base, which must be nothing that serves or draws."""
    found = installed_in(made.packages)
    if wrong := found & SERVE_OR_DRAW:
        sys.exit(f"the base has {', '.join(sorted(wrong))}")
    largest = [f"{name} {size / MB:.0f}" for name, size in packages_in(made.packages)[:8]]
    return (
        f"    {len(found)} packages: {', '.join(sorted(found))}\n"
        f"    the largest, in MB: {', '.join(largest)}"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("extras", nargs="*", help="these alone, installed whatever their size")
    options.add_argument(
        "--newest", action="store_true", help="packages, not as pinned in requirements/dev.txt"
    )
    given = options.parse_args()
    signal.signal(signal.SIGTERM, stop)
    with tempfile.TemporaryDirectory(prefix="tracecup-wheel-") as name:
        folder = Path(name)
        installer = Installer(folder, pinned=not given.newest)
        if "from versions: none" in installer.trouble:
            print(f"wheel-check skipped: pip reaches no package index here ({installer.trouble})")
            return
        if installer.trouble:
            sys.exit(installer.trouble)
        words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", name]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
        check(installer, next(folder.glob("*.whl")), given.extras)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"wheel-check passed, {spent.ru_utime + spent.ru_stime:.0f} s of processor time")


def stop(*_: object) -> None:
    """End as an error would, so that folders are cleared up; a second signal does not disturb."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit("wheel-check stopped")


def check(installer: Installer, wheel: Path, chosen: list[str]) -> None:
    """The base, then each extra in an environment that sees the base and no other extra."""
    print(f"wheel    {wheel.stat().st_size / MB:6.1f} MB", flush=True)
    base = Environment(wheel.parent / "base")
    size = installer.install(base, str(wheel))
    waiting = tuple(head for extra in EXTRAS.values() for head in extra.opens)
    held = base_holds(base)
    report("base", size, base.look(waiting, BASE, deep=True))
    print(held, flush=True)
    installer.pip(base, "check")
    for name in chosen or EXTRAS:
        extra, what = EXTRAS[name], f"tracecup[{name}] @ {wheel.as_uri()}"
        made = Environment(wheel.parent / name, base)
        if name in RESOLVED and name not in chosen:
            found = installer.would_install(made, what)
            print(
                f"{name:8} not installed, for its size; pip would: {', '.join(found)}", flush=True
            )
        else:
            size = installer.install(made, what)
            waiting_still = tuple(head for head in waiting if head not in extra.opens)
            report(name, size, made.look(waiting_still, extra, deep=bool(extra.opens)))
            if extra.tests:
                installer.install(made, *TESTING, *extra.beside)
                print(f"    tests that need it: {made.test(extra.tests)}", flush=True)
        shutil.rmtree(made.folder)


def report(title: str, size: int, said: str) -> None:
    """One line about an environment."""
    print(f"{title:8} {size / MB:6.1f} MB  {said}", flush=True)


if __name__ == "__main__":
    main()
