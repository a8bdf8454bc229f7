"""Pictures of the built-in city: population in the morning and at noon, and stylised facts.

    python examples/plot_metropolis.py docs/pictures

Needs matplotlib, which tracecup itself does not.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap, LogNorm

from tracecup.datasets import (
    Metropolis,
    radius_of_gyration,
    return_probability,
    visit_frequencies,
    zipf_exponent,
)
from tracecup.traces import Traces

SEED = 0
DAYS = 28
INK, BLUE, RED = "#222222", "#2b6cb0", "#c0392b"


def population(town: Metropolis, folder: Path) -> None:
    """Where people are at 7:00 and at 12:00 of the first workday."""
    day = town.traces(days=1, interval=60)
    grid, plan = town.city.grid, town.plan
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
    extent = (0, grid.nx * grid.km_x, 0, grid.ny * grid.km_y)
    for axis, hour in zip(axes, (7, 12), strict=True):
        count = np.bincount(day.regions[:, hour], minlength=grid.n_regions)
        table = count.reshape(grid.ny, grid.nx)
        shown = axis.imshow(
            np.maximum(table, 0.8),
            origin="lower",
            extent=extent,
            cmap="magma",
            norm=LogNorm(1, 200),
        )
        sea = np.ma.masked_equal(plan.water.reshape(grid.ny, grid.nx), False)
        axis.imshow(sea, origin="lower", extent=extent, cmap=ListedColormap(["#9ecae1"]))
        x, y = (grid.x[plan.stations] + 0.5) * grid.km_x, (grid.y[plan.stations] + 0.5) * grid.km_y
        axis.scatter(x, y, s=7, c="white", edgecolors=INK, linewidths=0.4, label="station")
        h = np.array(town.city.hospitals)
        x, y = (grid.x[h] + 0.5) * grid.km_x, (grid.y[h] + 0.5) * grid.km_y
        axis.scatter(x, y, s=14, c="#4ade80", marker="+", linewidths=0.9, label="hospital")
        axis.set_title(f"Population at {hour}:00")
        axis.set_xlabel("km east")
    axes[0].set_ylabel("km north")
    axes[0].legend(loc="lower left", fontsize=7, framealpha=0.9)
    figure.colorbar(shown, ax=axes, label="inhabitants in a region", shrink=0.85)
    save(figure, folder / "metropolis_population.png")


def zipf(daytime: Traces, folder: Path) -> None:
    """Share of time in the k-th most visited region."""
    share = visit_frequencies(daytime, 60)
    exponent = zipf_exponent(share, 3, 30)
    rank = np.arange(1, 61)
    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    axis.loglog(rank, share, "o", ms=4, color=BLUE, label="inhabitants")
    height = np.exp(np.log(share[2:30] * rank[2:30] ** exponent).mean())
    law = f"rank to the power -{exponent:.2f} (ranks 3 to 30)"
    axis.loglog(rank[2:], height * rank[2:] ** -exponent, color=RED, lw=1, label=law)
    axis.annotate("home", (1, share[0]), (1.2, share[0] * 0.95), fontsize=8)
    axis.annotate("work", (2, share[1]), (2.4, share[1] * 0.95), fontsize=8)
    axis.set(
        xlabel="rank of a region for its visitor",
        ylabel="share of daytime hours",
        title="Visits follow Zipf's law",
    )
    axis.legend(frameon=False, fontsize=8, loc="lower left")
    save(figure, folder / "metropolis_zipf.png")


def gyration(town: Metropolis, hourly: Traces, folder: Path) -> None:
    """Radius of gyration: histogram in the default box and a larger one, log-normal laws."""
    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    big = Metropolis(n_inhabitants=town.n_inhabitants, nx=96, ny=96, seed=SEED)
    cases = (
        ("box of 11 km", BLUE, radius_of_gyration(hourly, town.city.grid)),
        (
            "box of 33 km",
            RED,
            radius_of_gyration(big.traces(days=DAYS, interval=60), big.city.grid),
        ),
    )
    edges = np.geomspace(0.1, 20, 45)
    middle = np.sqrt(edges[1:] * edges[:-1])
    for name, colour, radius in cases:
        density = np.histogram(radius, edges, density=True)[0]
        log = np.log(radius[radius > 0])
        law = np.exp(-0.5 * ((np.log(middle) - log.mean()) / log.std()) ** 2)
        law /= middle * log.std() * np.sqrt(2 * np.pi)
        seen = density > 0
        axis.loglog(middle[seen], density[seen], "o", ms=3, color=colour, label=name)
        axis.loglog(middle, law, color=colour, lw=1)
    axis.set(
        xlabel="radius of gyration, km",
        ylabel="density, 1/km",
        ylim=(1e-4, 3),
        title="How far people roam",
    )
    axis.legend(frameon=False, title="lines: log-normal", title_fontsize=8, fontsize=8)
    save(figure, folder / "metropolis_gyration.png")


def returns(hourly: Traces, folder: Path) -> None:
    """Chance to be back after t hours."""
    chance = return_probability(hourly, 168)
    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    axis.bar(np.arange(1, 169), chance[1:], width=1.0, color=BLUE)
    axis.set(
        xlabel="hours later",
        ylabel="probability to be back",
        title="Returns peak every 24 hours",
        xticks=range(0, 169, 24),
        xlim=(0, 168),
    )
    save(figure, folder / "metropolis_returns.png")


def save(figure: plt.Figure, path: Path) -> None:
    """Write a small picture without a date in it."""
    figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    print(f"{path}: {path.stat().st_size // 1024} kB")


def main() -> None:
    """Draw all pictures into the folder named on the command line."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    folder.mkdir(parents=True, exist_ok=True)
    town = Metropolis(seed=SEED)
    hourly = town.traces(days=DAYS, interval=60)
    population(town, folder)
    zipf(hourly.take_slots(range(7, 22)), folder)
    gyration(town, hourly, folder)
    returns(hourly, folder)


if __name__ == "__main__":
    main()
