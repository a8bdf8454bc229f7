"""GPX tracks, well and badly formed."""

from __future__ import annotations

import pytest

from tracecup.datasets import Box, Cleaning, read_gpx
from tracecup.errors import InvalidFile, InvalidParameter, TraceCupError, UnreadableFile

BOX = Box(47, 48, 8, 9)
# The shape of trackintel's samples, with an extension of an undeclared name space.
HEAD = (
    "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n"
    '<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">\n'
    "<metadata><name>n</name><time>2023-11-08T15:00:00Z</time></metadata>\n<trk><trkseg>\n"
)
TAIL = "</trkseg></trk></gpx>\n"


def point(latitude: object, longitude: object, time: str | None) -> str:
    when = f"<time>{time}</time>" if time else ""
    return (
        f'<trkpt lat="{latitude}" lon="{longitude}"><ele>100</ele>{when}<hdop>10</hdop>'
        "<extensions><osmand:speed>0.2</osmand:speed></extensions></trkpt>\n"
    )


@pytest.fixture
def write(tmp_path):
    def put(name: str, *points: str, head: str = HEAD, tail: str = TAIL):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(head + "".join(points) + tail)
        return path

    return put


class TestReadGpx:
    def test_points_of_people(self, write, tmp_path):
        write("ann/1.gpx", point(47.1, 8.1, "2023-11-08T10:00:00Z"))
        write("ann/2.gpx", point(47.1, 8.1, "2023-11-09T10:00:00Z"))
        bob = write("bob.gpx", point(47.9, 8.9, "2023-11-08T11:00:00+01:00"))
        found = read_gpx([tmp_path / "ann", bob], box=BOX)
        assert found.records.names == ("ann", "bob")
        assert found.records.day.tolist() == [0, 1, 0]
        assert found.records.instant.tolist() == [48, 48, 48]

    def test_times_of_the_place(self, write):
        path = write("a.gpx", point(47.1, 8.1, "2023-07-08T10:00:00Z"))
        assert read_gpx(path, box=BOX, zone="Europe/Zurich").records.instant.tolist() == [72]

    def test_points_without_time_or_place(self, write):
        good = point(47.1, 8.1, "2023-11-08T10:00:00Z")
        path = write("a.gpx", good, point(47.1, 8.1, None), point("x", 8.1, "2023-11-08T10:09:00Z"))
        with pytest.raises(InvalidFile, match="line 6: found a point without a time"):
            read_gpx(path, box=BOX)
        assert read_gpx(path, box=BOX, bad_lines="skip").dropped.bad_lines == 2

    def test_an_entity_bomb_is_refused(self, write):
        bomb = '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><gpx>&b;'
        with pytest.raises(InvalidFile, match="a document type or entity"):
            read_gpx(write("a.gpx", head=bomb, tail="</gpx>"), box=BOX)

    @pytest.mark.parametrize(
        ("head", "message"),
        [
            ("", "no element found"),
            ("<kml></kml>", "<kml>"),
            (HEAD, "no element found"),
            ("<a>" * 100, "more than 64 elements"),
            ("\0\1", "not well-formed"),
        ],
    )
    def test_what_is_no_gpx(self, write, head, message):
        with pytest.raises(InvalidFile, match=message):
            read_gpx(write("a.gpx", head=head, tail=""), box=BOX)

    def test_wrong_use(self, write, tmp_path):
        path = write("a.gpx", point(47.1, 8.1, "2023-11-08T10:00:00Z"))
        with pytest.raises(InvalidParameter, match="given twice"):
            read_gpx([path, path], box=BOX)
        with pytest.raises(InvalidParameter, match="accuracy"):
            read_gpx(path, box=BOX, cleaning=Cleaning(max_accuracy=10))
        (tmp_path / "empty").mkdir()
        with pytest.raises(UnreadableFile, match="holds no .gpx file"):
            read_gpx(tmp_path / "empty", box=BOX)
        with pytest.raises(TraceCupError):
            read_gpx(tmp_path / "missing.gpx", box=BOX)
