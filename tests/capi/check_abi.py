#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the C API of a build with the kept list tests/capi/abi.txt, so that a break is a decision.

check_abi.py NM CC LIBRARY HEADER WORK LIST [--write]

The list has each exported symbol with its version, each struct with its size and the offsets of its members, and each
constant. Lines may be added; a line that changes or disappears breaks programs. --write replaces the list.
"""
import pathlib
import re
import subprocess
import sys


def symbols(nm, library):
    """The names that the library exports, with their version."""
    output = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    names = [line.split()[-1] for line in output.splitlines()]
    return sorted(f"symbol {name}" for name in names if name != "WEFT_0")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def structs(text):
    """(name, members) of each struct."""
    for name, body in re.findall(r"typedef struct (weft_\w+) \{(.*?)\} \1;", text, flags=re.S):
        members = []
        for declaration in body.split(";"):
            members += re.findall(r"(\w+)(?:\[\d+\])?\s*(?=,|$)", declaration.strip())
        yield name, members


def layout(cc, header, work, text):
    """Sizes, offsets and constants, as a program in C prints them."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", f'#include "{header}"', "int main(void) {"]
    for name, members in structs(text):
        lines.append(f'    printf("struct {name} %zu\\n", sizeof({name}));')
        for member in members:
            lines.append(f'    printf("member {name}.{member} %zu\\n", offsetof({name}, {member}));')
    for name in re.findall(r"\b(WEFT_\w+) = -?\d+", text):
        lines.append(f'    printf("constant {name} %d\\n", (int){name});')
    lines += ["    return 0;", "}", ""]
    source, program = work / "abi.c", work / "abi"
    work.mkdir(parents=True, exist_ok=True)
    source.write_text("\n".join(lines))
    subprocess.run([cc, "-std=c11", str(source), "-o", str(program)], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    nm, cc, library, header, work, kept = sys.argv[1:7]
    text = without_comments(pathlib.Path(header).read_text())
    declared = sorted(set(re.findall(r"\b(weft_\w+)\((?!\*)", text)))
    exported = symbols(nm, library)
    wrong = [f"declared and not exported: {name}" for name in declared if f"symbol {name}@@WEFT_0" not in exported]
    wrong += [f"exported and not declared: {line}" for line in exported
              if line.removeprefix("symbol ").removesuffix("@@WEFT_0") not in declared]
    now = exported + layout(cc, header, pathlib.Path(work), text)
    if "--write" in sys.argv:
        pathlib.Path(kept).write_text("\n".join(now) + "\n")
    before = pathlib.Path(kept).read_text().splitlines()
    wrong += [f"gone or changed: {line}" for line in before if line not in now]
    wrong += [f"not in the list: {line}" for line in now if line not in before]
    for line in wrong:
        print(line)
    if wrong:
        print(f"The C API differs from {kept}. An addition: raise WEFT_ABI_VERSION in weft.h and run this with --write. "
              "A break: programs that are installed stop working; it needs another SONAME (docs/c.md).")
        return 1
    print(f"{len(now)} lines are as they were")
    return 0


if __name__ == "__main__":
    sys.exit(main())
