#!/usr/bin/env python3
# check_once.py: no two files of the libraries define a class of one name in one namespace.
# SPDX-License-Identifier: MIT
"""check_once.py [ROOT]

The linker takes one of two inline functions of one name for both classes (the one-definition rule), and says nothing.
Looks at classes that begin a line, outside anonymous namespaces; a specialization and a declaration are no definition.
Prints each offender; exits with 1 if there is one.
"""

import pathlib
import re
import sys

NAMESPACE = re.compile(r"^namespace( [\w:]+)? \{")
CLASS = re.compile(r"^(?:class|struct|union)(?: \[\[\w+\]\]| TANDEM_\w+| alignas\(\w+\))* (\w+)(?: final)?(?: :.*| \{.*)?$")


def definitions(text: str):
    """Yields (line, namespace::name)."""
    open_namespaces: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if match := NAMESPACE.match(line.replace("inline ", "")):
            name = (match[1] or " ?").strip()
            if not line.rstrip().endswith("}"):
                open_namespaces.append(name)
        elif re.match(r"^\}\s*//.*namespace", line) and open_namespaces:
            open_namespaces.pop()
        elif (match := CLASS.match(line)) and not line.rstrip().endswith(";"):
            if "?" not in open_namespaces:
                yield number, "::".join([*open_namespaces, match[1]])


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    first: dict[str, str] = {}
    found = 0
    for part in ("runtime", "io"):
        for folder in ("include", "src"):
            for file in sorted((root / part / folder).rglob("*.[hc]pp")):
                if file.is_relative_to(root / part / "src" / "platform") and "windows" in file.parts:
                    continue  # built instead of another one
                for line, name in definitions(file.read_text()):
                    here = f"{file.relative_to(root)}:{line}"
                    if name in first:
                        print(f"{here}: {name} is defined at {first[name]}, too")
                        found += 1
                    first.setdefault(name, here)
    if len(first) < 300:
        print(f"only {len(first)} classes were found: the pattern is out of date")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
