from __future__ import annotations

import pytest

from tracecup.errors import InvalidTraces
from tracecup.usefulness import Metric
from tracecup.usefulness.poi import POI_ACCURACY
from tracecup.usefulness.teamdiversity import DIFF_L2, DIFF_TV, SAME_L2, SAME_TV
from tracecup.usefulness.timepopulation import TP_SWD, TP_TV, TP_TV_TOP50
from tracecup.usefulness.transitions import TM_EMD, TM_EMD_X, TM_EMD_Y, TM_TV
from tracecup.usefulness.visit_fraction import VF_TV

EVERY = [
    *(TP_TV, TP_TV_TOP50, TP_SWD, TM_TV, TM_EMD, TM_EMD_X, TM_EMD_Y, VF_TV, POI_ACCURACY),
    *(SAME_TV, DIFF_TV, SAME_L2, DIFF_L2),
]


@pytest.fixture
def share() -> Metric:
    return Metric("share", "maximise", 0.0, 1.0, "", "a share")


class TestMeasured:
    def test_value_is_the_mean_of_the_parts(self, share: Metric):
        found = share.measured([0.2, 0.4])
        assert found.value == pytest.approx(0.3)
        assert found.parts.tolist() == [0.2, 0.4]

    def test_weights_count(self, share: Metric):
        assert share.measured([0.0, 1.0], [3, 1]).value == 0.25

    @pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
    def test_a_value_outside_the_range_is_an_error(self, share: Metric, bad: float):
        with pytest.raises(InvalidTraces, match=r"share lies in 0\.\.1"):
            share.measured([0.5, bad])

    def test_nothing_to_average_is_an_error(self, share: Metric):
        with pytest.raises(InvalidTraces, match="nothing to average"):
            share.measured([])

    def test_prints_name_value_and_unit(self):
        assert str(TM_EMD.measured(0.622261)) == "TM-EMD = 0.62226 cells"
        assert str(TP_TV.measured(0.5)) == "TP-TV = 0.50000"


class TestMetric:
    def test_names_differ(self):
        assert len({metric.name for metric in EVERY}) == len(EVERY)

    @pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.name)
    def test_says_direction_range_and_meaning(self, metric: Metric):
        assert metric.goal in ("minimise", "maximise")
        assert metric.low == 0 < metric.high
        assert metric.meaning
