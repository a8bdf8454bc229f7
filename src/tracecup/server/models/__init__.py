"""The tables of the server: people, contests, files, submissions, jobs, results, the log.

Rows hold facts; what may be done with them is decided in `windows` and `services`.
"""

from tracecup.server.models.clock import ClockWatch
from tracecup.server.models.contests import (
    Announcement,
    Appeal,
    Contest,
    Extension,
    FormerMember,
    Member,
    Organiser,
    Question,
    Round,
    Team,
)
from tracecup.server.models.files import Download, StoredFile
from tracecup.server.models.jobs import Job, WorkerToken
from tracecup.server.models.lessons import Classroom, LessonProgress
from tracecup.server.models.log import LogEntry
from tracecup.server.models.people import ApiToken, LoginAttempt, OneTimeLink, Person, Visit
from tracecup.server.models.results import Release, ResultSet
from tracecup.server.models.submissions import Submission

__all__ = [
    "Announcement",
    "ApiToken",
    "Appeal",
    "Classroom",
    "ClockWatch",
    "Contest",
    "Download",
    "Extension",
    "FormerMember",
    "Job",
    "LessonProgress",
    "LogEntry",
    "LoginAttempt",
    "Member",
    "OneTimeLink",
    "Organiser",
    "Person",
    "Question",
    "Release",
    "ResultSet",
    "Round",
    "StoredFile",
    "Submission",
    "Team",
    "Visit",
    "WorkerToken",
]
