#!/usr/bin/env python3
# debuggers_test.py: what the scripts for gdb and lldb show of a program that stands still with tasks of every state.
# SPDX-License-Identifier: MIT
"""debuggers_test.py SCRIPTS SOURCE PROGRAM COMPILER LEVEL

PROGRAM is SOURCE (debugged.cpp), compiled by COMPILER (gcc, clang) at LEVEL (plain, optimised). Each debugger looks at it while
it runs, where gdb has the scripts out of the program, and at a core of it. A debugger that is not installed is skipped, with 77
if there is none; with TANDEM_TEST_REQUIRE_ALL=1 that is a failure."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 120
NUMBER = r"\d+"
ASKED = ["tandem tasks", "tandem tasks --all", "tandem bt limited", "tandem bt gate --locals", "tandem bt hangs", "tandem bt late"]

OF_GDB = ["thread apply all bt", "thread apply all tandem bt"]


class Failed(Exception):
    pass


class Lines:
    """Of the source, by their markers."""

    def __init__(self, source):
        self.of = {}
        for number, text in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            if found := re.search(r"// line: (.*)", text):
                self.of[found.group(1)] = number


class Answers:
    """What a debugger said, by the command. The commands are echoed between marks."""

    def __init__(self, output):
        self.output = output
        self.of = {}
        for part in output.split("=== asked: ")[1:]:
            command, _, text = part.partition(" ===\n")
            self.of[command] = re.sub(r"^(\(lldb\)|error: .*(DW_TAG|adding range)).*\n", "", text, flags=re.M)

    def to(self, command):
        if command not in self.of:
            raise Failed(f"no answer to '{command}'")
        return self.of[command]


def gdb(setup, commands, at_last=()):
    line = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set width 0"]
    for each in setup:
        line += each
    for command in commands:
        line += ["-ex", f"echo === asked: {command} ===\\n", "-ex", command]
    for command in at_last:
        line += ["-ex", command]
    return run(line)


def lldb(setup, commands):
    line = ["lldb-19", "--no-lldbinit", "-b"]
    for each in setup:
        line += ["-o", each]
    for command in commands:
        line += ["-o", f"script print('=== ' + 'asked: {command} ===')", "-o", command]
    return run(line)


def run(line):
    done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=LIMIT_SECONDS, check=False,
                          env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})
    return done.stdout


def expect(text, pattern):
    """Line by line."""
    want, got = pattern.split("\n"), text.rstrip("\n").split("\n")
    for number, (a, b) in enumerate(zip(want, got)):
        if not re.fullmatch(a, b):
            raise Failed(f"line {number + 1} is\n    {b}\nand not\n    {a}")
    if len(want) != len(got):
        raise Failed(f"{len(got)} lines, and not {len(want)}:\n{text}")


class Looked:
    """A debugger's way to the standing program."""

    def __init__(self, name, ask):
        self.name = name
        self.ask = ask  # commands -> output


def ways(scripts, program, folder):
    """gdb makes the core that both debuggers look at afterwards."""
    core = folder / "core"
    to_standstill = [["-ex", "break all_is_set"], ["-ex", "run"]]
    from_program = [["-iex", "set auto-load safe-path /"], [str(program)], *to_standstill]
    by_hand = [["-iex", "set auto-load python-scripts off"], ["-ex", f"source {scripts}/tandem_gdb.py"], [str(program), str(core)]]
    if shutil.which("gdb"):
        yield Looked("gdb, live", lambda asked: gdb(from_program, asked, [f"generate-core-file {core}"]))
        yield Looked("gdb, core", lambda asked: gdb(by_hand, asked))
    if shutil.which("lldb-19"):
        load = f"command script import {scripts}/tandem_lldb.py"
        yield Looked("lldb, live", lambda asked: lldb([load, f"target create {program}", "breakpoint set -n all_is_set", "run"], asked))
        if shutil.which("gdb"):
            yield Looked("lldb, core", lambda asked: lldb([load, f"target create {program} --core {core}"], asked))


