"""What lets a training go on after an interruption: all its numbers, in one file of plain arrays.

A file of another training (other data, other settings) is not used.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tracecup.safeio import atomic_write

Tree = Any


def fingerprint(*parts: object) -> str:
    """A hash over arrays and settings: the same training, the same fingerprint."""
    made = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            made.update(f"{part.dtype}{part.shape}".encode())
            made.update(np.ascontiguousarray(part).tobytes())
        else:
            made.update(repr(part).encode())
    return made.hexdigest()


def keep(path: Path, mark: str, done: int, tree: Tree) -> None:
    """Write the numbers of a training after `done` steps; whole or not at all."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    held = {f"leaf{k:04d}": leaf for k, leaf in enumerate(leaves)}
    buffer = io.BytesIO()
    save: Any = np.savez  # its stub takes the names of arrays for options
    save(buffer, mark=np.frombuffer(mark.encode(), dtype=np.uint8), done=np.int64(done), **held)
    with atomic_write(path) as file:
        file.write(buffer.getvalue())


def resume(path: Path, mark: str, like: Tree) -> tuple[int, Tree]:
    """Steps done and the numbers of the same training; (0, `like`) where there is none."""
    try:
        with np.load(path, allow_pickle=False) as held:
            if held["mark"].tobytes().decode() != mark:
                return 0, like
            leaves, form = jax.tree.flatten(like)
            read = [held[f"leaf{k:04d}"] for k in range(len(leaves))]
            if any(new.shape != old.shape for new, old in zip(read, leaves, strict=True)):
                return 0, like
            return int(held["done"]), jax.tree.unflatten(form, read)
    except (OSError, ValueError, KeyError):
        return 0, like
