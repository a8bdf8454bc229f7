"""Forms with a file, taken apart while they arrive: the file's bytes are written once.

The file inside a form goes to one of its own, hashed on the way, and can be linked into the store
like a body that is a file. What is left is a small form with a token in the file's place; Django
reads that, and the token leads its upload handler to the file.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler

from tracecup.server.web.incoming import Incoming, Spool

FORM_FILE = "tracecup.form_file"
LONGEST_HEAD = 16 * 1024
_BOUNDARY = re.compile(
    rb'multipart/form-data\s*;.*?\bboundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))', re.IGNORECASE
)
_IS_FILE = re.compile(rb"^content-disposition:[^\r\n]*;\s*filename\*?=", re.IGNORECASE | re.M)
_ENCODED = re.compile(rb"^content-transfer-encoding:", re.IGNORECASE | re.M)


def boundary_of(content_type: str) -> bytes | None:
    """What separates the parts of a form; None for what is no such form.

    >>> boundary_of('multipart/form-data; boundary="x y"'), boundary_of("text/csv")
    (b'x y', None)
    """
    found = _BOUNDARY.match(content_type.strip().encode("latin-1", "replace"))
    return (found[1] or found[2]) if found else None


class FormSpool(Spool):
    """A form while it arrives; its first file that is too large for memory lies apart.

    Parts begin after a line that is the boundary; everything but that file's bytes is kept as it
    came, so that a broken form is broken for Django, too.
    """

    def __init__(self, folder: Path, boundary: bytes) -> None:
        super().__init__(folder)
        self._mark = b"\r\n--" + boundary
        self._token = secrets.token_hex(32).encode()
        self._file: Spool | None = None
        # As if a line ended before the form: its first boundary is like all others.
        self._held, self._unseen = b"\r\n", 2
        self._look = self._until_mark

    def append(self, block: bytes) -> None:
        """Take what arrived."""
        self._held += block
        while self._look():
            pass

    def landed(self) -> Incoming | None:
        """A form is no file."""
        return None

    def form_file(self) -> tuple[bytes, Incoming] | None:
        """The token in the form and the file that it stands for, if there is such."""
        self._settle()
        landed = self._file.landed() if self._file is not None else None
        return (self._token, landed) if landed is not None else None

    def getfile(self) -> Any:
        """The form without the file."""
        self._settle()
        return super().getfile()

    def close(self) -> None:
        """Forget all of it."""
        if self._file is not None:
            self._file.close()
        super().close()

    def _settle(self) -> None:
        """What was held back belongs to the form: nothing more comes."""
        self._keep(len(self._held))
        self._look = self._to_the_end

    def _keep(self, size: int) -> None:
        """Put the first bytes that are held into the form."""
        kept, self._held = self._held[:size], self._held[size:]
        kept, self._unseen = kept[self._unseen :], max(0, self._unseen - len(kept))
        if kept:
            super().append(kept)

    def _until_mark(self) -> bool:
        """Outside a file: up to the next boundary all is the form's."""
        at = self._held.find(self._mark)
        if at < 0:
            self._keep(max(0, len(self._held) - len(self._mark)))
            return False
        self._keep(at + len(self._mark))
        self._look = self._in_head
        return True

    def _in_head(self) -> bool:
        """After a boundary: the head of a part says whether it is a file."""
        at = self._held.find(b"\r\n\r\n")
        if self._held.startswith(b"--") or (at < 0 and len(self._held) > LONGEST_HEAD):
            self._look = self._to_the_end
            return True
        if at < 0:
            return False
        head = self._held[:at]
        self._keep(at + 4)
        wanted = self._file is None and _IS_FILE.search(head) and not _ENCODED.search(head)
        if wanted:
            self._file = Spool(self._folder)
        self._look = self._in_file if wanted else self._until_mark
        return True

    def _in_file(self) -> bool:
        """Up to the next boundary all is the file's."""
        assert self._file is not None
        at = self._held.find(self._mark)
        size = at if at >= 0 else max(0, len(self._held) - len(self._mark))
        if size:
            self._file.append(self._held[:size])
            self._held = self._held[size:]
        if at < 0:
            return False
        if self._file.overflowed:
            super().append(self._token)
        else:  # so small that it stays where it is
            super().append(self._file.get(skip=False))
            self._file.close()
            self._file = None
        self._look = self._until_mark
        return True

    def _to_the_end(self) -> bool:
        self._keep(len(self._held))
        return False


class LandedFile(UploadedFile):
    """An upload whose bytes lie in the server's folder already, with their SHA-256."""

    def __init__(self, incoming: Incoming, name: str, content_type: str | None) -> None:
        super().__init__(incoming.path.open("rb"), name, content_type, incoming.size)
        self.incoming = incoming

    def temporary_file_path(self) -> str:
        """Where it lies, as Django's own uploads on disk tell it."""
        return str(self.incoming.path)


class LandedFiles(TemporaryFileUploadHandler):
    """Finds the file of a form that `FormSpool` has put aside; others are written to the disk."""

    file: TemporaryUploadedFile | None = None

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        held: tuple[bytes, Incoming] | None = request and request.META.get(FORM_FILE)
        self._token = held[0] if held else b""
        self._incoming = held[1] if held else None
        self._got = b""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Another file begins; nothing is opened before its first bytes are there."""
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file, self._got = None, b""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Bytes of a file, or the token."""
        self._got += raw_data
        if self._incoming is not None and self.file is None and self._token.startswith(self._got):
            return
        self._written().write(self._got)
        self._got = b""

    def file_complete(self, file_size: int) -> UploadedFile:
        """The file that lies apart, where this is its place; else the one written here."""
        if self._incoming is not None and self.file is None and self._got == self._token:
            return LandedFile(self._incoming, self.file_name, self.content_type)
        made = self._written()
        made.write(self._got)
        made.seek(0)
        made.size = file_size
        return made

    def upload_interrupted(self) -> None:
        """Nothing more comes: what was written goes."""
        if self.file is not None:
            super().upload_interrupted()

    def _written(self) -> TemporaryUploadedFile:
        if self.file is None:
            self.file = TemporaryUploadedFile(
                self.file_name, self.content_type, 0, self.charset, self.content_type_extra
            )
        return self.file
