"""Run by the Python of an installation: imports every public name and every room, prints JSON.

With `--all` every module of every room; with `--use CODE` it runs some code of a user before.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import sys
import tempfile
from importlib.util import find_spec


def modules(*, deep: bool) -> list[str]:
    """The rooms of the package, or all modules, without importing any."""
    import tracecup

    def within(paths: list[str], head: str) -> list[str]:
        found = []
        for one in pkgutil.iter_modules(paths, head):
            found.append(one.name)
            if one.ispkg and deep:
                deeper = [f"{path}/{one.name.rsplit('.', 1)[1]}" for path in paths]
                found += within(deeper, f"{one.name}.")
        return found

    found = [
        name for name in within(list(tracecup.__path__), "tracecup.") if "__main__" not in name
    ]
    return found if deep else [*found, "tracecup.cli.main"]


def look(*, deep: bool) -> dict[str, object]:
    """What can be imported: public names, modules, and for the others the package they lack."""
    import tracecup as tc

    names = [name for name in tc.__all__ if getattr(tc, name) is not None]
    if "django" in sys.modules or _is_there("django"):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TRACECUP_SERVER_DIR"] = folder
            os.environ["DJANGO_SETTINGS_MODULE"] = "tracecup.server.settings"
            importlib.import_module("django").setup()
            return _imported(names, deep)
    return _imported(names, deep)


def _imported(names: list[str], deep: bool) -> dict[str, object]:
    missing, found = {}, modules(deep=deep)
    for name in found:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            missing[name] = (error.name or "").partition(".")[0]
    used = sorted({name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names)
    return {
        "names": len(names),
        "public": list(importlib.import_module("tracecup").__all__) == names,
        "modules": len(found),
        "missing": missing,
        "used": used,
        "from": importlib.import_module("tracecup").__file__,
    }


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--all", action="store_true")
    given.add_argument("--use", default="")
    wanted = given.parse_args()
    exec(wanted.use, {})
    print(json.dumps(look(deep=wanted.all)))
