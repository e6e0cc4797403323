# gdb_commands.py: the commands of gdb.
# SPDX-License-Identifier: MIT
import gdb

from . import frame_filter, text
from .gdb_program import Program
from .place import Unreadable
from .walk import Snapshot

_programs = {}  # by inferior: what is known of types and code; of memory nothing is kept


def _forget(*_):
    _programs.clear()


def program():
    number = gdb.selected_inferior().num
    if number not in _programs:
        _programs[number] = Program()
    return _programs[number]


class Tandem(gdb.Command):
    """Looks at the tasks of a tandem runtime.

tandem tasks [--all]     all tasks, those that do not differ grouped
tandem bt [ID|NAME] [--locals]  the chain of awaits of a task, or of what the selected thread runs"""

    def __init__(self):
        super().__init__("tandem", gdb.COMMAND_DATA, prefix=True)


class Command(gdb.Command):
    def invoke(self, arguments, _from_tty):
        self.dont_repeat()
        try:
            for line in self.answer(gdb.string_to_argv(arguments)):
                gdb.write(line + "\n")
        except (Unreadable, ValueError) as failure:
            raise gdb.GdbError(f"tandem: {failure}") from None


class Tasks(Command):
    """tandem tasks [--all]: all tasks: state, what each waits for, where it was spawned; children below their parents.

Those that do not differ stand in one line, unless --all is given."""

    def __init__(self):
        super().__init__("tandem tasks", gdb.COMMAND_DATA)

    def answer(self, arguments):
        return text.answer_tasks(Snapshot(program()), arguments)


class Backtrace(Command):
    """tandem bt [ID|NAME] [--locals]: the chain of awaits of a task, from where it stands up to the task itself.

NAME: its name, or that of its function. With neither: of the task that the selected thread runs. --locals: with the variables
of each coroutine."""

    def __init__(self):
        super().__init__("tandem bt", gdb.COMMAND_STACK)

    def answer(self, arguments):
        thread = gdb.selected_thread()
        return text.answer_bt(Snapshot(program()), arguments, thread.num if thread else None)


def register():
    """Once; a second load changes nothing."""
    if getattr(gdb, "_tandem_is_loaded", False):
        return
    gdb._tandem_is_loaded = True
    for event in ("new_objfile", "clear_objfiles", "free_objfile", "exited"):
        if hasattr(gdb.events, event):
            getattr(gdb.events, event).connect(_forget)
    Tandem()
    Tasks()
    Backtrace()
    frame_filter.register(program)
