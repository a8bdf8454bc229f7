"""Large JSON files item by item: the objects of their lists, one at a time.

Objects of a list at the top, or of a list that is a value of the object at the top.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidFile, Problem
from tracecup.kernels import kernel
from tracecup.records.delimited import DATASET_LIMITS
from tracecup.safeio import BOM, MIB, Limits, read_blocks, show

Path = str | PathLike[str]
MAX_DEPTH = 64
MAX_ITEM = 16 * MIB
QUOTE, BACKSLASH = 34, 92
OPEN_LIST, CLOSE_LIST, OPEN, CLOSE = 91, 93, 123, 125
# State of the scan: depth, inside a text, behind a backslash, depth of the item (0: none).
DEPTH, TEXT, ESCAPED, ITEM = range(4)


def read_items(path: Path, limits: Limits = DATASET_LIMITS) -> Iterator[dict[str, Any]]:
    """The objects of a JSON file's lists, in order (plain, gzip, zstd, xz or zip).

    Memory is that of one block and one item. Raises `InvalidFile` for text that is not JSON, for
    objects within objects beyond `MAX_DEPTH` and for items over `MAX_ITEM` bytes.
    """
    state = np.zeros(4, dtype=np.int64)
    kinds = np.zeros(MAX_DEPTH + 2, dtype=np.uint8)
    # What is around the items must be JSON too: it is kept, with a 0 for every item.
    pending, frame, number = b"", bytearray(), 0
    for k, some in enumerate(read_blocks(path, limits, foreign=True)):
        block = some.removeprefix(BOM) if k == 0 else some
        open_item = bool(state[ITEM])
        text = np.frombuffer(block, dtype=np.uint8)
        begins, ends, fine = _items(text, state, kinds)
        if not fine:
            found = f"brackets that do not fit, or more than {MAX_DEPTH} within each other"
            raise InvalidFile(path, [Problem(0, "", found, "a JSON file")])
        at = 0
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            whole = pending + block[:end] if open_item else block[begin:end]
            frame += b"" if open_item else block[at:begin].strip()
            pending, open_item, at = b"", False, end
            number += 1
            frame += b"0"
            yield _parsed(path, whole, number)
        rest = block[at:]
        if open_item:
            pending += rest
        elif state[ITEM]:
            start = int(state[ITEM]) - 1 - at
            frame += rest[:start].strip()
            pending = rest[start:]
        else:
            frame += rest.strip()
        if len(pending) > MAX_ITEM or len(frame) > 2 * MAX_ITEM + 2 * number:
            raise InvalidFile(
                path, [Problem(0, "", "one huge item", f"items of at most {MAX_ITEM} bytes")]
            )
    if pending or state[DEPTH]:
        raise InvalidFile(path, [Problem(0, "", "a file that ends too early", "a JSON file")])
    _parsed(path, bytes(frame), None)


def _parsed(path: Path, text: bytes, number: int | None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        where = "" if number is None else f"item {number}: "
        found = f"{where}{show(text, 40)} ({show(str(error), 60)})"
        raise InvalidFile(path, [Problem(0, "", found, "a JSON file")]) from error


@kernel
def _items(
    text: NDArray[np.uint8], state: NDArray[np.int64], kinds: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """(begins, ends of items in this block, whether brackets fit); `state` goes on to the next.

    An item that is open at the end leaves its begin + 1 in `state[ITEM]`, one that was open at
    the begin has begin 0.
    """
    begins = np.empty(len(text) // 2 + 1, dtype=np.int64)
    ends = np.empty(len(text) // 2 + 1, dtype=np.int64)
    count, begin = 0, 0
    for at in range(len(text)):
        byte = text[at]
        if state[TEXT]:
            if state[ESCAPED]:
                state[ESCAPED] = 0
            elif byte == BACKSLASH:
                state[ESCAPED] = 1
            elif byte == QUOTE:
                state[TEXT] = 0
        elif byte == QUOTE:
            state[TEXT] = 1
        elif byte in (OPEN, OPEN_LIST):
            depth = state[DEPTH]
            if depth >= MAX_DEPTH:
                return begins[:count], ends[:count], False
            inside = (depth == 1 and kinds[0] == OPEN_LIST) or (
                depth == 2 and kinds[0] == OPEN and kinds[1] == OPEN_LIST
            )
            if byte == OPEN and inside and not state[ITEM]:
                state[ITEM], begin = at + 1, at
            kinds[depth] = byte
            state[DEPTH] = depth + 1
        elif byte in (CLOSE, CLOSE_LIST):
            depth = state[DEPTH] - 1
            if depth < 0 or kinds[depth] + 2 != byte:
                return begins[:count], ends[:count], False
            state[DEPTH] = depth
            item = 1 if kinds[0] == OPEN_LIST else 2
            if state[ITEM] and depth == item:
                begins[count], ends[count] = begin, at + 1
                count += 1
                state[ITEM] = 0
    return begins[:count], ends[:count], True
