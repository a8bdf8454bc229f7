"""What a request says about its encoding is never an error of the server."""

from __future__ import annotations

import io

import pytest

from tracecup.server.wsgi import application

FORM, JSON = "application/x-www-form-urlencoded", "application/json"
PARTS = "multipart/form-data; boundary=x"
ODD = [
    "nonsense",
    "base64",
    "rot13",
    "idna",
    "undefined",
    "utf-16",
    "utf-7",
    "unicode_escape",
    "zlib",
]
NO_TYPE = [
    f"{FORM}; charset=\0",
    f"{FORM}; charset*=bogus''x",
    "multipart/form-data; boundary*=bogus''x",
    "a; b*0*=x''%ff",
    "\xff; \xff=\xff",
]
BODY = b"username=a&password=%ff\xff"
PART = (
    b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename*=bogus''x\r\n"
    b"Content-Type: text/plain; charset=base64\r\n\r\n\xff\xfe\r\n--x--\r\n"
)


def ask(path: str, content_type: str, body: bytes, method: str = "POST") -> int:
    """The status of an answer, from the very application that the web server calls."""
    seen: list[str] = []
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": "next=%ff&x=\xe9",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "HTTP_HOST": "localhost",
        "HTTP_COOKIE": f"csrftoken={'a' * 32}",
        "HTTP_IDEMPOTENCY_KEY": "x",
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": "http",
        "wsgi.errors": io.StringIO(),
    }
    answer = application(environ, lambda status, *_: seen.append(status))
    b"".join(answer)
    answer.close()
    return int(seen[0].split()[0])


@pytest.mark.django_db
class TestCharsets:
    @pytest.mark.parametrize("charset", ODD)
    @pytest.mark.parametrize("path", ["/login/", "/api/v1/log-in"])
    def test_texts_are_utf_8(self, contest, path, charset):
        for kind in (FORM, JSON, PARTS):
            assert ask(path, f"{kind}; charset={charset}", BODY) == 415
        assert ask(path, f"{FORM}; charset={charset}", b"", "GET") == 415

    @pytest.mark.parametrize("charset", ["utf-8", "UTF_8", "us-ascii"])
    def test_plain_ones_get_their_answer(self, contest, charset):
        assert ask("/api/v1/log-in", f"{JSON}; charset={charset}", b"{}") == 422

    @pytest.mark.parametrize("charset", ["shift_jis", *ODD])
    def test_a_file_is_bytes_whatever_is_said(self, contest, charset):
        path = "/api/v1/contests/spring/submissions"
        assert ask(path, f"text/csv; charset={charset}", BODY) == ask(path, "text/csv", BODY)

    @pytest.mark.parametrize("content_type", NO_TYPE)
    @pytest.mark.parametrize("path", ["/login/", "/api/v1/log-in", "/"])
    def test_a_type_that_cannot_be_read(self, contest, path, content_type):
        assert 400 <= ask(path, content_type, BODY) < 500

    @pytest.mark.parametrize("path", ["/login/", "/api/v1/contests/spring/submissions"])
    def test_parts_with_odd_headers(self, contest, path):
        assert 400 <= ask(path, PARTS, PART) < 500
