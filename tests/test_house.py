"""The house itself: rooms import one way, examples run, every module says what it is for."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import tracecup

SOURCE = Path(tracecup.__file__).parent
NEEDS_JAX = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
SLOW = re.compile(
    r"^(from|import) scipy\.(stats|optimize|ndimage|linalg|sparse\.csgraph|sparse\.linalg)\b"
    r"|^from scipy import .*\b(stats|optimize|ndimage|linalg)\b",
    re.MULTILINE,
)
"""Parts of SciPy that take up to a second to import: every command would wait for them."""
STUDIES = ("learn", "study")
HEAVY = {"PIL", "jax", "matplotlib", "openpyxl", "pyarrow", "rich", "scipy", "vl_convert"}
"""Takes long to import, or comes with an extra."""
SOME_SYSTEMS = {"fcntl", "resource"}
OWN_LATE = {
    "contest/rules/model.py": "a default asks the attacks for their names; rules become a file",
    "contest/rules/values.py": "names of attacks are known once the attacks are loaded",
    "device/arrays.py": "fused kernels need JAX",
    "front/results.py": "pictures need matplotlib",
    "server/start.py": "Django is to be set up before",
    "study/knowledge.py": "training needs JAX",
    "study/race.py": "training needs JAX",
}
"""Modules that import others of the package inside functions, and why; commands (cli) all do."""
DJANGO_LATE = {
    "server/jobs/sandbox.py": "children that compute know no Django",
    "server/start.py": "Django is to be set up before",
    "server/web/receiving.py": "who says where bodies lie needs no settings",
}
"""Modules that import Django inside functions, and why."""
BY_NAME = {
    ("__init__.py", "_HOME[name]"): "a name of the package is loaded when it is first asked for",
    ("__init__.py", "f'tracecup.{name}'"): "so are its rooms",
    ("attack/channel/known.py", "ROOMS['obfuscator']"): "an attacker may run a defence",
    ("city/grid.py", "'tracecup.front.html'"): "a notebook shows a city by its card",
    ("cli/check.py", "name"): "the participant's own module",
    ("cli/main.py", "f'tracecup.cli.{verb}'"): "each module of the room is a verb",
    ("cluster.py", "'cloudpickle'"): "comes with an extra",
    ("cluster.py", "'distributed'"): "comes with an extra",
    ("datasets/frames.py", "name"): "frames of the reader's own libraries",
    ("datasets/projection.py", "'pyproj'"): "is no dependency",
    ("front/progress.py", "'IPython.display'"): "is no dependency",
    ("front/tables.py", "library"): "frames of the reader's own libraries",
    ("plot/album.py", "f'{room.__name__}.{module.name}'"): "each module of a room draws a study",
    ("registry.py", "ROOMS[kind]"): "a room is full once it is imported, whoever asks first",
    ("rooms.py", "FRONT"): "a room that is called is a verb of the front door",
    ("server/jobs/kinds.py", "f'tracecup.server.{feature}.jobs'"): "features declare their jobs",
    ("server/jobs/sandbox.py", "module"): "a child computes what it is told by name",
    ("study/reproduce.py", "f'{room.__name__}.{module.name}'"): "each module of a room is a study",
}
"""What is imported by a name in a string, where neither linter nor types look, and why."""
UPWARDS = {
    "city/grid.py": {"front"},
    "registry.py": {"attack", "obfuscate", "synth"},
    "rooms.py": {"front"},
    "server/jobs/sandbox.py": {"cli"},
}
"""Modules that name rooms above their own in strings: three for `BY_NAME`, the last for what
children have imported before they are asked, by the standard library."""
JAX_ROOMS = ("tracecup.learn.", "tracecup.study.racing.")
MODULES = [
    pytest.param(name, marks=NEEDS_JAX) if name.startswith(JAX_ROOMS) else name
    for name in sorted(module.name for module in pkgutil.walk_packages([str(SOURCE)], "tracecup."))
    if not name.endswith("__main__")
]


class TestRooms:
    def test_dependencies_point_one_way(self):
        # in a process of its own: the linter silences all loggers that are there
        command = "from importlinter.cli import lint_imports as go; exit(go(cache_dir=None))"
        done = subprocess.run(
            [sys.executable, "-c", command],
            cwd=SOURCE.parent.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


LONGEST = 450
LONGER = {"server/migrations/0001_tables.py": "written by Django"}
"""Modules of more lines, and why."""


class TestLengths:
    def test_a_module_can_be_read_at_once(self):
        longer = {
            path.relative_to(SOURCE).as_posix()
            for path in SOURCE.rglob("*.py")
            if len(path.read_text().splitlines()) > LONGEST
        }
        assert longer == set(LONGER)


TWICE = {("server", "Command"), ("server", "Done"), ("server", "Member")}
"""Names of two classes in one room: Django wants the first, the API's document has the others."""
BEFORE_CITY = {"attack", "folder", "method", "name", "path"}
"""What may stand before the city in a signature: who acts, and which file it is about."""


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions and methods that others may call."""
    for node in tree.body:
        for one in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(one, ast.FunctionDef) and one.name.strip("_") == one.name:
                yield one


def late_imports(path: Path) -> Iterator[str]:
    """The modules that are imported inside functions."""
    for function in ast.walk(ast.parse(path.read_text())):
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.ImportFrom):
                yield node.module or ""
            elif isinstance(node, ast.Import):
                yield from (one.name for one in node.names)


def called_by_name(path: Path) -> Iterator[str]:
    """What is handed to `import_module` and `__import__`, as it is written."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            if called in {"import_module", "__import__", "import_string"}:
                yield ast.unparse(node.args[0])


