# SPDX-License-Identifier: MIT
"""The text of a C header as comments, directives and declarations: which comment belongs to what.

The rules are those for `doc` at the top of api.py. The text is not parsed any further: what a declaration
means is clang's matter.
"""
import os
import re
from collections import namedtuple

COMMENT, DIRECTIVE, DECLARATION = "comment", "directive", "declaration"
# blank: an empty line is above; trailing: a comment on the line where the item before it ends.
Item = namedtuple("Item", "kind start end blank trailing")


def end_of_comment(text, at):
    """Where the comment at `at` ends, or None where there is none."""
    if text.startswith("/*", at):
        return text.index("*/", at) + 2
    if text.startswith("//", at):
        return text.index("\n", at)
    return None


def end_of_declaration(text, at, end, terminator):
    """Behind the terminator outside of all brackets, or behind the body of a function."""
    depth, parameters = 0, False
    while at < end:
        behind = end_of_comment(text, at)
        if behind is not None:
            if depth == 0 and terminator == "," and not re.sub(r"/\*.*?\*/", "", text[at:end], flags=re.S).strip():
                return len(text[:at].rstrip())  # the last enumerator, without a comma
            at = behind
            continue
        char = text[at]
        at += 1
        if char in "({[":
            depth += 1
        elif char in ")}]":
            depth -= 1
            parameters = parameters or (char == ")" and depth == 0)
        if depth == 0 and (char == terminator or (char == "}" and parameters)):
            return at
    return end


def scan(text, at, end, terminator):
    """Divides text into comments, directives and declarations."""
    items = []
    while True:
        space = re.compile(r"\s*").match(text, at, end).group()
        at += len(space)
        if at >= end:
            return items
        trailing = False
        behind = end_of_comment(text, at)
        if behind is not None:
            kind, trailing = COMMENT, bool(items) and "\n" not in space
        elif text[at] == "#":
            kind, behind = DIRECTIVE, re.compile(r"(?:\\\n|[^\n])*").match(text, at, end).end()
        else:
            kind, behind = DECLARATION, end_of_declaration(text, at, end, terminator)
        items.append(Item(kind, at, behind, space.count("\n") > 1, trailing))
        at = behind


def comment_text(text, item):
    """What a comment says: its lines without the stars and the indentation."""
    body = re.sub(r"^/[*/]+|\*+/$", "", text[item.start:item.end])
    lines = [re.sub(r"^[ \t]*\* ?|[ \t\\]+$", "", line) for line in body.split("\n")]
    lines[0] = lines[0].lstrip()
    return "\n".join(lines).strip().encode("latin-1").decode("utf-8")


def section_title(text, item):
    """The title of a comment that divides a header, or None."""
    found = re.match(r"/\* -{3,} (.*?) -{3,}", text[item.start:item.end])
    return found.group(1).encode("latin-1").decode("utf-8") if found else None


def is_shared_with_next(text, item):
    return item.kind == DECLARATION or text.startswith("#define", item.start)


def leading_doc(text, items, index, shares):
    if items[index].blank or index == 0:
        return ""
    above = items[index - 1]
    if above.kind == COMMENT and not above.trailing:
        return "" if section_title(text, above) else comment_text(text, above)
    if not shares:
        return ""
    if above.trailing:
        above = items[index - 2]
        index -= 1
    return leading_doc(text, items, index - 1, shares) if is_shared_with_next(text, above) else ""


def doc_of(text, items, index, shares=True):
    """The comments of one item: above it, and behind it."""
    behind = items[index + 1] if index + 1 < len(items) else None
    trailing = comment_text(text, behind) if behind and behind.trailing else ""
    leading = leading_doc(text, items, index, shares and not trailing)
    return "\n".join(part for part in (leading, trailing) if part)


class Header:
    """One public header. Offsets are bytes, as clang counts them: each is one character here."""

    def __init__(self, include, name):
        self.name = name
        with open(os.path.join(include, name), encoding="latin-1") as file:
            self.text = file.read()
        blanked = lambda found: re.sub(r"[^\n]", " ", found.group())
        self.text = re.sub(r"#ifdef __cplusplus\n.*?#endif", blanked, self.text, flags=re.S)
        # Items are separated at line ends; a continued line is one for directives alone.
        self.flat = self.text.replace("\\\n", " \n")
        self.items = scan(self.text, 0, len(self.text), ";")

    def item_at(self, offset):
        return next(i for i, item in enumerate(self.items) if item.start <= offset < item.end)

    def code(self, index):
        """The text of an item without comments."""
        item = self.items[index]
        return re.sub(r"/\*.*?\*/", " ", self.text[item.start:item.end], flags=re.S)

    def doc(self, index):
        item = self.items[index]
        behind = re.search(r"/\*[^\n]*\*/$", self.text[item.start:item.end]) if item.kind == DIRECTIVE else None
        if behind:
            return comment_text(behind.group(), Item(COMMENT, 0, len(behind.group()), False, True))
        return doc_of(self.text, self.items, index)

    def section(self, index):
        titles = (section_title(self.text, item) for item in self.items[index::-1] if item.kind == COMMENT)
        return next((title for title in titles if title), "")

    def describe(self):
        """The comment at the top, and of each section what stands in it alone, such as rules."""
        top, sections = "", []
        for index, item in enumerate(self.items):
            if item.kind != COMMENT or item.trailing:
                continue
            title = section_title(self.text, item)
            below = self.items[index + 1] if index + 1 < len(self.items) else None
            if title is not None:
                sections.append({"title": title, "doc": ""})
                words = comment_text(self.text, item).partition("\n")[2].strip()
            elif below and not below.blank and below.kind != COMMENT and is_shared_with_next(self.text, below):
                continue  # the comment of a declaration
            else:
                words = comment_text(self.text, item)
            if words.startswith("SPDX-"):
                continue
            if not sections:
                top = (top + "\n\n" + words).strip()
            else:
                sections[-1]["doc"] = (sections[-1]["doc"] + "\n\n" + words).strip()
        return {"name": self.name, "doc": top, "sections": sections}

    def macros(self):
        """(name, parameters or None, index of the item) of each #define."""
        for index, item in enumerate(self.items):
            found = re.match(r"#define (\w+)(?:\(([^)]*)\))?", self.text[item.start:item.end])
            if found and item.kind == DIRECTIVE:
                names = found.group(2)
                yield found.group(1), names and [n.strip() for n in names.split(",")], index
