"""What the organisers' pages can do: each act has a form, a service, and a sentence afterwards.

Acts know no HTTP beyond the typed values of their form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from tracecup.contest.rules import PHASES
from tracecup.server.errors import not_found
from tracecup.server.models import Announcement, Appeal, Job
from tracecup.server.organising import contests, forms, repairs
from tracecup.server.organising.data_scores import result_set_of
from tracecup.server.organising.data_site import plan_row, require_staff
from tracecup.server.organising.data_teams import submission_of
from tracecup.server.organising.owncity import set_city_file
from tracecup.server.organising.rehearsal import rehearse
from tracecup.server.organising.rulechange import shown_span
from tracecup.server.organising.running import phase_ahead
from tracecup.server.web.context import Place


@dataclass(frozen=True)
class Done:
    """What an act says afterwards; what is `shown` is shown once, on this very page."""

    message: str
    shown: dict[str, Any] = field(default_factory=dict)
    goto: str = ""


Values = Mapping[str, Any]
Do = Callable[[Place, Values, str], Done]


@dataclass(frozen=True)
class Act:
    """A form and what it does; the last argument of `do` is the site's address."""

    form: type[forms.ActForm]
    do: Do


def _pause(place: Place, v: Values, site: str) -> Done:
    contests.pause(place.contest, place.actor, v["why"])
    return Done(_("The contest is paused."))


def _resume(place: Place, v: Values, site: str) -> Done:
    moved = contests.resume(place.contest, place.actor, v["why"], v["shift"])
    if not moved:
        return Done(_("The contest goes on; no deadline was moved."))
    return Done(
        _("The contest goes on; everything ahead was moved by %(span)s.")
        % {"span": shown_span(moved)}
    )


def _deadline(place: Place, v: Values, site: str) -> Done:
    contests.move_deadline(
        place.require_round(), v["phase"], v["until"], place.actor, v["why"], follow=v["follow"]
    )
    return Done(_("The deadline was moved. Tell the teams: announce it below."))


def _announce(place: Place, v: Values, site: str) -> Done:
    team = forms.chosen_team(place, v["team"]) if v["team"] else None
    contests.announce(place.contest, v["title"], v["text"], place.actor, team, mail=v["mail"])
    return Done(_("Announced."))


def _retract(place: Place, v: Values, site: str) -> Done:
    contests.retract_announcement(_announcement(place, v["id"]), place.actor, v["why"])
    return Done(_("Retracted; it can be restored below."))


def _restore(place: Place, v: Values, site: str) -> Done:
    contests.restore_announcement(_announcement(place, v["id"]), place.actor)
    return Done(_("The announcement is back."))


def _clock(place: Place, v: Values, site: str) -> Done:
    contests.move_clock(place.contest, 3600 * v["hours"], place.actor)
    return Done(_("The clock was moved."))


def _next_phase(place: Place, v: Values, site: str) -> Done:
    ahead = phase_ahead(place.require_round(), place.now)
    if ahead is None:
        return Done(_("No phase lies ahead."))
    seconds = (ahead[1] - place.now).total_seconds() + 1
    contests.move_clock(place.contest, seconds, place.actor)
    return Done(_("The clock was moved to the next phase."))


def _appeals(place: Place, v: Values, site: str) -> Done:
    contests.open_appeals(place.contest, v["until"], place.actor, v["why"])
    return Done(_("Appeals are open.") if v["until"] else _("Appeals are closed."))


def _answer(place: Place, v: Values, site: str) -> Done:
    found = Appeal.objects.filter(team__contest=place.contest, pk=v["id"]).first()
    if found is None:
        raise not_found("appeal")
    contests.answer_appeal(found, v["answer"], v["accepted"], place.actor)
    return Done(_("The team has your answer."))


def _retry(place: Place, v: Values, site: str) -> Done:
    found = Job.objects.filter(contest=place.contest, pk=v["id"]).first()
    if found is None:
        raise not_found("job")
    repairs.retry_job(found, place.actor, v["why"])
    return Done(_("The job is in the queue again."))


def _rehearse(place: Place, v: Values, site: str) -> Done:
    made = rehearse(place.contest, place.actor, teams=v["teams"], users=v["users"])
    return Done(
        _("The rehearsal %(name)s has begun; its state is shown below.") % {"name": made.slug}
    )


def _rerun(place: Place, v: Values, site: str) -> Done:
    repairs.rerun(_submission(place, v["ref"]), place.actor, v["why"])
    return Done(_("It is scored again; the team loses no try."))


def _withdraw(place: Place, v: Values, site: str) -> Done:
    repairs.withdraw(_submission(place, v["ref"]), place.actor, v["why"])
    return Done(_("Withdrawn; it can be restored."))


def _unwithdraw(place: Place, v: Values, site: str) -> Done:
    repairs.restore(_submission(place, v["ref"]), place.actor, v["why"])
    return Done(_("The submission counts again."))


def _publish(place: Place, v: Values, site: str) -> Done:
    repairs.publish_now(place.require_round(), place.actor, v["why"])
    return Done(_("The releases are published; attacks may begin when their phase is open."))


def _auto_publish(place: Place, v: Values, site: str) -> Done:
    contests.set_auto_publish(place.require_round(), v["on"], place.actor, v["why"])
    return Done(
        _("Releases are published by themselves at the instant.")
        if v["on"]
        else _("Releases wait until an organiser publishes them.")
    )


