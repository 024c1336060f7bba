#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes sources that compile the examples and the includes of the public headers.

header_examples.py check INCLUDE HEADER...             fails and names each header without an example
header_examples.py examples OUTPUT INCLUDE HEADER...   one function for each header that has an example
header_examples.py includes OUTPUT INCLUDE HEADER...   the system headers of all, then the headers themselves

HEADER is relative to INCLUDE. The head comment of a header has its example after a line `// Example:`, in lines that
begin with `//` and five spaces.
"""
import pathlib
import re
import sys

BETWEEN = "\n#include \"headers/widespread_macros.hpp\"\n\n"


def example(path):
    """The number of the first line of the example, and its lines."""
    lines, first = [], 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("//"):
            break
        if line == "// Example:":
            first = number + 1
        elif first and line.startswith("//     "):
            lines.append(line[7:])
        elif first and line == "//" and lines:
            lines.append("")
        elif first:
            break
    return first, lines


def check(include, headers):
    missing = [header for header in headers if not any(example(include / header)[1])]
    for header in missing:
        print(f"{header}: its head comment has no example")
    print(f"{len(headers) - len(missing)} of {len(headers)} headers have an example")
    return 1 if missing or not headers else 0


def examples(include, headers):
    includes = ["<cstdio>", "<string>", "<vector>", "<weft/weft.hpp>"] + [f"<{header}>" for header in headers]
    functions = []
    for header in headers:
        first, lines = example(include / header)
        includes += [line.split(None, 1)[1] for line in lines if line.startswith("#include ")]
        # An include is moved to the top; an empty line in its place keeps the line numbers right.
        body = "\n".join("" if line.startswith("#include ") else line for line in lines)
        if not body.strip():
            continue
        name = re.sub(r"\W", "_", header.removesuffix(".hpp"))
        functions.append(f'void example_of_{name}();\nvoid example_of_{name}() {{\n#line {first} "{include / header}"\n{body}\n}}\n')
    return "".join(f"#include {name}\n" for name in dict.fromkeys(includes)) + "\n" + "\n".join(functions)


def includes(include, headers):
    # All headers are read, because each of `headers` includes others; only headers of the list may need Vulkan or MPI.
    system = set()
    for header in sorted(include.rglob("weft/**/*.hpp")):
        for name in re.findall(r"^\s*#\s*include\s+<([^>]+)>", header.read_text(), re.MULTILINE):
            listed = str(header.relative_to(include)) in headers
            if not name.startswith("weft/") and (listed or not name.startswith(("vulkan/", "mpi.h"))):
                system.add(name)
    first = "".join(f"#include <{name}>\n" for name in sorted(system))
    return first + BETWEEN + "".join(f"#include <{header}>\n" for header in headers)


def main():
    what, *rest = sys.argv[1:]
    if what == "check":
        return check(pathlib.Path(rest[0]), rest[1:])
    output, include, *headers = rest
    text = {"examples": examples, "includes": includes}[what](pathlib.Path(include), headers)
    pathlib.Path(output).write_text(text)
    return 0


sys.exit(main())
