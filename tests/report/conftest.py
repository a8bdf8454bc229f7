"""A made-up contest of any size, and a browser that can be asked what it shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from chromium import chromium
from tracecup.contest.correlation import correlate
from tracecup.report import (
    Attacker,
    Award,
    CityMap,
    ContestFacts,
    Matrix,
    Population,
    Release,
    TraceExample,
)

METHODS = ("MRLH(1,1,0.5)", "RR(4)", "PL(4,1)", "KMeans(8)", "RareShift(3)", "MRLH(0,0,0.8)")
ATTACKS = ("VisitProb", "HomeProb", "Fuzzy")


@dataclass(frozen=True)
class MakeFacts:
    """Draws a contest that looks like one: strong attackers see more, teams differ."""

    teams: int = 5
    users: int = 40
    nx: int = 6
    ny: int = 5
    days: int = 2
    hours: int = 3
    names: tuple[str, ...] = ()

    def __call__(self) -> ContestFacts:
        rng = np.random.default_rng(5)
        releases, strength = self._releases(rng)
        reid, trace = (self._matrix(rng, releases, strength, letter) for letter in "IT")
        x = [m for r, m in zip(releases, reid.minima, strict=True) if r.counts]
        y = [m for r, m in zip(releases, trace.minima, strict=True) if r.counts]
        best = max((r for r in releases if r.counts), key=lambda r: r.label)
        return ContestFacts(
            name="Made-up cup",
            summary=f"{self.users} users, {self.nx * self.ny} regions, {self.days} days",
            users=self.users,
            rules=(("Utility floor", "0.7"), ("Hospital weight", "10")),
            releases=releases,
            reid=reid,
            trace=trace,
            awards=(
                Award("Best anonymization", (best.name,), 0.52, "highest s_T,min"),
                Award("Best re-identification", ("A", "B"), 9.5, "lowest sum of s_R"),
            ),
            correlation=correlate(x, y),
            city=CityMap(self.nx, self.ny, (1, 7), 0.34, 0.35),
            population=self._population(rng),
            example=self._example(rng, best),
            prior_ceiling=0.81,
            made_with="tracecup 0.1.0, seed 5",
        )

    def _releases(self, rng):
        strength = np.concatenate([[0.02], np.linspace(0.15, 0.95, self.teams), [0.02]])
        found = [Release("000", "Pseudonyms only", "None", benchmark=True, utility=1.0)]
        for k in range(1, self.teams + 1):
            name = self.names[k - 1] if k <= len(self.names) else f"Team {k}"
            found.append(
                Release(
                    f"{k:03d}",
                    name,
                    obfuscation=METHODS[k % len(METHODS)],
                    valid=k != 2,
                    utility=0.64 if k == 2 else float(rng.uniform(0.7, 0.76)),
                    expected_error_km=float(rng.uniform(0.3, 1.4)),
                    ranks=(k, k + 1),
                )
            )
        found.append(
            Release(
                "Cheat",
                "Organisers",
                obfuscation="Cheat(1)",
                valid=False,
                hors_concours=True,
                utility=0.3,
            )
        )
        with_risk = [
            Release(
                **{
                    **vars(r),
                    "trace_risk": np.clip(rng.normal(0.9 - 0.7 * s, 0.12, self.users), 0, 1),
                    "reid_risk": (rng.random(self.users) > s).astype(float),
                }
            )
            for r, s in zip(found, strength, strict=True)
        ]
        return tuple(with_risk), strength

    def _matrix(self, rng, releases, strength, letter):
        attackers = [
            Attacker(f"{k:03d}", f"Team {k}", f"{ATTACKS[k % 3]}-{letter}")
            for k in range(1, self.teams + 1)
        ]
        attackers += [Attacker(f"{letter}{k}", "Organisers", "sample", True) for k in (1, 2, 3)]
        skill = rng.uniform(0, 0.5, len(attackers))
        values = []
        for release, s in zip(releases, strength, strict=True):
            level = np.clip(0.05 + 0.6 * s + 0.6 * skill + rng.normal(0, 0.03, len(skill)), 0, 1)
            if release.obfuscation == "Cheat(1)" and letter == "I":
                level = np.full(len(skill), 0.999)
            row = [
                None if a.label == release.label or not release.attacked else float(v)
                for a, v in zip(attackers, level, strict=True)
            ]
            values.append(tuple(row))
        minima = tuple(min((v for v in row if v is not None), default=0.0) for row in values)
        sums = tuple(
            None if a.sample else float(sum(row[j] or 0.0 for row in values))
            for j, a in enumerate(attackers)
        )
        return Matrix(tuple(attackers), tuple(values), minima, sums)

    def _population(self, rng):
        y, x = np.divmod(np.arange(self.nx * self.ny), self.nx)
        rows = []
        for h in range(self.hours):
            cx, cy = self.nx * (0.3 + 0.4 * h / self.hours), self.ny * 0.5
            far = ((x - cx) / self.nx) ** 2 + ((y - cy) / self.ny) ** 2
            rows.append(rng.poisson(self.users / len(x) * 6 * np.exp(-14 * far)))
        hours = tuple(f"{8 + h:02d}:00" for h in range(self.hours))
        return Population(hours, np.array(rows, dtype=float))

    def _example(self, rng, release):
        slots, regions = 8, self.nx * self.ny
        events = self.days * slots
        original = np.repeat(rng.integers(0, regions, events // 2 + 1), 2)[:events]
        cells = []
        for region in original:
            draw = rng.random()
            if draw < 0.2:
                cells.append(())
            elif draw < 0.5:
                cells.append(tuple(int(r) for r in rng.integers(0, regions, 3)))
            else:
                cells.append((int(region),))
        inferred = np.where(rng.random(events) < 0.6, original, (original + 1) % regions)
        return TraceExample(
            "17",
            f"{release.label} {release.name}",
            "team001",
            self.days,
            tuple(f"{8 + k:02d}:00" for k in range(slots)),
            tuple(int(r) for r in original),
            tuple(cells),
            tuple(int(r) for r in inferred),
        )


@pytest.fixture(scope="session")
def make_facts() -> type[MakeFacts]:
    return MakeFacts


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A headless Chromium, or a skip where there is none."""
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found
