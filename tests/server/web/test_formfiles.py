"""Files of forms, put aside while they arrive: Django sees the same form, one write less."""

from __future__ import annotations

import hashlib
import http.client
from threading import Thread

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http.multipartparser import MultiPartParserError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracecup.server.storage import store
from tracecup.server.web import incoming
from tracecup.server.web.formfiles import FORM_FILE, FormSpool, LandedFile, boundary_of
from tracecup.server.web.receiving import make_server

TYPE = "multipart/form-data; boundary=bound"
# Much that looks like a boundary and is none.
BYTES = st.lists(
    st.sampled_from([b"a", b"\r\n", b"\r", b"\n", b"--", b"\r\n--boun", b"\r\n--", b"x" * 40]),
    max_size=12,
).map(b"".join)


def part(name: str, content: bytes, file_name: str | None = None, more: bytes = b"") -> bytes:
    said = f'; filename="{file_name}"' if file_name is not None else ""
    head = f'Content-Disposition: form-data; name="{name}"{said}\r\n'.encode()
    return b"--bound\r\n" + head + more + b"\r\n" + content + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--bound--\r\n"


@pytest.fixture
def small_memory(monkeypatch):
    """Files of 32 bytes lie on the disk."""
    monkeypatch.setattr(incoming, "MEMORY_BODY", 32)


def arrived(body: bytes, size: int, folder) -> tuple[WSGIRequest, FormSpool]:
    """A form that came in blocks of this size, as Django gets it."""
    spool = FormSpool(folder, boundary_of(TYPE))
    for at in range(0, len(body), size):
        spool.append(body[at : at + size])
    file, held = spool.form_file(), spool.getfile()
    environ = {
        "REQUEST_METHOD": "POST",
        "CONTENT_TYPE": TYPE,
        "CONTENT_LENGTH": str(len(spool)),
        "wsgi.input": held,
        FORM_FILE: file,
    }
    return WSGIRequest(environ), spool


@pytest.mark.usefixtures("small_memory")
class TestFormSpool:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
    @given(
        begin=BYTES,
        middle=st.sampled_from([b"", b"z" * 20_000]),
        end=BYTES,
        field=BYTES,
        last=BYTES,
        size=st.sampled_from([7, 64, 4096, 99_999]),
    )
    def test_django_sees_the_same_form(self, tmp_path, begin, middle, end, field, last, size):
        content = begin + middle + end
        body = form(part("a", field), part("file", content, "x.csv"), part("b", last))
        request, spool = arrived(body, size, tmp_path)
        file = request.FILES["file"]
        assert {name: value.encode() for name, value in request.POST.items()} == {
            "a": field,
            "b": last,
        }
        assert (file.name, file.size, file.read()) == ("x.csv", len(content), content)
        assert isinstance(file, LandedFile) == bool(middle)
        file.close()
        spool.close()

    @pytest.mark.parametrize("size", [100, 4096, 65_536])
    def test_a_large_file_is_linked_into_the_store(self, server_folder, size):
        content = bytes(range(256)) * 1000
        body = form(part("kind", b"release"), part("file", content, "x.csv"))
        request, spool = arrived(body, size, store().incoming)
        file = request.FILES["file"]
        assert isinstance(file, LandedFile)
        assert len(spool) < 1000
        with incoming.spooled(file, 1 << 20) as got:
            assert got.sha256 == hashlib.sha256(content).hexdigest()
            blob = store().keep(got.path, got.sha256, got.size)
            # The very file that was written while the form arrived: there was no other write.
            assert store().path(blob.sha256).samefile(got.path)
        file.close()
        spool.close()
        assert store().checked(blob.sha256).read_bytes() == content
        assert list(store().incoming.iterdir()) == []

    def test_a_second_file_takes_the_old_way(self, tmp_path):
        big = b"y" * 100_000
        body = form(part("file", big, "1"), part("more", big, "2"))
        request, spool = arrived(body, 4096, tmp_path)
        first, second = request.FILES["file"], request.FILES["more"]
        assert isinstance(first, LandedFile)
        assert not isinstance(second, LandedFile)
        assert second.read() == big
        first.close()
        second.close()
        spool.close()

    def test_an_encoded_file_takes_the_old_way(self, tmp_path):
        more = b"Content-Transfer-Encoding: base64\r\n"
        request, spool = arrived(form(part("file", b"YWJj" * 30_000, "x", more)), 4096, tmp_path)
        file = request.FILES["file"]
        assert file.read() == b"abc" * 30_000
        file.close()
        spool.close()

    @pytest.mark.parametrize("cut", [1, 8, 20, 5000, 99_990])
    def test_half_a_form_is_half_a_form(self, tmp_path, cut):
        body = form(part("file", b"y" * 100_000, "1"))[:-cut]
        request, spool = arrived(body, 4096, tmp_path)
        try:
            found = request.FILES.get("file")
            assert found is None or cut <= 8 or found.size < 100_000
            if found is not None:
                found.close()
        except MultiPartParserError:
            pass
        spool.close()


class TestBoundaryOf:
    @pytest.mark.parametrize(
        ("said", "found"),
        [
            (TYPE, b"bound"),
            ('Multipart/Form-Data; charset=utf-8; boundary="a b"', b"a b"),
            ("multipart/form-data", None),
            ("application/json; boundary=x", None),
            ("", None),
        ],
    )
    def test_of_forms_only(self, said, found):
        assert boundary_of(said) == found


class TestOverTheWire:
    @pytest.mark.parametrize("chunked", [False, True])
    def test_a_form_through_the_web_server(self, tmp_path, chunked):
        """The form that the application gets is small; the file lies beside it, hashed."""
        content, seen = bytes(range(256)) * 4000, {}

        def app(environ, start_response):
            file = WSGIRequest(environ).FILES["file"]
            seen.update(landed=isinstance(file, LandedFile), same=file.read() == content)
            seen["sha256"] = file.incoming.sha256
            seen["length"] = int(environ["CONTENT_LENGTH"])
            file.close()
            start_response("204 No Content", [])
            return []

        server = make_server(app, "127.0.0.1", 0, 1, folder=tmp_path, proxied=False)
        thread = Thread(target=server.run, daemon=True)
        thread.start()
        body = form(part("kind", b"release"), part("file", content, "x.csv"))
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        try:
            sent = iter([body[:70_000], body[70_000:]]) if chunked else body
            connection.request("POST", "/", sent, {"Content-Type": TYPE}, encode_chunked=chunked)
            assert connection.getresponse().status == 204
        finally:
            connection.close()
            server.close()
            thread.join(60)
        assert seen.pop("length") < 1000
        assert seen == {
            "landed": True,
            "same": True,
            "sha256": hashlib.sha256(content).hexdigest(),
        }
