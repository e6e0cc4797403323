#!/usr/bin/env python3
# check_registry.py [--without FILE]... EXECUTABLE...: the registry's meta-test: which awaitable, or which cell, is missing?
# SPDX-License-Identifier: MIT
"""Compares three things: the public headers, the rows (*_cases.cpp beside this file) and the tests that
the given executables of the registry list. Rows of a file that this build lacks are left out. Prints each
gap; exits 1 if there is one."""
import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# Functions that return tasks for plain use, not for waiting: they have tests of their own.
NOT_AWAITED = {
    # puzzle searches are computations of their own, tested by search_test
    "search", "count_solutions", "run",
    # ends by nothing but a stop, which is no cancellation of it: tested by serve_test and serve_end_test
    "serve",
    # makes a handler for serve(): tested by accepting_test and tls_crowd_test
    "accepting",
    # need a Redis server for each cell: tests/io/redis stops, breaks and races all that can be awaited there
    "optimistic", "with_connection",
}

# Awaited by tasks of the library's own only: of an asio_stream, tested by asio_stream_test; how such a task hands a
# failure on, tested by throws_test and by the rows of what is made of such tasks.
NOT_FOR_USERS = {"next_awaiter", "wait_only", "failure_awaiter"}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def public_headers():
    for part in ("runtime", "io"):
        yield from sorted((ROOT / part / "include").rglob("*.hpp"))


CLASS = re.compile(
    r"\b(?:class|struct)\s+(?:\[\[nodiscard\]\]\s*)?(?:TANDEM_\w+\s+)*(?:\w+\s*<[^;{]*>::)?(\w+)"
    r"(?:<[^;{]*>)?(::\w+)?\s*(?:final\s*)?(:[^;{]*)?\{")


def classes():
    """(name, bases, is an awaiter by its own word, file), in the order of the headers."""
    for header in public_headers():
        text = without_comments(header.read_text())
        found = list(CLASS.finditer(text))
        for at, match in enumerate(found):
            end = found[at + 1].start() if at + 1 < len(found) else len(text)
            name = (match[2] or match[1]).lstrip(":")
            says = "using tandem_awaiter = void;" in text[match.end():end]
            yield name, set(re.findall(r"\w+", match[3] or "")), says, header


def awaiters():
    """Every class that is an awaiter, by itself or by what it derives from; bases that nobody awaits
    are left out: what derives from them stands for them."""
    known = {}
    all_of_them = list(classes())
    grew = True
    while grew:
        grew = False
        for name, bases, says, header in all_of_them:
            if name not in known and (says or bases & known.keys()):
                known[name] = header
                grew = True
    used_as_base = {base for _, bases, _, _ in all_of_them for base in bases}
    only_bases = {name for name in known if name in used_as_base and "detail" in known[name].parts}
    # Private bases of an awaiter that has its own row are covered by it; one that is awaited, too, says so
    # by a row of its own, which costs nothing here.
    only_bases |= {name for name in known if name == "fork_range" or name in NOT_FOR_USERS}
    return known, only_bases


def task_functions():
    """Names of public functions, not of detail, that return a task or what only a task can be."""
    found = {}
    for header in public_headers():
        if "detail" in header.parts or "search" in str(header) or header.name == "puzzle.hpp":
            continue
        text = without_comments(header.read_text())
        text = re.sub(r"namespace detail \{.*?\n\}  ?", "", text, flags=re.S)
        for match in re.finditer(r"^(?:TANDEM_\w+_API )?(?:inline )?(?:task<[^;(]*>|auto) (\w+)\(", text, re.M):
            if match[1] not in NOT_AWAITED:
                found[match[1]] = header
    return found


def rows(left_out=()):
    """name -> the awaiter types that it covers."""
    found = {}
    for source in sorted(HERE.glob("*_cases.cpp")):
        if source.name in left_out:
            continue
        text = without_comments(source.read_text())
        parts = re.split(r'std::string_view name = "', text)[1:]
        for part in parts:
            name = part[:part.index('"')]
            covered = re.search(r"using awaiters = covers<([^;]*)>;", part)
            found[name] = re.findall(r"\w+", covered[1]) if covered else []
    return found


def listed_tests(executables):
    """row (as gtest spells it) -> its columns."""
    found = {}
    for executable in executables:
        text = subprocess.run([executable, "--gtest_list_tests"], check=True, capture_output=True,
                              text=True).stdout
        suite = None
        for line in text.splitlines():
            line = line.split("#")[0].rstrip()
            if line.endswith("."):
                suite = line[:-1].rsplit("/", 1)[-1]
                found.setdefault(suite, set())
            elif suite and line.startswith("  "):
                found[suite].add(line.strip())
    return found


def columns():
    text = without_comments((HERE / "awaitable_case.hpp").read_text())
    return re.findall(r"\w+", re.search(r"enum class column[^{]*\{([^}]*)\}", text)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--without", action="append", default=[], metavar="FILE")
    parser.add_argument("executables", nargs="+")
    given = parser.parse_args()
    gaps = []
    table = rows(given.without)
    covered = {name for types in table.values() for name in types}
    known, only_bases = awaiters()
    for name, header in sorted(known.items()):
        if name not in covered and name not in only_bases:
            gaps.append(f"{header.relative_to(ROOT)}: no row covers the awaiter {name}")
    spelled = {row.split("::")[-1].split(" ")[0] for row in table}
    for name, header in sorted(task_functions().items()):
        # A part that was not built has its headers in a folder of its name.
        if name not in spelled and f"{header.parent.name}_cases.cpp" not in given.without:
            gaps.append(f"{header.relative_to(ROOT)}: no row is named after {name}()")
    tests = listed_tests(given.executables)
    wanted = columns()
    for row in sorted(table):
        there = tests.get(re.sub(r"[^A-Za-z0-9]", "_", row))
        if there is None:
            gaps.append(f"the row '{row}' is in no suite of the executables")
            continue
        for column in wanted:
            if column not in there:
                gaps.append(f"the row '{row}' has no cell '{column}'")
    for gap in gaps:
        print(gap)
    print(f"{len(known) - len(only_bases)} awaiters, {len(table)} rows, {len(wanted)} columns, "
          f"{len(gaps)} gaps")
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main())
