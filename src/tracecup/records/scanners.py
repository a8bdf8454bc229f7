"""Compiled scanners of text fields: lines, numbers and times straight from bytes.

Each returns a mark per field instead of raising, so that a reader can name the line.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import inlined, kernel

LF, CR, QUOTE, ZERO, NINE = 10, 13, 34, 48, 57
MINUS, PLUS, DOT, COLON, SPACE, SLASH = 45, 43, 46, 58, 32, 47
UPPER_E, LOWER_E, UPPER_T, UPPER_Z, LOWER_Z = 69, 101, 84, 90, 122
GOOD, BAD, HARD, LONG = 1, 0, 2, 3
EXACT_POWERS = 10.0 ** np.arange(23)
# Digits of a whole number below 2^53 are exact in a double.
EXACT_DIGITS = 15
DAYS_BEFORE = np.array([0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365])
MONTHS = np.frombuffer(b"JanFebMarAprMayJunJulAugSepOctNovDec", dtype=np.uint8).copy()
MAX_YEAR = 9999
MOST_WHOLE = 10**18 - 1
ONE = np.uint64(1)


@kernel
def line_ends(text: NDArray[np.uint8]) -> int:
    """How many line ends a text has; far faster than `bytes.count` where lines are short."""
    found = 0
    for at in range(len(text)):
        found += text[at] == LF
    return found


@kernel
def split_lines(
    text: NDArray[np.uint8],
    delimiter: int,
    quoted: bool,
    places: NDArray[np.int64],
    columns: int,
    lines: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Cut text of `lines` whole lines into fields: (begin, end, number of fields, length of a
    line in bytes). The text ends with a line end.

    Field f of a line goes to row `places[f]` of begin and end, shape (columns, lines), unless
    that is negative; rows hold bytes without quotes, -1 where a line has no such field. A quote
    that is not closed on its line makes the number of fields negative. One pass over the bytes;
    unsigned places spare the check for negative ones, and arrays are no larger than needed: to
    touch new memory costs as much as to read the text.
    """
    begin = np.empty((columns, lines), dtype=np.int32)
    end = np.empty((columns, lines), dtype=np.int32)
    fields = np.empty(lines, dtype=np.int32)
    lengths = np.empty(lines, dtype=np.int32)
    at, one = np.uint64(0), np.uint64(1)
    for line in range(lines):
        start = at
        count = 0
        broken = False
        while True:
            first = at
            if quoted and text[at] == QUOTE:
                last, at, closed = _quoted(text, at + one, delimiter)
                first += one
                broken = broken or not closed
            else:
                while text[at] != delimiter and text[at] != LF:
                    at += one
                last = at
                if text[at] == LF and at > first and text[at - one] == CR:
                    last -= one
            if count < len(places) and places[count] >= 0:
                begin[places[count], line] = first
                end[places[count], line] = last
            count += 1
            if text[at] == LF:
                break
            at += one
        for missing in range(count, len(places)):
            if places[missing] >= 0:
                begin[places[missing], line] = end[places[missing], line] = -1
        fields[line] = -count if broken else count
        lengths[line] = at - start
        at += one
    return begin, end, fields, lengths


@kernel
def _quoted(
    text: NDArray[np.uint8], at: np.uint64, delimiter: int
) -> tuple[np.uint64, np.uint64, bool]:
    """The end of the quoted field that begins at `at`, the delimiter or line end behind it, and
    whether it is closed: by a quote with a delimiter or line end behind it.
    """
    one = np.uint64(1)
    while text[at] != LF:
        if text[at] == QUOTE:
            after = at + one
            if text[after] == CR and text[after + one] == LF:
                after += one
            if text[after] == delimiter or text[after] == LF:
                return at, after, True
            if text[at + one] == QUOTE:  # a doubled quote stands for one
                at += one
        at += one
    last = at - one if text[at - one] == CR else at
    return last, at, False


