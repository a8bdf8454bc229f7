"""Training data: the built-in generated city and loaders of public data sets.

Every loader returns a `Dataset`: records as plain arrays and the city they lie in.
"""

from tracecup.datasets.arrowtable import from_frame, read_parquet
from tracecup.datasets.boundingbox import BEIJING, CITIES, TOKYO_CENTRE, Box
from tracecup.datasets.cleaning import Cleaning
from tracecup.datasets.contestfiles import ContestParts, contest_parts
from tracecup.datasets.dataset import Dataset, Dropped, Split
from tracecup.datasets.foursquare import read_foursquare, read_tsmc2014
from tracecup.datasets.geolife import read_geolife
from tracecup.datasets.gowalla import read_gowalla
from tracecup.datasets.gpx import read_gpx
from tracecup.datasets.loaders import LOADERS, Loader, Wish, loader_of
from tracecup.datasets.metropolis import Metropolis
from tracecup.datasets.mobility import (
    DayStatistics,
    day_statistics,
    radius_of_gyration,
    return_probability,
    visit_frequencies,
    zipf_exponent,
)
from tracecup.datasets.peopleflow import read_peopleflow
from tracecup.datasets.prepared import read_prepared
from tracecup.datasets.splitting import split_users
from tracecup.datasets.table import read_csv
from tracecup.datasets.takeout import read_takeout
from tracecup.records import CHECK_INS, CONTEST, PEOPLE_FLOW, Records, Timetable

__all__ = [
    "BEIJING",
    "CHECK_INS",
    "CITIES",
    "CONTEST",
    "LOADERS",
    "PEOPLE_FLOW",
    "TOKYO_CENTRE",
    "Box",
    "Cleaning",
    "ContestParts",
    "Dataset",
    "DayStatistics",
    "Dropped",
    "Loader",
    "Metropolis",
    "Records",
    "Split",
    "Timetable",
    "Wish",
    "contest_parts",
    "day_statistics",
    "from_frame",
    "loader_of",
    "radius_of_gyration",
    "read_csv",
    "read_foursquare",
    "read_geolife",
    "read_gowalla",
    "read_gpx",
    "read_parquet",
    "read_peopleflow",
    "read_prepared",
    "read_takeout",
    "read_tsmc2014",
    "return_probability",
    "split_users",
    "visit_frequencies",
    "zipf_exponent",
]