class Judge:
    """The laws. Each compares whole answers, or says what it misses."""

    def __init__(self, lines, compiler, level, debugger):
        self.lines = lines.of
        self.is_gcc = compiler == "gcc"
        self.is_plain = level == "plain"
        self.debugger = debugger
        # g++ with optimisation does not say where a store belongs, and gdb loses inlined functions of split ones.
        self.is_vague = self.is_gcc and not self.is_plain

    def at(self, marker, to=None):
        """The line, or one of those up to another marker's, in the words for it."""
        first, last = self.lines[marker], self.lines[to or marker]
        word = "(?:at|near)" if self.is_vague else "at"
        return rf"{word} \S*debugged\.cpp:(?:{'|'.join(str(each) for each in range(first, last + 1))})"

    def maybe_at(self, marker, to=None):
        """Of what g++ with optimisation may leave unsaid; never another line."""
        return rf"(?:{self.at(marker, to)}|\(begins at \S*debugged\.cpp:\d+\))" if self.is_vague else self.at(marker, to)

    def spawned(self, marker, function):
        return rf"spawned at \S*debugged\.cpp:{self.lines[marker]} in {function}"

    def task(self, number, name, state, where):
        return rf"task {number}, {name}: {state}, {where}"

    def tree(self, grouped):
        event = r"waits for an event \(never\)"
        mutex = rf"queues_up {self.at('mutex')} waits for a mutex \(door, held by task \d+\)"
        # The clock of a core stands still; gdb and lldb know that of a process.
        sleep = r"sleeps \(due (in 3[56]\d\d\.\d+ s|at \d+\.\d+ s of the steady clock)\)"
        scope = r"\(lambda in family\)"
        equal = self.spawned("spawn equal", "main")
        out = [
            r'runtime "debugged": 17 tasks live, 1 worker',
            "  " + self.task(NUMBER, "family", "waits", r"spawned at \S*debugged\.cpp:\d+ in main"),
            rf"    family {self.at('scope begins', 'scope')} waits for the children of its scope",
            "    " + self.task(NUMBER, "gate", "waits", self.spawned("spawn gate", scope)),
            rf"      \[when_all\] deepest {self.at('event')} {event}",
            rf"      \[when_all\] deepest {self.at('event')} {event}",
            "    " + self.task(NUMBER, "queues_up", "waits", self.spawned("spawn first", scope)),
            f"      {mutex}",
            "    " + self.task(NUMBER, "sleeper", "waits", self.spawned("spawn sleeper", scope)),
            rf"      sleeper {self.at('sleep')} {sleep}",
            "  " + self.task(NUMBER, "joins", "waits", r"spawned at \S*debugged\.cpp:\d+ in main"),
            rf"    joins {self.at('join')} waits for the end of a task \(task \d+\)",
            "  " + self.task(NUMBER, "limited", "waits", r"spawned at \S*debugged\.cpp:\d+ in main"),
            rf"    \[with_timeout\] deepest {self.at('event')} {event}",
            "  " + self.task(NUMBER, "chooses", "waits", r"spawned at \S*debugged\.cpp:\d+ in main"),
            rf"    chooses {self.at('select')} waits for a select \(of an event, a mutex\)",
        ]
        if grouped:
            out += ["  " + self.task(NUMBER, "queues_up", "waits", equal) + r"  \[5 like this: also \d+, \d+, \d+, ...\]", f"    {mutex}"]
        else:
            for _ in range(5):
                out += ["  " + self.task(NUMBER, "queues_up", "waits", equal), f"    {mutex}"]
        # lldb 19 cannot unwind what g++ has split into parts: it knows the coroutine, but not the line.
        runs = self.at("keeps") if not (self.is_vague and self.debugger == "lldb") else r"\(begins at \S*debugged\.cpp:\d+\)"
        out += [
            "  " + self.task(NUMBER, "hangs", r"runs on thread \d+", self.spawned("spawn hangs", "main")),
            rf"    holds {runs} runs",
            "  " + self.task(NUMBER, "late", "has not begun, it lies in the queue for what comes from outside",
                             self.spawned("spawn outside", "main")),
            "  " + self.task(NUMBER, "late", "has not begun, it lies among the submissions", self.spawned("submit", "main")),
            "  " + self.task(NUMBER, "outermost", "waits", self.spawned("spawn outermost", "joins")),
            rf"    deepest {self.at('event')} {event}",
            "  " + self.task(NUMBER, "late", "has not begun, it lies in the (next slot|lane) of worker 0",
                             self.spawned("spawn late", "holds")),
        ]
        return "\n".join(out)

    def all_tasks_are_shown_with_what_they_wait_for_and_equal_ones_once(self, answers):
        expect(answers.to("tandem tasks"), self.tree(True))

    def all_shows_each_of_the_equal_ones(self, answers):
        expect(answers.to("tandem tasks --all"), self.tree(False))

    def a_mutex_and_a_join_name_the_task_that_they_wait_for(self, answers):
        text = answers.to("tandem tasks")
        for what, name in ((r"held by task (\d+)", "gate"), (r"the end of a task \(task (\d+)\)", "outermost")):
            named, own = re.search(what, text).group(1), re.search(rf"task (\d+), {name}:", text).group(1)
            if named != own:
                raise Failed(f"{name} is task {own}, but it is task {named} that is waited for")

    def a_chain_of_awaits_leads_from_the_wait_to_the_task_line_by_line(self, answers):
        expect(answers.to("tandem bt limited"), "\n".join([
            r"task \d+, limited: waits, spawned at .*", "", r"waits for an event \(never\)",
            rf"  #0  deepest {self.at('event')}",
            rf"  #1  middle {self.maybe_at('deepest')}  \[with_timeout\]",
            rf"  #2  limited {self.maybe_at('limit')}"]))

    def variables_of_coroutines_are_shown_where_the_compiler_describes_them(self, answers):
        def frame(head, *variables):
            if not self.is_gcc and not self.is_plain:
                return [head, "       no debug information describes this frame"]
            return [head] + [f"       {each}" for each in variables]

        word = r'word = .*"abyss".*'
        both = []
        for number in (1, 2):
            # clang has its own order.
            inner = [f"number = {2 * number}", word] if self.is_gcc else [word, f"number = {2 * number}"]
            both += ["", r"waits for an event \(never\)",
                     *frame(rf"  #0  deepest {self.at('event')}", *inner),
                     *frame(rf"  #1  middle {self.maybe_at('deepest')}  \[when_all\]",
                            f"number = {number}", f"doubled = {2 * number}", r"answer = .*"),
                     *frame(rf"  #2  gate {self.maybe_at('when_all', 'when_all ends')}", "no variables")]
        expect(answers.to("tandem bt gate --locals"), "\n".join(
            [r"task \d+, gate: waits, spawned at .*", *both, "", r"in a scope of task \d+, family: waits, .*"]))

    def a_running_task_shows_its_coroutine_and_who_awaits_it(self, answers):
        runs = self.at("keeps") if not (self.is_vague and self.debugger == "lldb") else r"\(begins at \S*debugged\.cpp:\d+\)"
        expect(answers.to("tandem bt hangs"), "\n".join([
            r"task \d+, hangs: runs on thread \d+, spawned at .*", "", r"thread \d+:",
            rf"  #0  holds {runs}", rf"  #1  hangs {self.maybe_at('holds')}"]))

    def a_name_stands_for_all_tasks_that_have_it_and_those_not_begun_show_where_they_begin(self, answers):
        each = ["task \\d+, late: has not begun, it lies .*", "", "has not begun", r"  #0  late \(begins at \S*debugged\.cpp:\d+\)"]
        expect(answers.to("tandem bt late"), "\n".join([*each, "", *each, "", *each]))

    def bt_without_a_number_is_of_the_task_that_the_thread_runs(self, answers):
        if self.debugger != "gdb":
            return
        parts = answers.to("thread apply all tandem bt").split("\nThread ")
        runs = [each for each in parts if re.search(r"task \d+, hangs: runs", each)]
        if len(runs) != 1 or sum("runs no task" in each for each in parts) != len(parts) - 1 - (parts[0].strip() == ""):
            raise Failed(f"one of the threads runs hangs(), the others none, but:\n{answers.to('thread apply all tandem bt')}")

    def bt_of_gdb_has_the_awaiting_coroutines_behind_the_stack(self, answers):
        if self.debugger != "gdb":
            return
        stack = answers.to("thread apply all bt")
        own = [each for each in re.split(r"\n(?=Thread \d+ )", stack) if "keep_worker" in each]
        if len(own) != 1:
            raise Failed(f"{len(own)} threads are in keep_worker():\n{stack}")
        if not re.search(rf"#\d+ .*\bholds \(\) at \S*debugged\.cpp:{self.lines['keeps']}\n(#\d+ .*\n)+\(awaiting\) hangs \(\)", own[0]):
            raise Failed(f"no hangs() behind holds():\n{own[0]}")


