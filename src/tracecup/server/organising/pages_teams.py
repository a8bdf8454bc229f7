"""What the organisers' page of teams can do: lists, links, status, extensions, corrections.

Secrets (links) are shown once, on the page that answers.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from tracecup.server.errors import not_found
from tracecup.server.models import Extension
from tracecup.server.organising import contests, forms
from tracecup.server.organising.acts import Act, Done, Values
from tracecup.server.people import letters
from tracecup.server.people.links import link_by_number, new_link, revoke_link
from tracecup.server.people.membership import (
    remove_member,
)
from tracecup.server.teams.registration import change_team, create_team
from tracecup.server.teams.teamlist import apply_csv, invitations_csv, plan_csv
from tracecup.server.web.context import Place


def _csv_check(place: Place, v: Values, site: str) -> Done:
    return Done("", {"plan": plan_csv(place.contest, v["text"])})


def _csv_apply(place: Place, v: Values, site: str) -> Done:
    made = apply_csv(place.contest, plan_csv(place.contest, v["text"]), place.actor)
    sent = letters.invite_all(made, site) if v["mail"] else 0
    shown = {"invitations": made, "invitations_csv": invitations_csv(made, site), "site": site}
    said = _("%(links)d links were made, %(sent)d sent. They are shown once: keep them now.")
    return Done(said % {"links": len(made), "sent": sent}, shown)


def _team(place: Place, v: Values, site: str) -> Done:
    made = create_team(
        place.contest,
        v["name"],
        place.actor,
        division=v["division"],
        hors_concours=v["hors_concours"],
    )
    return Done(_("Team %(number)d was made.") % {"number": made.number})


def _link(place: Place, v: Values, site: str) -> Done:
    team = forms.chosen_team(place, v["team"])
    secret = new_link("member", place.actor, team=team, name=v["name"], email=v["email"])
    if v["mail"] and v["email"]:
        letters.invite(team, v["name"], v["email"], f"/link/{secret}/", site)
    return Done(_("This link works once and is shown once."), {"link": f"{site}/link/{secret}/"})


def _organiser(place: Place, v: Values, site: str) -> Done:
    secret = new_link(
        "organiser", place.actor, contest=place.contest, name=v["name"], email=v["email"]
    )
    if v["mail"] and v["email"]:
        letters.invite_organiser(place.contest, v["name"], v["email"], f"/link/{secret}/", site)
    return Done(_("This link works once and is shown once."), {"link": f"{site}/link/{secret}/"})


def _revoke_link(place: Place, v: Values, site: str) -> Done:
    revoke_link(link_by_number(place.contest, v["id"]), place.actor)
    return Done(_("The link no longer works."))


def _status(place: Place, v: Values, site: str) -> Done:
    contests.set_status(forms.chosen_team(place, v["team"]), v["status"], v["why"], place.actor)
    return Done(_("The team's status was changed; it can be changed back in the same way."))


def _extend(place: Place, v: Values, site: str) -> Done:
    contests.extend(
        forms.chosen_team(place, v["team"]),
        place.require_round(),
        v["phase"],
        place.actor,
        until=v["until"],
        extra_tries=v["extra_tries"] or 0,
        reason=v["why"],
    )
    return Done(_("Extended for this team; the judge waits for it."))


def _take_back(place: Place, v: Values, site: str) -> Done:
    found = Extension.objects.filter(team__contest=place.contest, pk=v["id"]).first()
    if found is None:
        raise not_found("extension")
    contests.take_back_extension(found, place.actor, v["why"])
    return Done(_("The extension was taken back."))


def _change(place: Place, v: Values, site: str) -> Done:
    team = forms.chosen_team(place, v["team"])
    division = None if v["division"] == forms.AS_IT_IS else v["division"]
    change_team(team, place.actor, name=v["name"] or None, division=division)
    return Done(_("Saved."))


def _delete_team(place: Place, v: Values, site: str) -> Done:
    contests.delete_team(forms.chosen_team(place, v["team"]), place.actor, v["why"])
    return Done(_("The team is deleted; it can be brought back below."))


def _undelete_team(place: Place, v: Values, site: str) -> Done:
    found = place.contest.teams.filter(number=v["id"]).first()
    if found is None:
        raise not_found("team")
    contests.undelete_team(found, place.actor)
    return Done(_("The team is back."))


def _remove_member(place: Place, v: Values, site: str) -> Done:
    team = forms.chosen_team(place, str(v["team"]))
    member = team.members.filter(person=v["person"]).first()
    if member is None:
        raise not_found("member")
    remove_member(team, member.person, place.actor)
    return Done(_("She is no longer in the team; its join code has changed."))


TEAMS = {
    "csv_check": Act(forms.CsvForm, _csv_check),
    "csv_apply": Act(forms.CsvForm, _csv_apply),
    "team": Act(forms.TeamForm, _team),
    "link": Act(forms.LinkForm, _link),
    "organiser": Act(forms.OrganiserForm, _organiser),
    "revoke_link": Act(forms.NumberForm, _revoke_link),
    "change": Act(forms.ChangeTeamForm, _change),
    "delete_team": Act(forms.TeamWhyForm, _delete_team),
    "undelete_team": Act(forms.NumberForm, _undelete_team),
    "remove_member": Act(forms.MemberForm, _remove_member),
    "status": Act(forms.StatusForm, _status),
    "extend": Act(forms.ExtendForm, _extend),
    "take_back": Act(forms.NumberWhyForm, _take_back),
}
