#!/usr/bin/env python3
# debugged_io_test.py: what the scripts for gdb and lldb show of tasks that wait for I/O.
# SPDX-License-Identifier: MIT
"""debugged_io_test.py SCRIPTS SOURCE PROGRAM: as tests/runtime/debuggers/debuggers_test.py, which has all but the laws."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "runtime" / "debuggers"))

import debuggers_test


class Judge:
    def __init__(self, lines):
        self.lines = lines.of

    def operations_are_named_with_their_descriptors(self, answers):
        at = r"\S*debugged_io\.cpp"
        debuggers_test.expect(answers.to("tandem tasks"), "\n".join([
            r'runtime "tandem": 1 task live, 1 worker',
            rf"  task \d+, serves: waits, spawned at {at}:\d+ in main",
            rf"    \[when_all\] reads at {at}:{self.lines['read']} waits for I/O \(receive on descriptor \d+\)",
            rf"    \[when_all\] receives at {at}:{self.lines['receive']} waits for I/O \(descriptor \d+\)",
            rf"    \[when_all\] accepts at {at}:{self.lines['accept']} waits for I/O \(accept on descriptor \d+\)"]))


def main():
    scripts, source, program = (pathlib.Path(each).resolve() for each in sys.argv[1:4])
    lines = debuggers_test.Lines(source)
    return debuggers_test.run_laws(scripts, program, lambda _: Judge(lines), ["tandem tasks"])


if __name__ == "__main__":
    sys.exit(main())
