#!/usr/bin/env python3
# judge.py: whether what a program with a planted hang says of itself leads to the mistake.
# SPDX-License-Identifier: MIT
"""judge.py [--debug] PROGRAM     starts PROGRAM, asks it twice what it is doing, and judges its answers
judge.py --text FILE PROGRAM      judges the text in FILE as if PROGRAM had written it (also with --debug)
judge.py --stuck PROGRAM...       whether each gets stuck, and stays so for a second
judge.py --self-test              whether all of this works

PROGRAM is build/.../planted_NAME; planted_NAME.cpp and planted_NAME.expect lie beside this file, and README.md has their
grammar. The question is SIGQUIT, the answer whatever comes on standard error, from the start of the program on. The second
question comes 1.5 s after the first, so that waits have an age. --debug: of a build that knows the lines of awaits.
"""
import concurrent.futures
import pathlib
import re
import resource
import selectors
import signal
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent
STUCK_WITHIN = 120.0  # seconds; nobody is judged by how fast a machine is
BETWEEN_QUESTIONS = 1.5
QUIET_IF_GOOD, QUIET_IF_BAD = 0.5, 5.0  # after so long without a further byte the answer is taken as complete
PASSAGE = 8  # lines
STAYED_STUCK = 3  # planted.hpp

# {age} in a regular expression: how long something has lasted, if that is a second or more.
AGE = r"(?:\b[1-9]\d*(?:\.\d+)?\s?(?:s|secs?|seconds?)\b|\b[1-9]\d{3,}(?:\.\d+)?\s?(?:ms|milliseconds)\b|\b\d+\s?m(?:in)?\s?\d+\s?s\b)"
KINDS = ("line", "debug", "words", "near", "never")


class Mistake(Exception):
    """In a planted_NAME.cpp or .expect."""


class Expectation:
    """A line of an .expect file: KIND [MARK | MARK...]: what."""

    def __init__(self, kind, marks, pattern, text):
        self.kind, self.marks, self.text = kind, marks, text
        self.pattern = re.compile(pattern.replace("{age}", AGE), re.IGNORECASE) if pattern else None


def marks_of(source):
    """{mark: its lines}, of comments // culprit(mark): why"""
    found = {}
    for number, line in enumerate(source.splitlines(), 1):
        for mark, _ in re.findall(r"// culprit\((\w+)\): (\S)", line):
            found.setdefault(mark, []).append(number)
    if not found:
        raise Mistake("no line is marked: // culprit(mark): why")
    return found


def expectations_of(text, marks):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        head, colon, rest = line.partition(": ")
        kind, _, near = head.partition(" ")
        names = near if kind == "near" else rest if kind in ("line", "debug") else ""
        names = [each.strip() for each in names.split("|")] if names else []
        unknown = [each for each in names if each not in marks]
        if not colon or not rest.strip() or kind not in KINDS or unknown or (kind == "near") != bool(near):
            raise Mistake(f"line {number}: not an expectation, or marks that are not there {unknown}: {line}")
        pattern = rest.strip() if kind in ("words", "near", "never") else None
        try:
            found.append(Expectation(kind, names, pattern, line))
        except re.error as wrong:
            raise Mistake(f"line {number}: {wrong}: {line}") from wrong
    used = {mark for each in found for mark in each.marks}
    if set(marks) - used:
        raise Mistake(f"marks that no expectation names: {sorted(set(marks) - used)}")
    return found


def passage(lines, at):
    """The lines that tell of the same thing as that at `at`: what it is indented below, and what is indented below that. No empty
    line is in between, and none is further away than PASSAGE."""
    def depth(one):
        return len(lines[one]) - len(lines[one].lstrip())

    first = last = one = at
    while one > 0 and at - one < PASSAGE and lines[one - 1].strip():
        one -= 1
        if depth(one) < depth(first):
            first = one
    while last + 1 < len(lines) and last - at < PASSAGE and lines[last + 1].strip() and depth(last + 1) > depth(first):
        last += 1
    return lines[first:last + 1]


def judge(name, source, expected, said, debug):
    """@returns the expectations that `said` does not meet"""
    marks = marks_of(source)
    lines = said.splitlines()
    # What a word is looked for in: without the names of files and programs, which are full of them.
    bare = [re.sub(r"[\w./+-]*planted_\w+(\.cpp)?", "", line) for line in lines]

    def named_at(mark):
        where = "|".join(str(number) for number in marks[mark])
        pattern = re.compile(rf"\b{name}\.cpp(?::|\(|,? (?:at )?line )(?:{where})(?!\d)")
        return [at for at, line in enumerate(lines) if pattern.search(line)]

    def is_met(one):
        if one.kind == "debug" and not debug:
            return True
        if one.kind in ("line", "debug"):
            return any(named_at(mark) for mark in one.marks)
        if one.kind == "near":
            return any(one.pattern.search(line) for mark in one.marks for at in named_at(mark) for line in passage(bare, at))
        return any(one.pattern.search(line) for line in bare) == (one.kind == "words")

    return [one.text for one in expectations_of(expected, marks) if not is_met(one)]


