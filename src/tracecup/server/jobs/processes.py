"""Whether a process of this machine still runs: what a dead one left behind may be removed.

For folders and notes that bear the number of the process that made them.
"""

from __future__ import annotations

import os


def is_alive(pid: int) -> bool:
    """Whether a process has this number; also one of another user.

    >>> is_alive(os.getpid())
    True
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