def laws(judge):
    return [each for each in dir(judge) if each.count("_") > 2 and not each.startswith("_")]


def judged(way, judge, asked):
    """How many laws hold, and how many do not."""
    passed = failed = 0
    try:
        answers = Answers(way.ask(asked))
    except subprocess.TimeoutExpired as failure:
        print(f"FAILED {way.name}: {failure}")
        return 0, 1
    for law in laws(judge):
        try:
            getattr(judge, law)(answers)
            passed += 1
        except Failed as failure:
            print(f"FAILED {way.name}: {law}: {failure}")
            failed += 1
    return passed, failed


def run_laws(scripts, program, make_judge, asked):
    """make_judge: of the debugger's name. @returns what the test exits with"""
    is_required = os.environ.get("TANDEM_TEST_REQUIRE_ALL") == "1"
    missing = [each for each in ("gdb", "lldb-19") if not shutil.which(each)]
    for each in missing:
        print(f"skipped: {each} is not installed (tests/support/install_packages.sh debuggers)")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for way in ways(scripts, program, pathlib.Path(folder)):
            debugger = way.name.split(",")[0]
            good, bad = judged(way, make_judge(debugger), asked + (OF_GDB if debugger == "gdb" else []))
            passed += good
            failed += bad
    print(f"{passed} passed, {failed} failed")
    if failed or (missing and is_required):
        return 1
    return 0 if passed else 77


def main():
    scripts, source, program = (pathlib.Path(each).resolve() for each in sys.argv[1:4])
    compiler, level = sys.argv[4:6]
    return run_laws(scripts, program, lambda debugger: Judge(Lines(source), compiler, level, debugger), ASKED)


if __name__ == "__main__":
    sys.exit(main())
