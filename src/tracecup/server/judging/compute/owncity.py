"""Whether the files of an organiser's own city can be used: readable, and made for each other.

Runs in a child process like everything that reads uploaded files.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from tracecup.city import read_city
from tracecup.errors import InvalidFile, Problem, TraceCupError
from tracecup.synth import PpmtfModel


def check(payload: dict[str, Any]) -> dict[str, Any]:
    """The problems of `files` (`city`, `model`: paths); an empty list if all is well."""
    files: dict[str, str] = payload["files"]
    try:
        regions = read_city(Path(files["city"])).n_regions if "city" in files else None
        locations = PpmtfModel.load(Path(files["model"])).n_locations if "model" in files else None
    except InvalidFile as error:
        return {"problems": [problem.as_dict() for problem in error.problems]}
    except (TraceCupError, ValueError, KeyError, OSError, zipfile.BadZipFile):
        # Messages of readers may name paths of the server.
        wanted = "a city (info_region.csv), or a model (tracecup train)"
        return {"problems": [Problem(0, "", "something else", wanted).as_dict()]}
    if regions is not None and locations is not None and regions != locations:
        found = f"a model of {locations} regions"
        problem = Problem(0, "model", found, f"a model of {regions} regions")
        return {"problems": [problem.as_dict()]}
    return {"problems": []}
