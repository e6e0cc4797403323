"""count_laws.py BUILD: counts laws where a ctest is an executable with many of them.
SPDX-License-Identifier: MIT

Reads ctest's report (tests.xml) and those of GoogleTest (laws/NAME.xml) in the folder BUILD. Prints to stdout
"passed failed skipped"; to stderr each law that failed, each executable that left no report, which is one failure, and what
wine_skips.txt takes, by cause. Skipped is what a law skipped itself, and what the list takes from executables that ran.
"""

import pathlib
import sys
import xml.etree.ElementTree as xml

MOST_CAUSES = 10


def listed_causes(path):
    """[(cause, [(executable, law)])]; ends the program where the list breaks its own rules."""
    causes = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            causes.append((line.strip(), []))
            continue
        words = line.split()
        if not line.startswith("  ") or len(words) != 2 or not causes:
            sys.exit(f"{path}:{number}: two blanks, an executable and a law, below a cause")
        causes[-1][1].append(tuple(words))
    if len(causes) > MOST_CAUSES:
        sys.exit(f"{path}: {len(causes)} causes, of which there may be {MOST_CAUSES}")
    return causes


def count(build, causes, say):
    """(passed, failed, skipped)"""
    passed = failed = skipped = 0
    ran = {case.get("name"): case.get("status") for case in xml.parse(build / "tests.xml").iter("testcase")}
    for name, status in sorted(ran.items()):
        report = build / "laws" / f"{name}.xml"
        if not report.exists():
            failed += 1
            say(f"{name}: {status}, and there is no report of its laws")
            continue
        before = failed
        for case in xml.parse(report).iter("testcase"):
            law = f"{case.get('classname')}.{case.get('name')}"
            if case.find("failure") is not None:
                failed += 1
                say(f"{name}: {law} failed")
            elif case.find("skipped") is not None or case.get("result") == "skipped":
                skipped += 1
                say(f"{name}: {law} was skipped")
            elif case.get("status") == "run":
                passed += 1
        if status == "fail" and failed == before:
            failed += 1
            say(f"{name}: {status}, though no law failed")
    for cause, laws in causes:
        of_these = [law for law in laws if law[0] in ran]
        if of_these:
            say(f"left out: {cause}")
        for name, law in of_these:
            skipped += 1
            say(f"  {name} {law}")
    return passed, failed, skipped


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: count_laws.py BUILD")
    causes = listed_causes(pathlib.Path(__file__).with_name("wine_skips.txt"))
    print(*count(pathlib.Path(sys.argv[1]), causes, lambda line: print(line, file=sys.stderr)))


if __name__ == "__main__":
    main()
