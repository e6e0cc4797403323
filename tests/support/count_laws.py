"""count_laws.py BUILD: counts laws where a ctest is an executable with many of them. count_laws.py share BUILD: those of io.
SPDX-License-Identifier: MIT

Reads ctest's report (tests.xml) and those of GoogleTest (laws/NAME.xml) in the folder BUILD. Prints to stdout
"passed failed skipped"; to stderr each law that failed, each executable that left no report, which is one failure, and what
wine_skips.txt takes, by cause. Skipped is what a law skipped itself, and what the list takes from executables that ran.

share prints how many laws the sources of tests/io have, how many of them are about a part that other systems have alone, and
how many of the others pass in BUILD; and the names of those that do not, by reason.
"""

import pathlib
import re
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
        if not report.exists() and "." in name:  # a ctest that is one law
            passed += status == "run"
            failed += status != "run"
            if status != "run":
                say(f"{name}: {status}")
            continue
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


def laws_of(source):
    """["suite.law"] of a file of tests, whichever system it is for"""
    found = re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", source.read_text(), re.MULTILINE)
    return [f"{suite}.{law}" for suite, law in found]


def passed_in(build):
    """{"suite.law"}, of parametrised ones without what they were made with"""
    passed = set()
    for report in (build / "laws").glob("*.xml"):
        for case in xml.parse(report).iter("testcase"):
            is_skipped = case.find("skipped") is not None or case.get("result") == "skipped"
            if case.get("status") == "run" and case.find("failure") is None and not is_skipped:
                suite = case.get("classname").split("/")[-1]
                passed.add(f"{suite}.{case.get('name').split('/')[0]}")
    return passed


def share(build, causes, say):
    """Of the laws of tests/io; prints by say."""
    folder = pathlib.Path(__file__).parents[1] / "io"
    left_out = {}  # file: reason
    for reason, names in re.findall(r'tandem_not_on_windows\("([^"]*)"\s*([^)]*)\)', (folder / "CMakeLists.txt").read_text()):
        left_out.update({name: reason for name in names.split()})
    skipped = {law: cause for cause, laws in causes for _, law in laws}
    passed = passed_in(build)
    total = elsewhere = kept = 0
    missing = {}  # reason: laws
    for source in sorted(folder.rglob("*.cpp")):
        reason = left_out.get(str(source.relative_to(folder)))
        for law in laws_of(source):
            total += 1
            if reason is not None and not reason.startswith("not yet"):
                elsewhere += 1
                missing.setdefault(f"Only elsewhere: {reason}", []).append(law)
            elif reason is None and law in passed and law not in skipped:
                kept += 1
            else:
                why = reason or skipped.get(law, "it was not run, skipped itself, or failed")
                missing.setdefault(why, []).append(law)
    could = total - elsewhere
    for why, laws in sorted(missing.items()):
        say(f"{len(laws)}: {why}")
        for law in laws:
            say(f"  {law}")
    say(f"{total} laws of io; {elsewhere} are about parts that Windows does not have; of the other {could} pass {kept}, "
        f"{100 * kept / could:.1f} %")


def main():
    arguments = sys.argv[1:]
    causes = listed_causes(pathlib.Path(__file__).with_name("wine_skips.txt"))
    if len(arguments) == 2 and arguments[0] == "share":
        share(pathlib.Path(arguments[1]), causes, print)
        return
    if len(arguments) != 1:
        sys.exit("usage: count_laws.py [share] BUILD")
    print(*count(pathlib.Path(sys.argv[1]), causes, lambda line: print(line, file=sys.stderr)))


if __name__ == "__main__":
    main()
