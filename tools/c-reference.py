#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference of docs/c.md from the comments of include/weft/weft.h.

c-reference.py           writes it
c-reference.py --check   fails if it is not what the header says
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include/weft/weft.h"
PAGE = ROOT / "docs/c.md"
MARK = "<!-- From here on: tools/c-reference.py, from include/weft/weft.h. -->\n"


def prose(comment):
    """The text of a comment as Markdown; paragraphs stay apart."""
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment.strip().splitlines()]
    text = "\n".join(lines).strip()
    # Names with an asterisk, and formulas with angle brackets, are not markup; what is in backquotes is code already.
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<])", r"\\\1", part) for part in parts)


def is_section(text):
    return text.startswith("# ")


def reference(header):
    body = header[header.index("/** # Rules"):header.index("/* clang-format on")]
    body = body.replace("/* clang-format off: a line for each set of names */\n", "")
    page, code = [], []

    def flush():
        if code:
            page.append("```c\n" + "\n".join(code) + "\n```")
            code.clear()

    # Comments that stand for themselves begin a line; those within a struct belong to its members.
    for comment, declarations in re.findall(r"^/\*\*(.*?)\*/\n(.*?)(?=^/\*\*|\Z)", body, flags=re.S | re.M):
        flush()
        text = prose(comment)
        if is_section(text):
            title, _, rest = text.partition("\n")
            page.append("#" + title)
            text = rest.strip()
        if text:
            page.append(text)
        declarations = re.sub(r"\s*/\*\*< (.*?) \*/", r"  // \1", declarations)
        code.extend(line for line in declarations.splitlines() if line.strip())
    flush()
    return "\n\n".join(page) + "\n"


def main():
    page = PAGE.read_text()
    head, mark, _ = page.partition(MARK)
    if not mark:
        sys.exit(f"{PAGE} has no line {MARK!r}")
    made = head + MARK + "\n" + reference(HEADER.read_text())
    if "--check" not in sys.argv:
        PAGE.write_text(made)
    elif made != page:
        sys.exit("docs/c.md is not what include/weft/weft.h says: run tools/c-reference.py")


if __name__ == "__main__":
    main()
