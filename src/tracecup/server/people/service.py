"""People: log-in and sessions, accounts, one-time links, API tokens, erasure.

The parts are in `visits`, `accounts`, `links`, `tokens` and `erasure`; everybody else asks here.
"""

from __future__ import annotations

from tracecup.server.people.accounts import change_password, change_profile, label, require_password
from tracecup.server.people.erasure import erase, erase_people_of, is_over
from tracecup.server.people.links import (
    accept,
    add_organiser,
    first_organiser_link,
    link_by_number,
    link_of,
    new_link,
    open_links,
    redeem,
    revoke_link,
)
from tracecup.server.people.tokens import (
    live_tokens,
    new_token,
    person_of_token,
    revoke_by_number,
    revoke_token,
)
from tracecup.server.people.visits import (
    address_of,
    begin_visit,
    check_password,
    end_other_sessions,
    end_session,
    end_visit,
    seen,
    sessions,
    sign_in,
    sign_out,
)

__all__ = [
    "accept",
    "add_organiser",
    "address_of",
    "begin_visit",
    "change_password",
    "change_profile",
    "check_password",
    "end_other_sessions",
    "end_session",
    "end_visit",
    "erase",
    "erase_people_of",
    "first_organiser_link",
    "is_over",
    "label",
    "link_by_number",
    "link_of",
    "live_tokens",
    "new_link",
    "new_token",
    "open_links",
    "person_of_token",
    "redeem",
    "require_password",
    "revoke_by_number",
    "revoke_link",
    "revoke_token",
    "seen",
    "sessions",
    "sign_in",
    "sign_out",
]
