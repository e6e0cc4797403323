# judge_test.py: what judge.py promises, with answers that were made up and programs of three lines.
# SPDX-License-Identifier: MIT
import re
import sys
import time

import judge

SOURCE = """int main() {
  scope.spawn(first());   // culprit(first): has the lock
  scope.spawn(second());  // culprit(second): wants it
  co_await lock;          // culprit(wait): for ever
}
"""
EXPECTED = """# a mutex that is kept
line: first
line: first | second
debug: wait
near second: \\bmutex\\b.*\\bheld by\\b
near second: {age}
words: \\b(2|two) tasks\\b
never: (?<!no )deadlock
"""
GOOD = """2 tasks
task 1, spawned at /home/me/planted_small.cpp:2
  sleeps until 12:00

task 2 waits 1.5 s for a mutex at 0x10, held by task 1
  spawned at planted_small.cpp:3
  at planted_small.cpp:4:12
"""
SPAWNED = "\n  spawned at planted_small.cpp:3"
OWNER_AND_AGE = (r"near second: \bmutex\b.*\bheld by\b", "near second: {age}")
# What was changed in the good answer, and the only expectation that then is not met (or none).
CANNED = {
    "nothing at all": (lambda text: text, None),
    "another folder and a column": (lambda text: text.replace("/home/me/", "..//").replace("cpp:3", "cpp:3:7"), None),
    "a line in words": (lambda text: text.replace("small.cpp:3", "small.cpp, line 3"), None),
    "an age in milliseconds": (lambda text: text.replace("1.5 s", "1500 ms"), None),
    "an age in minutes": (lambda text: text.replace("1.5 s", "1 m 12 s"), None),
    "no deadlock is claimed": (lambda text: text + "no deadlock\n", None),
    "the owner is not told": (lambda text: text.replace(", held by task 1", ""), r"near second: \bmutex\b.*\bheld by\b"),
    "the wait has no age": (lambda text: text.replace("1.5 s", "long"), "near second: {age}"),
    "the wait has the first answer's age": (lambda text: text.replace("1.5 s", "0.02 s"), "near second: {age}"),
    "the wait is young, in milliseconds": (lambda text: text.replace("1.5 s", "15 ms"), "near second: {age}"),
    "the place is that of another file": (lambda text: text.replace("me/planted_small", "me/other_small"), "line: first"),
    "the place is a longer number": (lambda text: text.replace("cpp:2", "cpp:23"), "line: first"),
    "the place is a part of a name": (lambda text: text.replace("me/planted", "me/unplanted"), "line: first"),
    "the line of the await is missing": (lambda text: text.replace("  at planted_small.cpp:4:12\n", ""), "debug: wait"),
    "the words stand after an empty line": (lambda text: text.replace(SPAWNED, "\n" + SPAWNED), OWNER_AND_AGE),
    "the words are far away": (lambda text: text.replace(SPAWNED, "\n  and so on" * 8 + SPAWNED), OWNER_AND_AGE),
    "the words stand with another task": (lambda text: text.replace(SPAWNED, "\ntask 3" + SPAWNED), OWNER_AND_AGE),
    "the words stand below the place": (lambda text: text.replace("task 2 waits", "task 2 at planted_small.cpp:3\n  waits"), None),
    "the words stand above, and the place is deeper": (lambda text: text.replace(SPAWNED, "\n  frames:\n  " + SPAWNED[1:]), None),
    "the words stand above, of another task": (lambda text: text.replace(SPAWNED, SPAWNED.replace("  ", "")), OWNER_AND_AGE),
    "nobody counts": (lambda text: text.replace("2 tasks\n", ""), r"words: \b(2|two) tasks\b"),
    "the word is a part of a file's name": (lambda text: text.replace("held by task 1", "in /usr/planted_held by.cpp"),
                                            OWNER_AND_AGE[:1]),
    "a deadlock is claimed": (lambda text: text + "DEADLOCK: 2 tasks\n", "never: (?<!no )deadlock"),
}
WRONG_FILES = {
    "a mark that is not there": (SOURCE, EXPECTED + "line: third\n"),
    "a mark that nobody asks for": (SOURCE.replace("(first)", "(other)"), EXPECTED),
    "a kind that is none": (SOURCE, EXPECTED + "word: x\n"),
    "a regular expression that is none": (SOURCE, EXPECTED + "words: (\n"),
    "near without a mark": (SOURCE, EXPECTED + "near: x\n"),
    "a mark without a reason": (re.sub(": has the lock", ":", SOURCE), EXPECTED),
}
# Programs: what they do, and what is found.
ANSWERS = """import signal, sys, time
asked = []
def answer(*_):
    asked.append(1)
    sys.stderr.write(f"asked {len(asked)}\\n"); sys.stderr.flush()
signal.signal(signal.SIGQUIT, answer)
print("stuck", flush=True)
while True: time.sleep(0.01)
"""
STUCK = "import os, sys, time; print('stuck', flush=True); time.sleep(0.2); os._exit(3)"


