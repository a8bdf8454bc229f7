"""Requests that the document allows and requests that it does not: no answer breaks its promise.

Every operation gets a bounded number of generated cases over WSGI, the same ones in every run.
"""

from __future__ import annotations

import json

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tally import tally

from tracecup.server.access import SYSTEM
from tracecup.server.api import (
    document_text,
)
from tracecup.server.people.tokens import new_token
from tracecup.server.wsgi import application

EXAMPLES = 4
ROLES = ("nobody", "member", "organiser")


def served(environ, start_response):
    """The server, its answer closed at once as a web server does."""
    response = application(environ, start_response)
    try:
        return [b"".join(response)]
    finally:
        response.close()


SCHEMA = schemathesis.openapi.from_dict(json.loads(document_text()))
SCHEMA.app = served
OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
REAL = {"slug": "spring", "number": 1, "round": "final", "person": 1, "name": "info_region.csv"}


@pytest.fixture(autouse=True)
def one_connection():
    """The test's transaction spans all its requests, so they must not close its connection."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def headers(member, organiser, final):
    """What each role sends along."""
    held = {"member": member, "organiser": organiser}
    tokens = {name: new_token(person, "laptop", 30, SYSTEM)[1] for name, person in held.items()}
    return {"nobody": {}} | {
        name: {"Authorization": f"Bearer {secret}"} for name, secret in tokens.items()
    }


@pytest.mark.django_db
@pytest.mark.parametrize("label", sorted(OPERATIONS))
class TestOperations:
    def run(self, label: str, headers, mode: GenerationMode) -> None:
        operation = OPERATIONS[label]

        @settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(
            operation.as_strategy(generation_mode=mode),
            st.sampled_from(ROLES),
            st.lists(st.booleans(), min_size=4, max_size=4),
        )
        def check(case, role, real):
            # Half of the time what a path names is there, so that more than "not found" is met.
            for (name, _), there in zip(list(case.path_parameters.items()), real, strict=False):
                if there and name in REAL:
                    case.path_parameters[name] = REAL[name]
            tally("generated requests to the API")
            response = case.call(headers=headers[role])
            case.validate_response(response, checks=CHECKS, headers=headers[role])

        try:
            check()
        except Unsatisfiable:
            pytest.skip("skipped: nothing in a request to this address can be wrong")

    def test_what_the_document_allows(self, label, headers, at):
        at("attack")
        self.run(label, headers, GenerationMode.POSITIVE)

    def test_what_it_does_not_allow(self, label, headers, at):
        at("anonymize")
        self.run(label, headers, GenerationMode.NEGATIVE)
