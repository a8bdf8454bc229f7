"""Pages for everybody: contests, one contest, its results, lessons, receipts.

Each renders what `services.pagedata` returns, as the API does.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.i18n import set_language


def home(request: HttpRequest) -> HttpResponse:
    """What contests are there?"""
    return render(request, "server/public/home.html")


def learn(request: HttpRequest) -> HttpResponse:
    """Why are pseudonyms not enough?"""
    return render(request, "server/public/learn.html")


urlpatterns = [
    path("", home, name="home"),
    path("learn/", learn, name="learn"),
    path("language/", set_language, name="language"),
]
