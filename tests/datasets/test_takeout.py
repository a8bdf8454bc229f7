"""Location histories in the four shapes that Google has handed out."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tracecup.datasets import Box, Cleaning, read_takeout
from tracecup.datasets.takeout import points_of
from tracecup.errors import InvalidFile

BOX = Box(47, 48, 8, 9)
E7 = {"latitudeE7": 471000000, "longitudeE7": 81000000}
SHORT = {"latE7": 479000000, "lngE7": 89000000}
VISIT = {
    "location": {**E7, "placeId": "p"},
    "duration": {
        "startTimestamp": "2023-11-08T10:00:00Z",
        "endTimestamp": "2023-11-08T10:12:30.5Z",
    },
}
SHAPES = {
    "records": {
        "locations": [
            {**E7, "accuracy": 20, "timestamp": "2023-11-08T10:00:00.123Z"},
            {**E7, "accuracy": 900, "timestampMs": "1699437900000", "activity": [{"a": [1]}]},
        ]
    },
    "semantic": {
        "timelineObjects": [
            {"placeVisit": VISIT},
            {
                "activitySegment": {
                    "startLocation": E7,
                    "endLocation": E7,
                    "duration": {
                        "startTimestampMs": "1699437900000",
                        "endTimestampMs": "1699438500000",
                    },
                    "simplifiedRawPath": {
                        "points": [{**SHORT, "timestamp": "2023-11-08T10:30:00Z"}]
                    },
                }
            },
        ]
    },
    "android": {
        "semanticSegments": [
            {
                "startTime": "2023-11-08T11:00:00.000+01:00",
                "endTime": "2023-11-08T12:00:00.000+01:00",
                "timelinePath": [{"point": "47.1°, 8.1°", "time": "2023-11-08T11:05:00.000+01:00"}],
            },
            {
                "startTime": "2023-11-08T13:00:00.000+01:00",
                "endTime": "2023-11-08T13:05:00.000+01:00",
                "visit": {"topCandidate": {"placeLocation": {"latLng": "47.9°, 8.9°"}}},
            },
        ],
        "rawSignals": [
            {
                "position": {
                    "LatLng": "47.1°, 8.1°",
                    "accuracyMeters": 15,
                    "timestamp": "2023-11-08T14:00:00.000+01:00",
                }
            },
            {"wifiScan": {"deliveryTime": "2023-11-08T14:00:00.000+01:00"}},
        ],
        "userLocationProfile": {"frequentPlaces": [{"placeId": "p"}]},
    },
    "iphone": [
        {
            "startTime": "2023-11-08T10:00:00.000Z",
            "endTime": "2023-11-08T11:00:00.000Z",
            "timelinePath": [{"point": "geo:47.1,8.1", "durationMinutesOffsetFromStartTime": "32"}],
        },
        {
            "startTime": "2023-11-08T12:00:00.000Z",
            "endTime": "2023-11-08T12:10:00.000Z",
            "activity": {"start": "geo:47.1,8.1", "end": "geo:47.9,8.9"},
        },
    ],
}
INSTANTS = {
    "records": [48, 49],
    "semantic": [48, 49, 50, 54],
    "android": [49, 72, 73, 84],
    "iphone": [54, 72, 74],
}


@pytest.fixture
def write(tmp_path):
    def put(content: object, name: str = "ann.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
        return path

    return put


class TestReadTakeout:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_shape(self, write, shape):
        found = read_takeout(write(SHAPES[shape]), box=BOX).records
        assert found.names == ("ann",)
        assert found.instant.tolist() == INSTANTS[shape]

    def test_people_and_folders(self, write, tmp_path):
        for month in ("JANUARY", "MAY"):
            write(SHAPES["semantic"], f"ann/2023_{month}.json")
        bob = write(SHAPES["records"], "bob.json")
        found = read_takeout([tmp_path / "ann", bob], box=BOX)
        assert found.records.names == ("ann", "bob")
        assert len(found.records) == 6

    def test_accuracy(self, write):
        wish = Cleaning(max_accuracy=100)
        found = read_takeout(write(SHAPES["records"]), box=BOX, cleaning=wish)
        assert (len(found.records), found.dropped.inaccurate) == (1, 1)

    @pytest.mark.parametrize(
        "item",
        [
            {"latitudeE7": 471000000},
            {"latitudeE7": "x", "longitudeE7": 1, "timestamp": "2023-11-08T10:00:00Z"},
            {**E7, "timestampMs": "1e400"},
            {"placeVisit": 7},
            {"startTime": "2023-11-08T10:00:00Z", "visit": {}},
            {"position": {"LatLng": "north", "timestamp": "2023-11-08T10:00:00Z"}},
            {
                "placeVisit": {
                    **VISIT,
                    "duration": {"startTimestampMs": "0", "endTimestampMs": "9e12"},
                }
            },
            {**E7, "timestamp": "yesterday"},
        ],
    )
    def test_bad_items_are_named_or_counted(self, write, item):
        path = write({"locations": [SHAPES["records"]["locations"][0], item]})
        with pytest.raises(InvalidFile, match="item 2"):
            read_takeout(path, box=BOX)
        assert read_takeout(path, box=BOX, bad_lines="skip").dropped.bad_lines == 1


class TestPointsOf:
    def test_a_visit_counts_all_the_while(self):
        found = list(points_of({"placeVisit": VISIT}, timedelta(minutes=5)))
        assert [point.time[11:19] for point in found] == [
            "10:00:00", "10:05:00", "10:10:00", "10:12:30",
        ]  # fmt: skip

    def test_other_items_tell_nothing(self):
        assert list(points_of({"wifiScan": {}}, timedelta(minutes=5))) == []
