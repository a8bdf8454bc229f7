"""Is a page well formed, and does it keep to the site's rules? What is wrong with it, in words."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "img", "hr", "rect", "path", "circle"}
URLS = ("href", "src", "action", "hx-get", "hx-post")
NAMED = ("aria-label", "aria-labelledby")


class _Page(HTMLParser):
    """Follows the elements of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.ids: set[str] = set()
        self.labels: set[str] = set()
        self.fields: list[tuple[str, dict[str, str]]] = []
        self.said: list[str] = []
        self.in_label = 0

    def handle_startendtag(self, tag, attributes):
        self._look(tag, dict(attributes))

    def handle_starttag(self, tag, attributes):
        held = {name: value or "" for name, value in attributes}
        self._look(tag, held)
        if tag not in VOID:
            self.open.append(tag)
        self.in_label += tag == "label"

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> while {self.open[-1:]} is open, line {self.getpos()[0]}")
        while self.open and self.open.pop() != tag:
            pass
        self.in_label -= tag == "label"

    def _look(self, tag, held):
        if held.get("id"):
            if held["id"] in self.ids:
                self.wrong.append(f"two elements are called {held['id']}")
            self.ids.add(held["id"])
        if tag == "label" and held.get("for"):
            self.labels.add(held["for"])
        for name, value in held.items():
            if name == "style" or name.startswith("on"):
                self.wrong.append(f"<{tag} {name}=...> is against the security policy")
            if name in URLS and value and value.startswith(("http:", "https:", "//")):
                self.wrong.append(f"<{tag}> leads outside: {value}")
        if tag == "script" and "src" not in held and held.get("type") != "application/json":
            self.wrong.append("a script in the page")
        if tag == "style":
            self.wrong.append("a style sheet in the page")
        if tag == "img" and "alt" not in held:
            self.wrong.append("a picture without a text")
        if tag in ("input", "select", "textarea") and held.get("type") not in ("hidden", "submit"):
            self.fields.append((tag, {**held, "wrapped": "yes" if self.in_label else ""}))


def complaints(html: str) -> list[str]:
    """Everything that is wrong with a page; nothing if all is well."""
    page = _Page()
    page.feed(html)
    page.close()
    wrong = page.wrong + [f"<{tag}> is never closed" for tag in page.open]
    for tag, held in page.fields:
        named = held["wrapped"] or held.get("id") in page.labels or any(map(held.get, NAMED))
        if not named:
            wrong.append(f"a {tag} without a label: {held.get('name')}")
    if html.count("<h1") != 1:
        wrong.append(f"{html.count('<h1')} first headings")
    return wrong
