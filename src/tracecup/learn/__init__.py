"""Learning: attacks that are trained on public data, and a defence that races with them.

Needs JAX (the extra `learn`); what it leaves are plain arrays, and answering needs no JAX.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from tracecup.device import require_device
from tracecup.errors import InvalidParameter, MissingPackage

PLATFORMS = {"cpu": "cpu", "cuda": "gpu"}
"""What JAX calls the devices of `--device`."""


def require_jax(device: str | None = None) -> None:
    """Raise `MissingPackage` with what to install unless JAX is there.

    With a `device`, `cpu` or `cuda`, JAX computes on it from now on, here and in processes that
    begin later; it is an `InvalidParameter` where JAX does not find it or is busy elsewhere.
    Without one JAX takes a GPU where it finds one.
    """
    if device is not None:
        require_device(device)
    if find_spec("jax") is None:
        raise MissingPackage(
            "training needs JAX, which is not installed here; install tracecup[learn] "
            "(answering with a trained model needs no JAX)"
        )
    if device is None:
        return
    if device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    if device == "cpu":
        jax.config.update("jax_platforms", "cpu")  # where it was imported before
    found = jax.devices()[0].platform
    if found != PLATFORMS[device]:
        raise InvalidParameter(f"--device {device}: JAX computes on {found} in this process")
