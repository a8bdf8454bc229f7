"""What lets a training go on after an interruption: all its numbers, in one file of plain arrays.

A file of another training (other data, other settings) is not used.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from tracecup.archives import reading_zip
from tracecup.errors import InvalidFile, Problem, UnreadableFile
from tracecup.safeio import atomic_write, open_regular

Tree = Any


class Kept(NamedTuple):
    """Steps done, the numbers after them, and what was said of them (losses, a record)."""

    done: int
    tree: Tree
    note: dict[str, Any]


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


def keep(path: Path, mark: str, done: int, tree: Tree, note: dict[str, Any] | None = None) -> None:
    """Write the numbers of a training after `done` steps; whole or not at all."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    held = {f"leaf{k:04d}": leaf for k, leaf in enumerate(leaves)}
    save: Any = np.savez  # its stub takes the names of arrays for options
    with atomic_write(path) as file:
        save(
            file, mark=_text(mark), done=np.int64(done), note=_text(json.dumps(note or {})), **held
        )


def resume(path: Path, mark: str, like: Tree) -> Kept:
    """What was kept of the same training; nothing done and `like` where there is none.

    A file that was cut short or is of another kind counts as none.
    """
    none = Kept(0, like, {})
    try:
        with (
            reading_zip(lambda found: InvalidFile(path, [Problem(0, "", found, "a checkpoint")])),
            open_regular(path) as file,
            np.load(file, allow_pickle=False) as held,
        ):
            if bytes(held["mark"]).decode() != mark:
                return none
            leaves, form = jax.tree.flatten(like)
            read = [np.asarray(held[f"leaf{k:04d}"]) for k in range(len(leaves))]
            if any(not _alike(new, old) for new, old in zip(read, leaves, strict=True)):
                return none
            note = json.loads(bytes(held["note"]))
            return Kept(int(held["done"]), jax.tree.unflatten(form, read), note)
    except (InvalidFile, UnreadableFile):
        return none


def _text(words: str) -> NDArray[np.uint8]:
    return np.frombuffer(words.encode(), dtype=np.uint8)


def _alike(new: NDArray[Any], old: Any) -> bool:
    return bool(new.shape == old.shape and new.dtype == old.dtype)
