"""A made-up contest of any size, as facts: for the tests of facts, charts and report."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracecup.contest.correlation import correlate
from tracecup.facts import (
    AttackerFacts,
    AwardFacts,
    BoardFacts,
    CityFacts,
    ContestFacts,
    MatrixFacts,
    MatrixRow,
    PlaceFacts,
    Population,
    ReleaseFacts,
    TraceExample,
    UserRisks,
)

METHODS = ("MRLH(1,1,0.5)", "RR(4)", "PL(4,1)", "KMeans(8)", "RareShift(3)", "MRLH(0,0,0.8)")
ATTACKS = ("VisitProb", "HomeProb", "Fuzzy")


def board_of(releases, attackers, reid, trace, awards=()):
    """A board from releases with minima, attackers, and a row of scores of both kinds for each."""
    counted = [one for one in releases if one.counts and one.reid_min is not None]
    columns = attackers if isinstance(attackers, dict) else {"reid": attackers, "trace": attackers}
    matrices = tuple(
        MatrixFacts(
            kind,
            tuple(columns[kind]),
            tuple(
                MatrixRow(one.label, one.name, tuple(row), least, benchmark=one.benchmark)
                for one, row, least in zip(
                    releases,
                    values,
                    [getattr(one, f"{kind}_min") for one in releases],
                    strict=True,
                )
            ),
        )
        for kind, values in (("reid", reid), ("trace", trace))
    )
    found = correlate([one.reid_min for one in counted], [one.trace_min for one in counted])
    return BoardFacts(tuple(awards), tuple(releases), matrices, found)


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
        attackers, values = {}, {}
        for kind, letter in (("reid", "I"), ("trace", "T")):
            attackers[kind], values[kind] = self._matrix(rng, releases, strength, letter)
            least = [min((v for v in row if v is not None), default=0.0) for row in values[kind]]
            releases = [
                replace(one, **{f"{kind}_min": low})
                for one, low in zip(releases, least, strict=True)
            ]
        best = max((r for r in releases if r.counts), key=lambda r: r.label)
        places = tuple(
            PlaceFacts(k + 1, k + 1, k + 2, one.team, one.name, 0.5)
            for k, one in enumerate(one for one in releases if one.status == "team")
        )
        title, other = "Best anonymization", "Best re-identification"
        awards = (
            AwardFacts(
                "best_anonymization_trace", title, "higher", (best.name,), False, 0.52, places
            ),
            AwardFacts("best_reidentification", other, "lower", ("A", "B"), True, 9.5),
        )
        return ContestFacts(
            name="Made-up cup",
            summary=f"{self.users} users, {self.nx * self.ny} regions, {self.days} days",
            users=self.users,
            rules=(("Utility floor", "0.7"), ("Hospital weight", "10")),
            board=board_of(releases, attackers, values["reid"], values["trace"], awards),
            risks={
                r.label: UserRisks(
                    np.clip(rng.normal(0.9 - 0.7 * s, 0.12, self.users), 0, 1),
                    (rng.random(self.users) > s).astype(float),
                )
                for r, s in zip(releases, strength, strict=True)
                if r.attacked
            },
            city=CityFacts(self.nx, self.ny, 0.34, 0.35, (1, 7)),
            population=self._population(rng),
            example=self._example(rng, best),
            made_with="tracecup 0.1.0, seed 5",
        )

    def _releases(self, rng):
        strength = np.concatenate([[0.02], np.linspace(0.15, 0.95, self.teams), [0.02]])
        found = [ReleaseFacts("000", "", "benchmark", method="None", utility=1.0, ceiling=0.81)]
        for k in range(1, self.teams + 1):
            name = self.names[k - 1] if k <= len(self.names) else f"Team {k}"
            found.append(
                ReleaseFacts(
                    f"{k:03d}",
                    name,
                    "invalid" if k == 2 else "team",
                    team=f"{k:03d}",
                    method=METHODS[k % len(METHODS)],
                    valid=k != 2,
                    utility=0.64 if k == 2 else float(rng.uniform(0.7, 0.76)),
                    expected_error_km=float(rng.uniform(0.3, 1.4)),
                    ceiling=0.81,
                )
            )
        found.append(
            ReleaseFacts(
                "Cheat",
                "Organisers",
                "hors concours",
                method="Cheat(1)",
                valid=False,
                utility=0.3,
            )
        )
        return found, strength

    def _matrix(self, rng, releases, strength, letter):
        attackers = [
            AttackerFacts(f"{k:03d}", f"Team {k}", f"{ATTACKS[k % 3]}-{letter}")
            for k in range(1, self.teams + 1)
        ]
        attackers += [AttackerFacts(f"{letter}{k}", "", "sample", sample=True) for k in (1, 2, 3)]
        skill = rng.uniform(0, 0.5, len(attackers))
        values = []
        for release, s in zip(releases, strength, strict=True):
            level = np.clip(0.05 + 0.6 * s + 0.6 * skill + rng.normal(0, 0.03, len(skill)), 0, 1)
            if release.method == "Cheat(1)" and letter == "I":
                level = np.full(len(skill), 0.999)
            row = [
                None if a.label == release.label or not release.attacked else float(v)
                for a, v in zip(attackers, level, strict=True)
            ]
            values.append(tuple(row))
        summed = [
            a if a.sample else replace(a, sum=float(sum(row[j] or 0.0 for row in values)))
            for j, a in enumerate(attackers)
        ]
        return summed, values

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
