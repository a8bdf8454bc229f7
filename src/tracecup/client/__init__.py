"""What a participant's machine needs to talk to a contest server; no web framework in it.

Log in with a token, fetch the data, check a file by the server's own rules, hand it in.
"""

from tracecup.client.account import Account, load_account, save_account
from tracecup.client.connection import Connection, Refusal, Unreachable

__all__ = [
    "Account",
    "Connection",
    "Refusal",
    "Unreachable",
    "load_account",
    "save_account",
]
