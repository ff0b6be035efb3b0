#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doc_numbers.py PAGE...: pages carry ideas, bench/results carries figures.

Prints for each page its words, its numbers and its tables of results, and exits with 1 where a page has more than
MOST_NUMBERS numbers per 100 words, or more than one table of results.

- Text is what is left of a page without code (blocks and spans), formulas (indented by four), targets of links,
  numbers of list items, and tables of results.
- A word is what stands between blanks. A number is a word, or a part of one after a sign, that begins with a digit:
  12, 1,390, 0.5, 1e-15, 2^-40, 1997; not the 4 of d4.
- A table of results is one in which at least half of the cells that are not empty, apart from the first column,
  begin with a number.

docs/figures.md and docs/papers-measured.md, which are made of results, are not counted; docs/papers.md has one table per figure of a paper."""

import re
import sys

MOST_NUMBERS = 8  # per 100 words
ALL_RESULTS = ("docs/figures.md", "docs/papers-measured.md")
MANY_TABLES = ("docs/papers.md",)
NUMBER = re.compile(r"(?<![\w.])[-−]?\.?\d[\w.,:^⁻⁰¹²³⁴⁵⁶⁷⁸⁹−-]*")


def parts(text):
    """The lines outside of code, and the tables."""
    lines, tables, code, table = [], [], False, None
    for line in text.split("\n"):
        if line.startswith("```"):
            code = not code
            continue
        if not code and line.startswith("|"):
            if table is None:
                table = []
                tables.append(table)
            table.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            continue
        table = None
        if not code and not line.startswith("    "):
            lines.append(line)
    return lines, tables


def is_results(table):
    cells = [cell for row in table[2:] for cell in row[1:] if cell]
    return bool(cells) and 2 * sum(bool(re.match(r"[*<≤~+−-]*\s*\.?\d", c)) for c in cells) >= len(cells)


def plain(line):
    line = re.sub(r"`[^`]*`", "code", line)
    line = re.sub(r"\]\([^)]*\)", "]", line)
    return re.sub(r"^\s*\d+\. ", "", line)


def main():
    bad = False
    for page in sys.argv[1:]:
        if page in ALL_RESULTS:
            continue
        with open(page, encoding="utf-8") as file:
            lines, tables = parts(file.read())
        results = sum(map(is_results, tables))
        for table in tables:
            if not is_results(table):
                lines += [" ".join(row) for row in table[:1] + table[2:]]
        text = [plain(line) for line in lines]
        words = sum(len(line.split()) for line in text)
        numbers = sum(len(NUMBER.findall(line)) for line in text)
        rate = 100.0 * numbers / max(words, 1)
        complaint = ""
        if rate > MOST_NUMBERS:
            complaint = ": move figures to bench/results"
        elif results > 1 and page not in MANY_TABLES:
            complaint = ": keep one table of results, and move the others to bench/results"
        bad = bad or complaint != ""
        print("%s: %d numbers in %d words, %.1f per 100, %d tables of results%s"
              % (page, numbers, words, rate, results, complaint))
    sys.exit(1 if bad else 0)


main()
