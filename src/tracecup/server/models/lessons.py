"""How far the teams of a class are: one row for each step of a lesson that a team has tried.

Practice data are made from a seed whenever they are asked for; only the generation is kept.
"""

from __future__ import annotations

from django.db import models

from tracecup.server.models.contests import Contest, Team


class Classroom(models.Model):
    """The lessons of a contest; a reset begins a new generation with other practice data."""

    contest = models.OneToOneField(Contest, on_delete=models.CASCADE, related_name="classroom")
    generation = models.PositiveIntegerField(default=0)
    reset_at = models.DateTimeField(null=True, blank=True)


class LessonProgress(models.Model):
    """One step of a lesson and one team: how often tried, what came out last, when it was met."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="lesson_progress")
    lesson = models.CharField(max_length=30)
    step = models.CharField(max_length=30)
    tries = models.PositiveIntegerField(default=0)
    last = models.JSONField(default=dict)
    last_at = models.DateTimeField()
    passed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "lesson", "step"], name="lesson_step_once")
        ]
        ordering = ["team", "lesson", "step"]
