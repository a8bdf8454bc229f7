"""Usefulness for applications: of synthetic traces and of releases.

Every metric carries its name, direction, range and unit.
"""

from tracecup.records import CHECK_INS, PEOPLE_FLOW, Records, Timetable, read_records
from tracecup.usefulness.dayfiles import read_cells, read_day_traces, write_day_traces
from tracecup.usefulness.daytraces import DayTraces
from tracecup.usefulness.metric import Measurement, Metric
from tracecup.usefulness.poi import poi_accuracy, poi_cost
from tracecup.usefulness.releases import (
    release_population,
    release_tm_emd,
    release_tp_tv_top50,
    release_transitions,
)
from tracecup.usefulness.sliced import grid_coordinates, random_directions, sliced_wasserstein
from tracecup.usefulness.synthetic import Usefulness, evaluate_synthetic
from tracecup.usefulness.teamdiversity import Comparison, Diversity, diversity
from tracecup.usefulness.timepopulation import (
    population,
    tp_swd,
    tp_tv,
    tp_tv_top50,
    uniform_population,
)
from tracecup.usefulness.transitions import (
    tm_emd,
    tm_emd_x,
    tm_emd_y,
    tm_tv,
    transition_matrices,
    uniform_transitions,
)
from tracecup.usefulness.visit_fraction import uniform_fractions, vf_tv, visit_fractions

__all__ = [
    "CHECK_INS",
    "PEOPLE_FLOW",
    "Comparison",
    "DayTraces",
    "Diversity",
    "Measurement",
    "Metric",
    "Records",
    "Timetable",
    "Usefulness",
    "diversity",
    "evaluate_synthetic",
    "grid_coordinates",
    "poi_accuracy",
    "poi_cost",
    "population",
    "random_directions",
    "read_cells",
    "read_day_traces",
    "read_records",
    "release_population",
    "release_tm_emd",
    "release_tp_tv_top50",
    "release_transitions",
    "sliced_wasserstein",
    "tm_emd",
    "tm_emd_x",
    "tm_emd_y",
    "tm_tv",
    "tp_swd",
    "tp_tv",
    "tp_tv_top50",
    "transition_matrices",
    "uniform_fractions",
    "uniform_population",
    "uniform_transitions",
    "vf_tv",
    "visit_fractions",
    "write_day_traces",
]