class Laws:
    def __init__(self):
        self.broken = 0
        self.looked_at = 0

    def law(self, name, holds, seen):
        self.looked_at += 1
        if not holds:
            self.broken += 1
            print(f"broken: {name}: {seen!r}")


def python(text):
    return [sys.executable, "-c", text]


def canned(laws):
    for what, (change, missing) in CANNED.items():
        wanted = [] if missing is None else [missing] if isinstance(missing, str) else list(missing)
        found = judge.judge("planted_small", SOURCE, EXPECTED, change(GOOD), True)
        laws.law(what, found == wanted, found)
    unchanged = [what for what, (change, _) in CANNED.items() if change(GOOD) == GOOD]
    laws.law("what is changed, changes", unchanged == ["nothing at all"], unchanged)
    without = judge.judge("planted_small", SOURCE, EXPECTED, CANNED["the line of the await is missing"][0](GOOD), False)
    laws.law("a release build need not know the line of an await", not without, without)
    silent = judge.judge("planted_small", SOURCE, EXPECTED, "", True)
    laws.law("silence meets nothing but `never`", len(silent) == 6, silent)
    for what, (source, expected) in WRONG_FILES.items():
        try:
            judge.judge("planted_small", source, expected, GOOD, True)
            laws.law(what, False, "it was taken")
        except judge.Mistake:
            laws.law(what, True, None)


def planted_files(laws):
    """Each program has expectations, which an empty answer does not meet, nor one that only lists where tasks were spawned."""
    programs = sorted(judge.FOLDER.glob("planted_*.cpp"))
    laws.law("there are twelve", len(programs) == 12, programs)
    for program in programs:
        name, source, expected = judge.files_of(program.with_suffix(""))
        marks = judge.marks_of(source)
        listing = "\n\n".join(f"task {number} at {name}.cpp:{number} in {name}" for lines in marks.values() for number in lines)
        missing = judge.judge(name, source, expected, listing, True)
        kinds = {each.split(" ")[0].rstrip(":") for each in missing}
        laws.law(f"{name}: a list of places is not enough", kinds and kinds <= {"near", "words"}, missing)
        laws.law(f"{name}: each mark has one line", all(len(lines) == 1 for lines in marks.values()), marks)


def programs(laws):
    said, failures = judge.ask(python(ANSWERS), lambda text: [] if "asked 2" in text else ["asked 2"])
    laws.law("a program is asked twice, and its answer read", said == "asked 1\nasked 2\n" and not failures, (said, failures))
    begun = time.monotonic()
    said, failures = judge.ask(python("print('stuck', flush=True); import time; time.sleep(60)"), lambda text: [])
    laws.law("one that SIGQUIT ends has not answered", "SIGQUIT" in "".join(failures), (said, failures))
    said, failures = judge.ask(python("print('done')"), lambda text: [])
    laws.law("one that never gets stuck is found, at once", failures == ["it has never said that it is stuck"], failures)
    laws.law("nothing is waited for in vain", time.monotonic() - begun < 50, time.monotonic() - begun)
    found = judge.stays_stuck(python(STUCK))
    laws.law("one that stays where it is, is stuck", found is None, found)
    for what, change, into in (("comes to its end", "_exit(3)", "_exit(0)"), ("never says so", "stuck", "stack"),
                               ("crashes", "os._exit(3)", "os.abort()")):
        found = judge.stays_stuck(python(STUCK.replace(change, into)))
        laws.law(f"one that {what} is not stuck", found is not None, found)


def main():
    laws = Laws()
    canned(laws)
    planted_files(laws)
    programs(laws)
    print(f"{laws.looked_at} laws, {laws.broken} broken")
    return 1 if laws.broken else 0
