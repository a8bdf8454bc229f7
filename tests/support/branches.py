"""Is a template well formed, whatever is chosen in it? What is wrong with it, in words.

Its tree is walked with a reader of HTML: tags opened are closed in order, and every branch, round
of a loop, block and translation leaves open what it found open. Values count as no text.
"""

from __future__ import annotations

from copy import deepcopy
from html.parser import HTMLParser

from django.template.base import Node, NodeList, Template, TextNode, TokenType
from django.template.defaulttags import CommentNode, ForNode, IfNode
from django.template.loader_tags import BlockNode, ExtendsNode
from django.templatetags.i18n import BlockTranslateNode
from wellformed import VOID

BLOCKS = {
    *("address", "article", "aside", "blockquote", "details", "dialog", "div", "dl", "fieldset"),
    *("figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main"),
    *("nav", "ol", "p", "pre", "section", "table", "ul"),
}
"""No paragraph may hold these: browsers end it before."""

FOREIGN = {"math", "svg"}
"""In these a tag may end itself."""


class Reader(HTMLParser):
    """Follows the elements; `open` are those that are open, each with its line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag, _attributes):
        if tag in BLOCKS and "p" in self.open:
            self.wrong.append(f"<{tag}> inside of <p>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, _attributes):
        if tag not in VOID and not FOREIGN & {*self.open}:
            self.wrong.append(f"<{tag}/> is no tag of its own")

    def handle_endtag(self, tag):
        if tag in VOID:
            self.wrong.append(f"</{tag}> ends nothing")
        elif self.open[-1:] != [tag]:
            self.wrong.append(f"</{tag}> while {self.open[-1:]} is open")
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    @property
    def place(self) -> tuple[list[str], str]:
        """Open elements, and where in a tag the text has stopped: "", its name's or a quote's."""
        held = self.rawdata if self.rawdata.startswith("<") else ""
        quote = ""
        for letter in held:
            if letter in "\"'" and quote in ("", letter):
                quote = "" if quote else letter
        return self.open, held[:1] + quote


class Walk:
    """One template, branch by branch."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def whole(self, template: Template) -> None:
        """A template, or each block of one that extends another."""
        for node in template.nodelist:
            if isinstance(node, ExtendsNode):
                for block in node.blocks.values():
                    self.own(block.nodelist, f"block {block.name}")
                return
        self.own(template.nodelist, "the template")

    def own(self, nodes: NodeList, name: str) -> None:
        """Something that begins and ends with nothing open."""
        reader = Reader()
        self.nodes(nodes, reader)
        reader.close()
        self.wrong += reader.wrong
        self.wrong += [f"<{tag}> is open at the end of {name}" for tag in reader.open]

    def nodes(self, nodes: NodeList, reader: Reader) -> None:
        for node in nodes:
            self.node(node, reader)

    def node(self, node: Node, reader: Reader) -> None:
        if isinstance(node, TextNode):
            reader.feed(node.s)
        elif isinstance(node, IfNode):
            for condition, nodes in node.conditions_nodelists:
                self.neutral(nodes, reader, f"if {condition}" if condition else "else")
        elif isinstance(node, ForNode):
            self.neutral(node.nodelist_loop, reader, f"for {' '.join(node.loopvars)}")
            self.neutral(node.nodelist_empty, reader, "empty")
        elif isinstance(node, BlockNode):
            self.neutral(node.nodelist, reader, f"block {node.name}")
        elif isinstance(node, BlockTranslateNode):
            for tokens in (node.singular, node.plural):
                texts = [one.contents for one in tokens if one.token_type == TokenType.TEXT]
                self.neutral(NodeList(map(TextNode, texts)), reader, "translation")
        elif not isinstance(node, CommentNode):
            for name in node.child_nodelists:
                self.neutral(getattr(node, name, None) or NodeList(), reader, type(node).__name__)

    def neutral(self, nodes: NodeList, reader: Reader, name: str) -> None:
        """Something that may be there or not, in the place where the reader is."""
        tried = deepcopy(reader)
        self.nodes(nodes, tried)
        self.wrong += tried.wrong[len(reader.wrong) :]
        if tried.place != reader.place:
            self.wrong.append(f"{name} begins in {reader.place} and ends in {tried.place}")


def faults(template: Template) -> list[str]:
    """Everything that is wrong with the structure of a template; nothing if all is well."""
    walk = Walk()
    walk.whole(template)
    return walk.wrong
