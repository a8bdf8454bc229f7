"""How a release differs from its originals, and one user's trace in three forms: for pictures.

Scores are computed elsewhere; this is what people look at.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.server.judging.compute.setting import judge_of
from tracecup.traces import SetTraces, Traces

BINS = 15


def release(payload: dict[str, Any]) -> dict[str, Any]:
    """How far events were moved: shares of all events by distance, means by original region.

    `payload`: `rules`, `round`, and the paths `city`, `original`, `file`. The distance of an event
    is the mean over the members of its cell. The last bin holds what is beyond 1.5 times the
    distance without utility. O(members of all cells).
    """
    judge = judge_of(payload)
    original = judge.read_original(Path(payload["original"]))
    obfuscated = judge.read_submission(Path(payload["file"]))
    moved = mean_moves(judge.city, original, obfuscated)
    kept = ~np.isnan(moved)
    reach = judge.rules.scores.lambda_u
    width = 1.5 * reach / BINS
    places = np.minimum((moved[kept] / width).astype(np.int64), BINS)
    counts = np.bincount(places, minlength=BINS + 1)
    regions = original.regions.ravel()[kept]
    sums = np.bincount(regions, weights=moved[kept], minlength=judge.city.n_regions)
    events = np.bincount(regions, minlength=judge.city.n_regions)
    total = moved.size
    sizes = obfuscated.sizes.ravel()
    return {
        "width_km": width,
        "shares": [float(count) / total for count in counts],
        "regions": [
            round(float(s / n), 4) if n else None for s, n in zip(sums, events, strict=True)
        ],
        "unchanged": float((moved == 0).sum()) / total,
        "deleted": float((~kept).sum()) / total,
        "sets": float((sizes > 1).sum()) / total,
        "mean_km": float(moved[kept].mean()) if kept.any() else None,
    }


def one_user(payload: dict[str, Any]) -> dict[str, Any]:
    """A user's original, obfuscated and inferred regions (0-based), event by event.

    `payload`: as above, `user` (position from 0), and `inferred`; `file` and `inferred` are paths
    or None.
    """
    judge, user = judge_of(payload), int(payload["user"])
    original = judge.read_original(Path(payload["original"]))
    obfuscated = judge.read_submission(Path(payload["file"])) if payload["file"] else None
    inferred = (
        judge.read_inferred(Path(payload["inferred"])).regions[user].tolist()
        if payload["inferred"]
        else None
    )
    minutes = original.clock.minutes
    return {
        "slots": [f"{m // 60 % 24:02d}:{m % 60:02d}" for m in minutes],
        "original": [[int(region)] for region in original.regions[user]],
        "obfuscated": None
        if obfuscated is None
        else [obfuscated.cell(user, j).tolist() for j in range(obfuscated.times)],
        "inferred": None if inferred is None else [[int(region)] for region in inferred],
    }


def mean_moves(city: City, original: Traces, obfuscated: SetTraces) -> NDArray[np.float64]:
    """Mean distance (km) of every event's cell from its original region; NaN where deleted.

    Shape (users * times,).
    """
    sizes = obfuscated.sizes.ravel()
    home = np.repeat(original.regions.ravel(), sizes)
    cell = np.repeat(np.arange(sizes.size), sizes)
    far = city.grid.distance(home, obfuscated.regions)
    sums = np.bincount(cell, weights=far, minlength=sizes.size)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)
