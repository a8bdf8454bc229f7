"""Every kind of file of a contest, declared once: its words and columns, who gets it, and when.

Lists of kinds (what is shown where, what goes out with what) are derived from the declarations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext_noop as _

from tracecup.city.files import REGION_HEADER, TIME_HEADER
from tracecup.contest.entries import CONTAINER
from tracecup.traces.files import LAYOUTS, PREFIXES

Audience = Literal["all", "team", "judge"]


@dataclass(frozen=True)
class Line:
    """A line of a table: the columns, an example, and what it says."""

    columns: str
    example: str
    about: str


@dataclass(frozen=True)
class FileKind:
    """A kind of file: in a few words (`label`) and, where it can be fetched, in a sentence.

    `name`: the kind; names of single files begin with it. `suffix`: how they end, "" where one
    kind has several sorts. `line`: what a line is, where teams get or hand in such tables.
    `audience`: who gets one when it is made: everybody, its team or the judge; everything of
    sample teams is everybody's. `goes_out`: with which publication it goes out to everybody.
    `group`: where a team finds it ("": by whose it is). `offered`: on the page of results.
    `of_data`: made with the data, and anew when the rules of the data change. `telling`: tells
    scores, so it is hidden while they are. `paper`: of the judge's files those that organisers
    may read. `uploaded`: given by the organisers, for a city of their own.
    """

    name: str
    label: str
    about: str = ""
    suffix: str = ""
    line: Line | None = None
    audience: Audience = "judge"
    goes_out: Literal["", "releases", "results"] = ""
    group: Literal["", "city", "results"] = ""
    offered: bool = False
    of_data: bool = False
    telling: bool = False
    paper: bool = False
    uploaded: bool = False

    @property
    def file(self) -> str:
        """The name of the file where a round has one of the kind."""
        return f"{self.name}{self.suffix}"


def _line(prefix: str, example: str, about: str) -> Line:
    """A line of traces or of an ID table; the columns are those of readers and writers."""
    return Line(",".join(LAYOUTS[PREFIXES[prefix]].header), example, about)


FILE_KINDS = (
    FileKind(
        "reftraces",
        _("reference traces: older days that attackers know"),
        _("Reference traces: where each user was on the days before."),
        suffix=CONTAINER,
        line=_line("reftraces", "1,1,512", _("where a user was at a time, on the days before")),
        audience="team",
        goes_out="releases",
        of_data=True,
    ),
    FileKind(
        "orgtraces",
        _("original traces: what you have to protect"),
        _("Original traces: what the team has to protect."),
        suffix=CONTAINER,
        line=_line(
            "orgtraces", "1,401,512", _("where a user was at a time; only the team knows it")
        ),
        audience="team",
        of_data=True,
    ),
    FileKind(
        "anotraces",
        _("obfuscated traces as handed in"),
        _("Obfuscated traces, before the shuffle."),
        suffix=CONTAINER,
        line=_line(
            "anotraces",
            "512 513",
            _(
                "obfuscated region of the same line of the original traces: one region, several "
                "separated by single spaces, or * where it was deleted"
            ),
        ),
    ),
    FileKind(
        "pubtraces",
        _("released traces under pseudonyms"),
        _("A release: obfuscated traces under pseudonyms."),
        suffix=CONTAINER,
        line=_line("pubtraces", "2001,401,512 513", _("the same under a pseudonym, shuffled")),
        goes_out="releases",
        of_data=True,
    ),
    FileKind(
        "ptable",
        _("ID table: which user is behind which pseudonym"),
        _("The ID table: which pseudonym is which user."),
        suffix=CONTAINER,
        line=_line("ptable", "2001,7", _("which user is behind a pseudonym")),
        of_data=True,
    ),
    FileKind(
        "etable",
        _("answer: inferred ID table"),
        suffix=CONTAINER,
        line=_line(
            "etable",
            "7",
            _("answer to re-identification: the user behind each pseudonym, in their order"),
        ),
    ),
    FileKind(
        "etraces",
        _("answer: inferred traces"),
        suffix=CONTAINER,
        line=_line(
            "etraces",
            "512",
            _(
                "answer to trace inference: one region per line, in the order of the original "
                "traces"
            ),
        ),
    ),
    FileKind(
        "info_region",
        _("the regions of the city with their hospitals"),
        _("The city: every region with its centre, and the hospitals."),
        suffix=".csv",
        line=Line(
            ",".join(REGION_HEADER),
            "1,1,1,35.0015625,-149.998125,0",
            _("a region of the city, its centre, and 1 where there is a hospital"),
        ),
        audience="all",
        group="city",
        of_data=True,
    ),
    FileKind(
        "info_time",
        _("the times of the traces"),
        _("The clock: day and time of every event."),
        suffix=".csv",
        line=Line(",".join(TIME_HEADER), "ref,1,1,8,0", _("day and time of an event")),
        audience="all",
        group="city",
        of_data=True,
    ),
    FileKind(
        "opening",
        _("opening of a commitment"),
        _("The opening of a commitment: check it yourself."),
        suffix=".txt",
        goes_out="results",
        group="results",
    ),
    FileKind(
        "archive",
        _("the whole contest; checked with tracecup contest verify"),
        _("The whole contest in one archive."),
        suffix=".zip",
        goes_out="results",
        group="results",
        offered=True,
        telling=True,
        paper=True,
    ),
    FileKind(
        "report",
        _("the report: one page with all charts"),
        _("The report: one page with all charts."),
        suffix=".html",
        audience="all",
        goes_out="results",
        group="results",
        offered=True,
        telling=True,
        paper=True,
    ),
    FileKind(
        "results",
        _("tables and score sheets of the results"),
        _("A table of the results."),
        audience="all",
        goes_out="results",
        group="results",
        offered=True,
        telling=True,
    ),
    FileKind(
        "commitments",
        _("what the judge promised at publication, as hashes"),
        _("What the judge promised at publication, as hashes."),
        suffix=".json",
        audience="all",
        goes_out="releases",
        group="results",
    ),
    FileKind(
        "scores",
        _("tables of scores"),
        _("The scores as a table."),
        group="results",
        telling=True,
        paper=True,
    ),
    FileKind("city", _("the table of regions (info_region.csv)"), uploaded=True),
    FileKind("model", _("the model of its people (tracecup train)"), uploaded=True),
)
KIND_OF_FILE = {one.name: one for one in FILE_KINDS}

DATA_FILES = tuple(one.name for one in FILE_KINDS if one.of_data)
"""What is made with the data."""
SHARED_FILES = tuple(one.name for one in FILE_KINDS if one.group == "city")
"""What is made with the data once for all teams: the city and the clock."""
TRUTH = tuple(name for name in DATA_FILES if name not in SHARED_FILES)
"""What the judge holds of a data set; of a sample team, everybody."""
TEAM_FILES = tuple(one.name for one in FILE_KINDS if one.audience == "team")
"""What a team gets of its own data set."""
RELEASED = tuple(name for name in TRUTH if KIND_OF_FILE[name].goes_out == "releases")
"""What attackers get of a data set when releases are published."""
OF_RESULTS = tuple(one.name for one in FILE_KINDS if one.goes_out == "results")
"""What goes out with the results, and is taken back with them."""
OFFERED = tuple(one.name for one in FILE_KINDS if one.offered)
"""What the page of results offers."""
TELLING = tuple(one.name for one in FILE_KINDS if one.telling)
"""What tells scores."""
JUDGES_PAPERS = tuple(one.name for one in FILE_KINDS if one.paper)
"""What organisers may read while it is the judge's."""
CITY_FILES = tuple(one.name for one in FILE_KINDS if one.uploaded)
"""What organisers give for a city of their own."""