def floors() -> dict[str, int]:
    """Room -> its place in the first contract of imports, 0 at the top."""
    told = tomllib.loads((SOURCE.parent.parent / "pyproject.toml").read_text())
    layers = told["tool"]["importlinter"]["contracts"][0]["layers"]
    return {room: place for place, layer in enumerate(layers) for room in re.findall(r"\w+", layer)}


def rooms_in_strings(path: Path) -> Iterator[str]:
    """The rooms of modules that are named in strings."""
    for node in ast.walk(ast.parse(path.read_text())):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and (found := re.fullmatch(r"tracecup\.(\w+)[\w.:]*", text)):
            yield found[1]


class TestNames:
    def test_a_class_has_its_name_for_itself_in_its_room(self):
        found = Counter(
            (path.relative_to(SOURCE).parts[0], node.name)
            for path in SOURCE.rglob("*.py")
            if path.parent.name != "migrations"
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ClassDef)
        )
        assert {name for name, times in found.items() if times > 1} == TWICE

    def test_a_package_hides_no_module_of_its_own(self):
        hidden = {
            f"{path.parent.relative_to(SOURCE)}.{one.asname or one.name}"
            for path in SOURCE.rglob("__init__.py")
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ImportFrom)
            for one in node.names
            if (path.parent / f"{one.asname or one.name}.py").exists()
        }
        assert hidden == set()

    def test_the_city_comes_first(self):
        later = []
        for path in SOURCE.rglob("*.py"):
            if path.relative_to(SOURCE).parts[0] == "cli":  # there it is an option among others
                continue
            for function in functions(ast.parse(path.read_text())):
                names = [one.arg for one in function.args.posonlyargs + function.args.args]
                before = names[: names.index("city")] if "city" in names else []
                if not {*before} <= BEFORE_CITY | {"self", "cls"}:
                    later.append(f"{path.relative_to(SOURCE)}: {function.name}({', '.join(names)})")
        assert later == []


class TestDeclaredOnce:
    def test_endings_of_packed_files_stand_where_they_are_packed(self):
        """Who lists the ways to pack lists gzip; what is stored is packed by zstd, and says so."""
        ending = re.compile(r"""["'](\.csv)?\.gz["']""")
        found = {
            path.relative_to(SOURCE).as_posix()
            for path in SOURCE.rglob("*.py")
            if ending.search(path.read_text())
        }
        assert found == {"safeio.py"}


class TestImports:
    def test_nothing_slow_is_imported_before_it_is_needed(self):
        slow = {
            str(path)
            for path in (one.relative_to(SOURCE) for one in SOURCE.rglob("*.py"))
            if path.parts[0] not in STUDIES and SLOW.search((SOURCE / path).read_text())
        }
        assert slow == set()

    def test_imports_inside_functions_are_listed(self):
        own, django, others = set(), set(), set()
        for path in SOURCE.rglob("*.py"):
            where = path.relative_to(SOURCE)
            for name in late_imports(path) if where.parts[0] != "cli" else ():
                if name.startswith("tracecup"):
                    own.add(where.as_posix())
                elif name.partition(".")[0] == "django":
                    django.add(where.as_posix())
                else:
                    others.add(name.partition(".")[0])
        assert own == set(OWN_LATE)
        assert django == set(DJANGO_LATE)
        assert others == HEAVY | SOME_SYSTEMS

    def test_imports_by_name_are_listed(self):
        found = {
            (path.relative_to(SOURCE).as_posix(), name)
            for path in SOURCE.rglob("*.py")
            for name in called_by_name(path)
        }
        assert found == set(BY_NAME)

    def test_rooms_above_are_named_only_where_it_is_listed(self):
        floor, found = floors(), {}
        for path in SOURCE.rglob("*.py"):
            where = path.relative_to(SOURCE)
            own = floor.get(where.parts[0].removesuffix(".py"), -1)  # the package itself: the top
            if above := {room for room in rooms_in_strings(path) if floor.get(room, own) < own}:
                found[where.as_posix()] = above
        assert found == UPWARDS


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("name", MODULES)
class TestModules:
    def test_examples_run(self, name):
        result = doctest.testmod(importlib.import_module(name))
        assert result.failed == 0

    def test_opens_with_what_it_is_for(self, name):
        text = Path(importlib.import_module(name).__file__).read_text()
        said = ast.get_docstring(ast.parse(text)) or ""
        assert len(said.splitlines()) >= 2
