"""Slowing down guesses: attempts are rows, counted by name and by address.

Names and addresses are stored as keyed hashes and forgotten after a day.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv6Address, ip_address

from django.db.models import Count, Min, Q
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from tracecup.server import clock
from tracecup.server.errors import Refused
from tracecup.server.models import LoginAttempt

KEPT = timedelta(days=1)


@dataclass(frozen=True)
class Limit:
    """How many attempts of one kind are allowed within some minutes."""

    kind: str
    by_name: int
    by_address: int
    minutes: int


# A room of people behind one address may mistype; one name is guessed ten times, not more. Kinds
# that know only an address, or only a name, count it as both.
LOG_IN = Limit("log-in", 10, 100, 15)
OWN_PASSWORD = Limit("own-password", 10, 10, 15)
INVITE = Limit("invite", 30, 30, 60)
RESET_ASKED = Limit("reset-asked", 30, 30, 60)
RESET = Limit("reset", 3, 3, 60)
SIGN_UP = Limit("sign-up", 60, 60, 60)
# By team and by person: what is checked without costing a try costs time.
CHECK = Limit("check", 200, 200, 60)
# By person: nobody needs more teams in a day.
REGISTER = Limit("register", 5, 5, 24 * 60)


def spend(limit: Limit, name: str, address: str) -> LoginAttempt:
    """Count an attempt before it is made; `Refused` (throttled) when there were too many.

    The attempt is stored first and counted then, so that attempts made in the same moment
    cannot all pass. A refused one is not kept: who waits is let in again.
    """
    at = clock.now()
    since = at - timedelta(minutes=limit.minutes)
    LoginAttempt.objects.filter(at__lt=at - KEPT).delete()
    made: LoginAttempt = LoginAttempt.objects.create(
        name_hash=_hash(limit, "name", name),
        address_hash=_hash(limit, "address", network(address)),
        at=at,
    )
    by_name, by_address = Q(name_hash=made.name_hash), Q(address_hash=made.address_hash)
    found = LoginAttempt.objects.filter(by_name | by_address, at__gt=since).aggregate(
        names=Count("pk", filter=by_name),
        addresses=Count("pk", filter=by_address),
        first=Min("at"),
    )
    if found["names"] <= limit.by_name and found["addresses"] <= limit.by_address:
        return made
    made.delete()
    again = found["first"] + timedelta(minutes=limit.minutes)
    raise Refused(
        "throttled",
        _("There were too many attempts; please wait some minutes, then try again."),
        retry_after=max(1, round((again - at).total_seconds())),
    )


def forgive(limit: Limit, name: str) -> None:
    """Forget the attempts on a name: its owner has shown who she is."""
    LoginAttempt.objects.filter(name_hash=_hash(limit, "name", name)).delete()


def network(address: str) -> str:
    """The address that is counted: an IPv6 customer has 2^64 of them, and is one.

    >>> network("2001:db8::1234") == network("2001:db8::5678"), network("192.0.2.7")
    (True, '192.0.2.7')
    """
    try:
        read = ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(read, IPv6Address):
        return str(read.ipv4_mapped) if read.ipv4_mapped else f"{int(read) >> 64:x}/64"
    return str(read)


def _hash(limit: Limit, what: str, value: str) -> str:
    salt = f"tracecup.throttle.{limit.kind}.{what}"
    return salted_hmac(salt, value, algorithm="sha256").hexdigest()