@kernel
def scan_whole(
    text: NDArray[np.uint8],
    begin: NDArray[np.int32],
    end: NDArray[np.int32],
    least: int = -MOST_WHOLE,
    most: int = MOST_WHOLE,
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Whole numbers of up to 18 digits, with an optional sign; good ones are `least` to `most`."""
    values = np.zeros(len(begin), dtype=np.int64)
    marks = np.zeros(len(begin), dtype=np.int8)
    for k in range(len(begin)):
        at, stop = begin[k], end[k]
        if at < 0:
            continue
        negative = at < stop and text[at] == MINUS
        if negative:
            at += 1
        if at >= stop or stop - at > 18:
            continue
        value, good = _digits(text, at, stop)
        value = -value if negative else value
        if good and least <= value <= most:
            values[k] = value
            marks[k] = GOOD
    return values, marks


@kernel
def scan_decimal(  # noqa: PLR0912 - a scanner in one loop, as above
    text: NDArray[np.uint8], begin: NDArray[np.int32], end: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Decimal numbers, rounded as Python rounds them.

    Up to 15 digits and 22 places are exact by one division; longer ones are marked LONG, those
    with an exponent HARD, to be read by slower means. Neither nan nor infinity is a number here.
    Unsigned places spare the check for negative ones.
    """
    values = np.zeros(len(begin), dtype=np.float64)
    marks = np.zeros(len(begin), dtype=np.int8)
    for k in range(len(begin)):
        if begin[k] < 0:
            continue
        at, stop = np.uint64(begin[k]), np.uint64(end[k])
        negative = at < stop and text[at] == MINUS
        if at < stop and text[at] in (MINUS, PLUS):
            at += ONE
        mantissa, digits, places, seen, dotted = np.int64(0), 0, 0, False, False
        while at < stop:
            byte = text[at]
            if ZERO <= byte <= NINE:
                seen = True
                if digits or byte != ZERO:
                    digits += 1
                if digits <= EXACT_DIGITS:
                    mantissa = mantissa * 10 + (byte - ZERO)
                if dotted:
                    places += 1
            elif byte == DOT and not dotted:
                dotted = True
            else:
                break
            at += ONE
        if not seen:
            continue
        if at < stop:
            if text[at] in (LOWER_E, UPPER_E):
                marks[k] = HARD
            continue
        if digits > EXACT_DIGITS or places > 22:
            marks[k] = LONG
            continue
        value = mantissa / EXACT_POWERS[places]
        values[k] = -value if negative else value
        marks[k] = GOOD
    return values, marks


@kernel
def scan_iso_time(
    text: NDArray[np.uint8], begin: NDArray[np.int32], end: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """`YYYY-MM-DD HH:MM[:SS[.f]][Z|+HH[:MM]]` (T or space) as seconds since 1970.

    Without a zone the time is taken as it stands.
    """
    values = np.zeros(len(begin), dtype=np.float64)
    marks = np.zeros(len(begin), dtype=np.int8)
    for k in range(len(begin)):
        at, stop = begin[k], end[k]
        if at < 0 or stop - at < 16:
            continue
        if stop - at == 19:
            seconds, good = _plain_time(text, np.uint64(at))
            if good:
                values[k], marks[k] = seconds, GOOD
                continue
        year, good = _digits(text, at, at + 4)
        month, good_month = _digits(text, at + 5, at + 7)
        day, good_day = _digits(text, at + 8, at + 10)
        good = good and good_month and good_day
        good = good and text[at + 4] == MINUS and text[at + 7] == MINUS
        good = good and text[at + 10] in (SPACE, UPPER_T)
        seconds, at, good_time = _clock(text, at + 11, stop)
        days, good_date = _days(year, month, day)
        shift, at, good_zone = _zone(text, at, stop)
        if good and good_time and good_date and good_zone and at == stop:
            values[k] = 86400.0 * days + seconds - shift
            marks[k] = GOOD
    return values, marks


@kernel
def scan_day_first(
    text: NDArray[np.uint8], begin: NDArray[np.int32], end: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """`DD/MM/YYYY HH:MM[:SS[.f]][zone]` (also with . or -, one digit for day or month) as seconds
    since 1970; without a zone as it stands.
    """
    values = np.zeros(len(begin), dtype=np.float64)
    marks = np.zeros(len(begin), dtype=np.int8)
    for k in range(len(begin)):
        at, stop = begin[k], end[k]
        if at < 0 or stop - at < 14:
            continue
        part = at + 2 if ZERO <= text[at + 1] <= NINE else at + 1
        last = part + 3 if ZERO <= text[part + 2] <= NINE else part + 2
        day, good = _digits(text, at, part)
        month, good_month = _digits(text, part + 1, last)
        year, good_year = _digits(text, last + 1, last + 5)
        good = good and good_month and good_year and text[part] in (SLASH, DOT, MINUS)
        good = good and text[last] == text[part] and last + 5 < stop
        good = good and text[last + 5] in (SPACE, UPPER_T)
        seconds, at, good_time = _clock(text, last + 6, stop)
        days, good_date = _days(year, month, day)
        shift, at, good_zone = _zone(text, at, stop)
        if good and good_time and good_date and good_zone and at == stop:
            values[k] = 86400.0 * days + seconds - shift
            marks[k] = GOOD
    return values, marks


@kernel
def scan_tweet_time(
    text: NDArray[np.uint8], begin: NDArray[np.int32], end: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """`Tue Apr 03 18:00:06 +0000 2012` as seconds since 1970."""
    values = np.zeros(len(begin), dtype=np.float64)
    marks = np.zeros(len(begin), dtype=np.int8)
    for k in range(len(begin)):
        at = begin[k]
        if at < 0 or end[k] - at != 30:
            continue
        month = 0
        for m in range(12):
            if (
                text[at + 4] == MONTHS[3 * m]
                and text[at + 5] == MONTHS[3 * m + 1]
                and text[at + 6] == MONTHS[3 * m + 2]
            ):
                month = m + 1
        day, good = _digits(text, at + 8, at + 10)
        year, good_year = _digits(text, at + 26, at + 30)
        seconds, after, good_time = _clock(text, at + 11, at + 19)
        shift, _, good_zone = _zone(text, at + 20, at + 25)
        days, good_date = _days(year, month, day)
        for gap in (3, 7, 10, 19, 25):
            good = good and text[at + gap] == SPACE
        if good and good_year and good_time and good_zone and good_date and after == at + 19:
            values[k] = 86400.0 * days + seconds - shift
            marks[k] = GOOD
    return values, marks


@kernel
def pack(
    text: NDArray[np.uint8], begin: NDArray[np.int32], end: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Fields one after the other: (offsets of shape (n + 1,), bytes); missing ones are empty."""
    offsets = np.zeros(len(begin) + 1, dtype=np.int32)
    for k in range(len(begin)):
        offsets[k + 1] = offsets[k] + max(0, end[k] - begin[k])
    packed = np.empty(offsets[-1], dtype=np.uint8)
    for k in range(len(begin)):
        for j in range(offsets[k + 1] - offsets[k]):
            packed[offsets[k] + j] = text[begin[k] + j]
    return offsets, packed


@kernel
def runs(
    text: NDArray[np.uint8], begin: NDArray[np.int32], end: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Lines with the same field one below the other: (number of each line's run, first lines)."""
    number = np.empty(len(begin), dtype=np.int32)
    first = np.empty(len(begin), dtype=np.int64)
    found = -1
    for k in range(len(begin)):
        size = end[k] - begin[k]
        same = k > 0 and size == end[k - 1] - begin[k - 1]
        if same:
            # Neighbours often differ in their last letters, if in any.
            here, before = begin[k] + size, begin[k - 1] + size
            for j in range(1, size + 1):
                if text[here - j] != text[before - j]:
                    same = False
                    break
        if not same:
            found += 1
            first[found] = k
        number[k] = found
    return number, first[: found + 1].copy()


@kernel
def _digits(text: NDArray[np.uint8], at: int, stop: int) -> tuple[int, bool]:
    value = 0
    for k in range(at, stop):
        if k >= len(text) or not ZERO <= text[k] <= NINE:
            return 0, False
        value = value * 10 + int(text[k] - ZERO)
    return value, True


@inlined
def _two(text: NDArray[np.uint8], at: np.uint64) -> tuple[int, int]:
    """Two digits: (their number, something negative if one of them is none)."""
    ten, one = int(text[at]) - ZERO, int(text[at + ONE]) - ZERO
    return 10 * ten + one, ten | (9 - ten) | one | (9 - one)


@kernel
def _plain_time(text: NDArray[np.uint8], at: np.uint64) -> tuple[float, bool]:
    """`YYYY-MM-DD HH:MM:SS` from `at`, as most files have it: (seconds since 1970, good).

    What is not exactly that is left to the scanner of all forms. Unsigned places spare the check
    for negative ones.
    """
    century, bad = _two(text, at)
    year, worse = _two(text, at + np.uint64(2))
    month, bad_month = _two(text, at + np.uint64(5))
    day, bad_day = _two(text, at + np.uint64(8))
    hour, bad_hour = _two(text, at + np.uint64(11))
    minute, bad_minute = _two(text, at + np.uint64(14))
    second, bad_second = _two(text, at + np.uint64(17))
    good = (bad | worse | bad_month | bad_day | bad_hour | bad_minute | bad_second) >= 0
    good = good and text[at + np.uint64(4)] == MINUS and text[at + np.uint64(7)] == MINUS
    good = good and text[at + np.uint64(10)] in (SPACE, UPPER_T)
    good = good and text[at + np.uint64(13)] == COLON and text[at + np.uint64(16)] == COLON
    if not (good and hour < 24 and minute < 60 and second < 60):
        return 0.0, False
    days, good = _days(100 * century + year, month, day)
    return 86400.0 * days + 3600.0 * hour + 60.0 * minute + second, good


@kernel
def _clock(text: NDArray[np.uint8], at: int, stop: int) -> tuple[float, int, bool]:
    """`HH:MM[:SS[.f]]` from `at`: (seconds, where it ended, whether it is good)."""
    hour, good = _digits(text, at, at + 2)
    minute, good_minute = _digits(text, at + 3, at + 5)
    good = bool(good and good_minute and at + 5 <= stop and text[at + 2] == COLON)
    seconds = 0.0
    at += 5
    if good and at < stop and text[at] == COLON:
        second, good = _digits(text, at + 1, at + 3)
        good = good and at + 3 <= stop and second < 60
        seconds = float(second)
        at += 3
        if good and at < stop and text[at] == DOT:
            at += 1
            part, first = 0.1, at
            while at < stop and ZERO <= text[at] <= NINE:
                seconds += part * (text[at] - ZERO)
                part *= 0.1
                at += 1
            good = at > first
    good = good and hour < 24 and minute < 60
    return 3600.0 * hour + 60.0 * minute + seconds, at, good


@kernel
def _zone(text: NDArray[np.uint8], at: int, stop: int) -> tuple[float, int, bool]:
    """Nothing, `Z`, `+HH` or `+HH:MM` (colon optional), a blank before it or not: (seconds east,
    where it ended, good).
    """
    if at + 1 < stop and text[at] == SPACE:
        at += 1
    if at >= stop:
        return 0.0, at, True
    if text[at] in (UPPER_Z, LOWER_Z):
        return 0.0, at + 1, True
    if text[at] not in (PLUS, MINUS):
        return 0.0, at, False
    sign = -1.0 if text[at] == MINUS else 1.0
    hour, good = _digits(text, at + 1, at + 3)
    if at + 3 == stop:
        return sign * 3600.0 * hour, stop, good and hour < 24
    colon = at + 3 < stop and text[at + 3] == COLON
    first = at + 4 if colon else at + 3
    minute, good_minute = _digits(text, first, first + 2)
    good = good and good_minute and first + 2 <= stop and hour < 24 and minute < 60
    return sign * (3600.0 * hour + 60.0 * minute), first + 2, good


@kernel
def _days(year: int, month: int, day: int) -> tuple[int, bool]:
    """Days since 1970-01-01 of a date of the years 1 to 9999."""
    if not (1 <= year <= MAX_YEAR and 1 <= month <= 12 and day >= 1):
        return 0, False
    leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
    length = DAYS_BEFORE[month] - DAYS_BEFORE[month - 1] + (1 if leap and month == 2 else 0)
    if day > length:
        return 0, False
    before = year - 1
    days = 365 * before + before // 4 - before // 100 + before // 400 - 719162
    days += DAYS_BEFORE[month - 1] + (1 if leap and month > 2 else 0) + day - 1
    return int(days), True