class Planted:
    """A program that runs until the end of a `with`."""

    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.said = {"stdout": b"", "stderr": b""}
        self.selector = selectors.DefaultSelector()
        for name in self.said:
            self.selector.register(getattr(self.child, name), selectors.EVENT_READ, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()  # a child that has ended already, and was waited for, is left alone
        self.child.wait()
        self.selector.close()
        self.child.stdout.close()
        self.child.stderr.close()

    def read(self, seconds):
        """What comes first. @returns  false: nothing came for so long, or nothing can come any more"""
        if not self.selector.get_map():
            return False
        came = self.selector.select(seconds)
        for key, _ in came:
            part = key.fileobj.read(1 << 16)
            self.said[key.data] += part
            if not part:
                self.selector.unregister(key.fileobj)
        return bool(came)

    def reads_until(self, is_enough, seconds):
        end = time.monotonic() + seconds
        while not is_enough():
            left = end - time.monotonic()
            if left <= 0 or not self.read(left):
                return False
        return True

    def reads_for(self, seconds):
        end = time.monotonic() + seconds
        while self.selector.get_map() and (left := end - time.monotonic()) > 0:
            self.read(left)

    def has_ended(self):
        if not self.selector.get_map():  # it has closed both: it is about to
            self.child.wait(STUCK_WITHIN)
        return self.child.poll() is not None

    def is_stuck(self):
        return b"stuck" in self.said["stdout"].splitlines()

    def answer(self):
        return self.said["stderr"].decode(errors="replace")


def ended_as(status):
    return f"it was ended by {signal.Signals(-status).name}" if status < 0 else f"it ended with status {status}"


def ask(command, failures_of):
    """@returns  what the program has said of itself, and what is missing in it"""
    with Planted(command) as planted:
        if not planted.reads_until(planted.is_stuck, STUCK_WITHIN):
            return planted.answer(), ["it has never said that it is stuck"]
        planted.child.send_signal(signal.SIGQUIT)
        planted.reads_for(BETWEEN_QUESTIONS)
        if planted.has_ended():
            return planted.answer(), [f"it was asked by SIGQUIT, and {ended_as(planted.child.returncode)}"]
        planted.child.send_signal(signal.SIGQUIT)
        while True:
            failures = failures_of(planted.answer())
            if not planted.read(QUIET_IF_BAD if failures else QUIET_IF_GOOD):
                break
        if planted.has_ended():
            failures = failures + [f"it was asked a second time, and {ended_as(planted.child.returncode)}"]
        return planted.answer(), failures


def stays_stuck(command):
    """@returns  null, or what is wrong"""
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=STUCK_WITHIN)
    except subprocess.TimeoutExpired:
        return "it did not end by itself"
    said = run.stdout.splitlines().count(b"stuck")
    if run.returncode == STAYED_STUCK and said == 1:
        return None
    return f"it said {said} times that it is stuck, and {ended_as(run.returncode)}: {run.stdout + run.stderr!r}"


def files_of(program):
    name = pathlib.Path(program).name
    return (name, *((FOLDER / f"{name}{suffix}").read_text(encoding="utf-8") for suffix in (".cpp", ".expect")))


def report(program, said, failures):
    for failure in failures:
        print(f"{program}: not met: {failure}")
    if failures:
        print(f"--- what it has said ({len(said.splitlines())} lines):\n{said}\n---")
    return not failures


def main(arguments):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # SIGQUIT leaves one where nobody answers it
    if arguments == ["--self-test"]:
        import judge_test  # pylint: disable=import-outside-toplevel
        return judge_test.main()
    if arguments[:1] == ["--stuck"] and len(arguments) > 1:
        programs = arguments[1:]
        with concurrent.futures.ThreadPoolExecutor(len(programs)) as pool:
            wrong = list(pool.map(lambda program: stays_stuck([program, "1"]), programs))
        for program, what in zip(programs, wrong):
            print(f"{program}: {what or 'stuck'}")
        return 1 if any(wrong) else 0
    debug = "--debug" in arguments
    words = [each for each in arguments if each != "--debug"]
    if len(words) not in (1, 3) or (len(words) == 3 and words[0] != "--text") or words[0] == "--stuck":
        print(__doc__, file=sys.stderr)
        return 2
    program = words[-1]
    name, source, expected = files_of(program)
    if len(words) == 3:
        said = pathlib.Path(words[1]).read_text(encoding="utf-8", errors="replace")
        failures = judge(name, source, expected, said, debug)
    else:
        said, failures = ask([program, "60"], lambda text: judge(name, source, expected, text, debug))
    return 0 if report(name, said, failures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
