"""Learning: attacks that are trained on public data, and a defence that races with them.

Needs JAX (the extra `learn`); what it leaves are plain arrays, and answering needs no JAX.
"""

from __future__ import annotations

from importlib.util import find_spec

from tracecup.errors import MissingPackage


def require_jax() -> None:
    """Raise `MissingPackage` with what to install unless JAX is there."""
    if find_spec("jax") is None:
        raise MissingPackage(
            "training needs JAX, which is not installed here; install tracecup[learn] "
            "(answering with a trained model needs no JAX)"
        )
