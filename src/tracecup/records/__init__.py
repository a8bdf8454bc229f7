"""Records: who was where and when, sparse and with gaps, and the readers of their files.

Below data sets, synthesizers and usefulness, which share this one model and one text reader.
"""

from tracecup.records.files import read_records, write_records
from tracecup.records.records import Records, timetable_of
from tracecup.records.timetable import CHECK_INS, CONTEST, PEOPLE_FLOW, TIMETABLES, Timetable

__all__ = [
    "CHECK_INS",
    "CONTEST",
    "PEOPLE_FLOW",
    "TIMETABLES",
    "Records",
    "Timetable",
    "read_records",
    "timetable_of",
    "write_records",
]
