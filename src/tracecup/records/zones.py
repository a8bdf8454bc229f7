"""Time zones: what is to be added to UTC to get the hour by the local clock.

A fixed number of minutes, or a zone of the IANA data base with its daylight saving.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidParameter

MAX_OFFSET = 24 * 60
# Times are looked up in bins of six hours; a bin in which the clock changes is halved.
BIN_SECONDS = 6 * 3600
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Zone:
    """The clock of a place: `minutes` east of UTC, or the IANA zone `name`.

    >>> Zone(name="Europe/Zurich").shift(np.array([1_356_998_400.0, 1_372_636_800.0])).tolist()
    [3600.0, 7200.0]
    """

    minutes: float = 0.0
    name: str | None = None

    def __post_init__(self) -> None:
        if not abs(self.minutes) <= MAX_OFFSET:
            raise InvalidParameter(
                f"utc_offset must be within -{MAX_OFFSET}..{MAX_OFFSET} minutes, got {self.minutes}"
            )
        if self.name is not None:
            if self.minutes:
                raise InvalidParameter("give an offset or a zone, not both")
            _zone(self.name)

    def shift(self, unix: NDArray[np.float64]) -> NDArray[np.float64]:
        """Seconds to add to each time in seconds since 1970 UTC; O(n log n)."""
        if self.name is None:
            return np.full(len(unix), 60.0 * self.minutes)
        zone = _zone(self.name)
        bins, index = np.unique(np.floor(unix / BIN_SECONDS), return_inverse=True)
        found = np.empty(len(bins))
        turns: list[tuple[int, float, float]] = []
        for k, one in enumerate(bins.tolist()):
            low, high = one * BIN_SECONDS, (one + 1) * BIN_SECONDS - 1
            found[k], later = _offset(zone, low), _offset(zone, high)
            if later != found[k]:
                turns.append((k, _change(zone, low, high), later))
        shift = found[index]
        for k, change, later in turns:
            shift[(index == k) & (unix >= change)] = later
        return np.asarray(shift)

    def utc(self, local: NDArray[np.float64]) -> NDArray[np.float64]:
        """Seconds since 1970 UTC of each local time in seconds since the local 1970.

        Of a time that the clock shows twice the first is meant; one that it skips comes out
        after the skip, as far behind it as the clock would have been without it. O(n log n).

        >>> zone = Zone(name="Europe/Zurich")
        >>> noon = np.array([1_356_998_400.0, 1_372_636_800.0])
        >>> bool((zone.utc(noon + zone.shift(noon)) == noon).all())
        True
        """
        if self.name is None:
            return np.asarray(local - 60.0 * self.minutes)
        zone = _zone(self.name)
        times, index = np.unique(local, return_inverse=True)
        shift = [
            (EPOCH.replace(tzinfo=zone) + timedelta(seconds=one)).utcoffset()
            for one in times.tolist()
        ]
        seconds = np.array([0.0 if one is None else one.total_seconds() for one in shift])
        return np.asarray((times - seconds)[index])


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidParameter(
            f"no time zone is called {name[:40]!r}: expected one of the IANA data base, like "
            "Europe/Zurich or Asia/Tokyo"
        ) from error


def _offset(zone: ZoneInfo, seconds: float) -> float:
    try:
        moment = EPOCH + timedelta(seconds=seconds)
        found = moment.astimezone(zone).utcoffset()
    except OverflowError:  # the first and the last day of all
        return 0.0
    return found.total_seconds() if found is not None else 0.0


def _change(zone: ZoneInfo, low: float, high: float) -> float:
    """The first whole second between two at which the offset is that of the later one."""
    before = _offset(zone, low)
    while high - low > 1:
        middle = np.floor((low + high) / 2)
        low, high = (middle, high) if _offset(zone, middle) == before else (low, middle)
    return high
