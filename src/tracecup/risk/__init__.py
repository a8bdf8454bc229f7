"""Risk of single users: how few people fit what an attacker may know of each of them.

Between scores and attacks: nothing is guessed here, only counted.
"""

from tracecup.risk.homes import HomesFound, HomeWork, home_work_risk, homes_found
from tracecup.risk.measures import KINDS, PointsRisk, Unicity, known_points_risk, unicity

__all__ = [
    "KINDS",
    "HomeWork",
    "HomesFound",
    "PointsRisk",
    "Unicity",
    "home_work_risk",
    "homes_found",
    "known_points_risk",
    "unicity",
]
