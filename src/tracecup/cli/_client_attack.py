"""`tracecup client attack`: every target at once, from the download to the hand-in.

What was handed in before is not sent again: a command that was interrupted goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli._client_common import (
    Contest,
    Folder,
    Round,
    answering,
    data_folder,
    open_contest,
)
from tracecup.cli._client_hand_in import Wait, hand_in
from tracecup.cli.common import Json, Plugin, emit, people, progress, table_of

USUAL = ("Fuzzy-R(0.33,1,match=assignment)", "Fuzzy-T(0.33,1,0,match=assignment)")
ANSWERS = "answers.zip"


@answering
def attack(
    attacks: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="ATTACK",
            help="How to attack: a re-identification, a trace inference, or --with twice for both. "
            f"Without it {USUAL[0]} and {USUAL[1]}.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        list[int] | None,
        typer.Option(
            "--target",
            min=0,
            help="Only this team (0: the benchmark); may be repeated.",
            show_default=False,
        ),
    ] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="Only where we have no answer yet.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help=f"Zip of all answers; without it {ANSWERS} among the data."),
    ] = None,
    no_submit: Annotated[
        bool, typer.Option("--no-submit", help="Write the answers and hand nothing in.")
    ] = False,
    method: Annotated[
        str | None,
        typer.Option("--method", help="How it was made; without it the attacks' names."),
    ] = None,
    consent: Annotated[
        bool, typer.Option("--consent", help="Method and files may be published with the results.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all draws.")] = 1,
    wait: Wait = False,
    plugin: Plugin = None,
    folder: Folder = None,
    contest: Contest = None,
    round_name: Round = None,
    as_json: Json = False,
) -> int:
    """Attack every target and hand the answers in, in one go.

    Fetches what is missing of the releases, attacks each one for which a try is left, writes the
    answers as one zip, checks it here and sends it. Each accepted answer costs a try. If anything
    breaks off, run the same command again: what has arrived costs no second try.

    Exit code 0: every answer was accepted; 1: some were not, or the server refused.

    Example: `tracecup client attack --with VisitProb-R --with VisitProb-T --wait`
    """
    from tracecup.client.attacking import attack_targets
    from tracecup.client.naming import Meant
    from tracecup.front.naming import attacks_of

    chosen = attacks_of(attacks or USUAL)
    client = open_contest(contest, round_name)
    where = data_folder(client, folder)
    with progress("download") as advance:
        client.download(where, advance)
    archive = out or where / ANSWERS
    with progress("attacking") as advance:
        made = attack_targets(
            client,
            where,
            chosen,
            archive,
            seed=seed,
            missing=missing,
            teams=target or None,
            progress=advance,
        )
    names = ", ".join(str(one) for one in chosen)
    if no_submit:
        payload = {
            "attacks": [str(one) for one in chosen],
            "answers": list(made.answers),
            "out": str(archive),
        }
        rows = [("attacks", names), ("answers", str(len(made.answers))), ("file", str(archive))]
        emit(as_json, payload, table_of("Attacked", rows))
        people().print(f"Hand them in with tracecup client submit {archive}", soft_wrap=True)
        return 0
    return hand_in(
        client,
        archive,
        Meant("archive"),
        folder=where,
        method=names if method is None else method,
        consent=consent,
        wait=wait,
        as_json=as_json,
    )