def _auto_results(place: Place, v: Values, site: str) -> Done:
    contests.set_auto_results(place.require_round(), v["on"], place.actor, v["why"])
    return Done(
        _("The first results are published by themselves.")
        if v["on"]
        else _("Results wait until an organiser publishes them.")
    )


def _rescore(place: Place, v: Values, site: str) -> Done:
    repairs.ask_results(place.require_round(), place.actor, v["why"])
    return Done(_("A new result set is being computed; it will be a draft."))


def _release(place: Place, v: Values, site: str) -> Done:
    found = result_set_of(place.require_round(), v["id"])
    repairs.publish_results(found, place.actor, v["why"])
    return Done(_("Results are public."))


def _archive(place: Place, v: Values, site: str) -> Done:
    contests.open_archive(place.require_round(), v["on"], place.actor, v["why"])
    return Done(
        _("Everybody may fetch the archive.") if v["on"] else _("The archive is closed again.")
    )


def _freeze(place: Place, v: Values, site: str) -> Done:
    contests.freeze(place.require_round(), v["on"], place.actor, v["why"])
    return Done(
        _("Boards are frozen: pages, API and exports.") if v["on"] else _("Boards are shown again.")
    )


def _rules_check(place: Place, v: Values, site: str) -> Done:
    return Done("", {"plan": plan_row(contests.plan_rules(place.contest, v["text"]))})


def _rules_save(place: Place, v: Values, site: str) -> Done:
    contests.change_rules(place.contest, v["text"], place.actor, v["why"], v["version"])
    return Done(_("The rules were changed. The text before is in the list below."))


def _phases(place: Place, v: Values, site: str) -> Done:
    instants = {phase: v[phase] for phase in PHASES}
    contests.set_phases(place.require_round(), instants, place.actor, v["why"])
    return Done(_("The phases have their times."))


def _details(place: Place, v: Values, site: str) -> Done:
    contests.set_details(
        place.contest,
        place.actor,
        is_public=v["is_public"],
        join_open=v["join_open"],
        divisions=v["divisions"].splitlines(),
    )
    return Done(_("Saved."))


def _city(place: Place, v: Values, site: str) -> Done:
    set_city_file(place.contest, v["kind"], v["file"], place.actor, v["why"])
    return Done(_("The file is kept; all data are made anew."))


def _clone(place: Place, v: Values, site: str) -> Done:
    require_staff(place.role.person)
    made = contests.clone_contest(
        place.contest,
        place.actor,
        name=v["name"],
        slug=v["slug"],
        starts=v["starts"],
        with_teams=v["with_teams"],
    )
    return Done(_("The contest was cloned; this is the new one."), goto=made.slug)


def _delete(place: Place, v: Values, site: str) -> Done:
    contests.delete(place.contest, place.actor, v["why"])
    return Done(_("The contest is deleted; “New contest” can bring it back."), goto="/")


def _forget(place: Place, v: Values, site: str) -> Done:
    count = repairs.forget_people(place.contest, place.actor, v["why"])
    return Done(_("%(count)d accounts were erased; this cannot be undone.") % {"count": count})


def _backup(place: Place, v: Values, site: str) -> Done:
    require_staff(place.role.person)
    repairs.ask_backup(place.actor)
    return Done(_("A backup is being made; it will be in the list."))


def _announcement(place: Place, number: int) -> Announcement:
    found = Announcement.objects.filter(contest=place.contest, pk=number).first()
    if found is None:
        raise not_found("announcement")
    return found


def _submission(place: Place, ref: str) -> Any:
    return submission_of(place.role, ref)


RUN = {
    "pause": Act(forms.WhyForm, _pause),
    "resume": Act(forms.ResumeForm, _resume),
    "deadline": Act(forms.DeadlineForm, _deadline),
    "announce": Act(forms.AnnounceForm, _announce),
    "retract": Act(forms.NumberWhyForm, _retract),
    "restore": Act(forms.NumberForm, _restore),
    "clock": Act(forms.ClockForm, _clock),
    "next_phase": Act(forms.NoForm, _next_phase),
    "appeals": Act(forms.AppealsForm, _appeals),
    "answer": Act(forms.AnswerForm, _answer),
    "retry": Act(forms.NumberWhyForm, _retry),
    "rehearse": Act(forms.RehearseForm, _rehearse),
}
SUBMISSIONS = {
    "rerun": Act(forms.RefForm, _rerun),
    "withdraw": Act(forms.RefForm, _withdraw),
    "unwithdraw": Act(forms.RefForm, _unwithdraw),
}
JUDGE = {
    "publish": Act(forms.WhyForm, _publish),
    "auto_publish": Act(forms.FlagForm, _auto_publish),
}
SCORES = {
    "rescore": Act(forms.WhyForm, _rescore),
    "auto_results": Act(forms.FlagForm, _auto_results),
    "release": Act(forms.NumberWhyForm, _release),
    "freeze": Act(forms.FlagForm, _freeze),
    "archive": Act(forms.FlagForm, _archive),
}
SETTINGS = {
    "rules_check": Act(forms.RulesForm, _rules_check),
    "rules_save": Act(forms.RulesForm, _rules_save),
    "phases": Act(forms.PhasesForm, _phases),
    "details": Act(forms.DetailsForm, _details),
    "city": Act(forms.CityForm, _city),
    "clone": Act(forms.CloneForm, _clone),
    "delete": Act(forms.WhyForm, _delete),
    "forget": Act(forms.WhyForm, _forget),
}
BACKUP = {"backup": Act(forms.NoForm, _backup)}
