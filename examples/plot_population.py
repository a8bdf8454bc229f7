"""Population at 12:00: training traces of the built-in city beside synthetic ones.

`python examples/plot_population.py OUT.png` draws the two maps with their total variation.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np

from tracecup.contest.worlds import BuiltinWorld
from tracecup.datasets import Metropolis
from tracecup.synth import team_data
from tracecup.traces import slot_counts

NOON = 12 * 60


def main(out: str) -> None:
    """Draw both maps with one colour scale."""
    town, world = Metropolis(), BuiltinWorld()
    grid = town.city.grid
    training = town.traces(1, NOON, 30, 1)
    synthetic = team_data(world.model, 1, 1).original
    slot = synthetic.clock.minutes.index(NOON)
    shares = []
    for traces, at in ((training, 0), (synthetic, slot)):
        counts = slot_counts(traces, grid.n_regions)[at].astype(float)
        shares.append(counts / counts.sum())
    apart = np.abs(shares[0] - shares[1]).sum() / 2
    top = 100 * max(share.max() for share in shares)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.2), layout="constrained")
    for axis, share, name in zip(axes, shares, ("training", "synthetic"), strict=True):
        image = axis.imshow(
            100 * share.reshape(grid.ny, grid.nx), origin="lower", cmap="viridis", vmin=0, vmax=top
        )
        people = f"{len(training.regions):,}" if name == "training" else f"{synthetic.n_users:,}"
        axis.set_title(f"{name} ({people} people)")
        axis.set_xlabel("regions west to east")
    axes[0].set_ylabel("regions south to north")
    figure.colorbar(image, ax=axes, label="% of people at 12:00", shrink=0.85)
    figure.suptitle(f"Built-in city: population at 12:00, total variation {apart:.2f}")
    figure.savefig(out, dpi=100)


if __name__ == "__main__":
    main(sys.argv[1])
