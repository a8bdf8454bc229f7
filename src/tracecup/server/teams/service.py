"""Teams: creation, names and divisions, lists of many, join codes, captains, members.

The parts are in `registration`, `teamlist` and `members`; everybody else asks here.
"""

from __future__ import annotations

from tracecup.server.teams.members import (
    add_member,
    join,
    may_manage,
    new_code,
    remove_member,
    remove_organiser,
    require_manager,
    set_captain,
    team_of_code,
)
from tracecup.server.teams.registration import (
    about_team,
    change_team,
    create_team,
    join_with_new_account,
    register_team,
    register_with_new_account,
    registration_open,
    team_by_number,
)
from tracecup.server.teams.teamlist import (
    Invitation,
    PlannedRow,
    TeamPlan,
    apply_csv,
    invitations_csv,
    plan_csv,
)

__all__ = [
    "Invitation",
    "PlannedRow",
    "TeamPlan",
    "about_team",
    "add_member",
    "apply_csv",
    "change_team",
    "create_team",
    "invitations_csv",
    "join",
    "join_with_new_account",
    "may_manage",
    "new_code",
    "plan_csv",
    "register_team",
    "register_with_new_account",
    "registration_open",
    "remove_member",
    "remove_organiser",
    "require_manager",
    "set_captain",
    "team_by_number",
    "team_of_code",
]
