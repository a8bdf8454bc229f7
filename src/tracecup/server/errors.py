"""What the server refuses, as one kind of error: a code for programs, a sentence for people.

Pages and the API turn it into their answer; services raise it and know no HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

STATUS = {
    "invalid": 422,
    "not-signed-in": 401,
    "forbidden": 403,
    "not-found": 404,
    "wrong-method": 405,
    "conflict": 409,
    "closed": 409,
    "paused": 409,
    "quota": 409,
    "too-large": 413,
    "wrong-type": 415,
    "throttled": 429,
    "rejected": 422,
    "internal": 500,
    "storage": 507,
}


class Refused(Exception):
    """A request that is not carried out.

    `code` is one of `STATUS`; `problems` are the first bad places of a file or form, each with
    `line`, `field`, `found`, `expected`; `details` are further facts for programs.
    """

    def __init__(
        self,
        code: str,
        message: str,
        problems: Sequence[Mapping[str, Any]] = (),
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.code, self.message = code, message
        self.problems, self.details = tuple(problems), details

    @property
    def status(self) -> int:
        """The HTTP status that goes with the code."""
        return STATUS[self.code]

    def as_dict(self) -> dict[str, Any]:
        """The stable error format of the API."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "problems": [dict(problem) for problem in self.problems],
                "details": self.details,
            }
        }


def not_found(what: str) -> Refused:
    """The answer for what is not there and for what the asker may not know of."""
    said = _("There is no such {what}, or you may not see it.")
    return Refused("not-found", said.format(what=_(what)))
