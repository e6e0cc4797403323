# tandem_lldb.py: the commands "tandem tasks" and "tandem bt" of lldb.
# SPDX-License-Identifier: MIT
"""command script import tandem_lldb.py. What it shows: README.md beside this."""

import os
import shlex
import sys

import lldb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from tandem_debug import text
from tandem_debug.lldb_program import Program
from tandem_debug.place import Unreadable
from tandem_debug.walk import Snapshot


class _Command:
    def __init__(self, _debugger, _dictionary):
        pass

    def __call__(self, debugger, arguments, context, result):
        target = context.GetTarget() if context is not None else debugger.GetSelectedTarget()
        if not target.IsValid() or not target.GetProcess().IsValid():
            result.SetError("tandem: there is no process: run it, attach to it, or open a core file")
            return
        try:
            result.Print("\n".join(self.answer(Program(target), shlex.split(arguments), context)) + "\n")
        except (Unreadable, ValueError) as failure:
            result.SetError(f"tandem: {failure}")

    def get_long_help(self):
        return type(self).__doc__

    def get_short_help(self):
        return type(self).__doc__.split(".")[0]


class Tasks(_Command):
    """tandem tasks [--all]: all tasks: state, what each waits for, where it was spawned; children below their parents.
Those that do not differ stand in one line, unless --all is given."""

    def answer(self, program, arguments, _context):
        return text.answer_tasks(Snapshot(program), arguments)


class Backtrace(_Command):
    """tandem bt [ID|NAME] [--locals]: the chain of awaits of a task, from where it stands up to the task itself.
NAME: its name, or that of its function. With neither: of the task that the selected thread runs. --locals: with the variables
of each coroutine."""

    def answer(self, program, arguments, context):
        thread = context.GetThread() if context is not None else program.process.GetSelectedThread()
        return text.answer_bt(Snapshot(program), arguments, thread.GetIndexID() if thread.IsValid() else None)


def __lldb_init_module(debugger, _dictionary):
    for line in ("command container add --overwrite -h 'Looks at the tasks of a tandem runtime.' tandem",
                 f"command script add --overwrite -c {__name__}.Tasks tandem tasks",
                 f"command script add --overwrite -c {__name__}.Backtrace tandem bt"):
        debugger.HandleCommand(line)
