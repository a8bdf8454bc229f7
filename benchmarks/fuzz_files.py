"""`make fuzz`: thousands of mutated files for every reader, and how many were read or refused.

`python benchmarks/fuzz_files.py [--files 10000] [--seed 1] [--target NAME]`; fails on any
error that is not tracecup's own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from fuzzing import all_targets, run, table_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="how many in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", help="only this one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        targets = all_targets(Path(folder))
        chosen = [one for one in targets if given.target in (None, one.name)]
        counts = run(given.files, given.seed, chosen)
    print(table_of(counts))
    wrong = [said for one in counts.values() for said in one.wrong]
    for said in wrong[:20]:
        print(f"\n{said}", file=sys.stderr)
    if wrong:
        sys.exit(f"{len(wrong)} files gave an error that is not ours")


if __name__ == "__main__":
    main()
