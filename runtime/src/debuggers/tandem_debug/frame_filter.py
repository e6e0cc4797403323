# frame_filter.py: in "bt" of a thread that runs a task, the coroutines that await what is on its stack.
# SPDX-License-Identifier: MIT
import gdb
from gdb.FrameDecorator import FrameDecorator

from . import frames
from .nodes import awaiting
from .place import Unreadable


class AwaitingFrame(FrameDecorator):
    """A coroutine that is on no stack: it awaits one that is. gdb shows it without a number."""

    def __init__(self, base, frame):
        super().__init__(base)
        self._frame = frame
        self._where = frame.where()

    def function(self):
        return f"(awaiting) {self._frame.name()}"

    def filename(self):
        return self._where[0] if self._where is not None else None

    def line(self):
        return self._where[1] if self._where is not None else None

    def address(self):
        return None

    def frame_args(self):
        return None

    def frame_locals(self):
        return None


class CoroutineFrame(FrameDecorator):
    """A coroutine on the stack: by its own name, not by that of the function that resumes it."""

    def __init__(self, base, name):
        super().__init__(base)
        self._name = name

    def function(self):
        return self._name

    def frame_args(self):
        return None


class Filter:
    """Names coroutines, and puts those that await the outermost one of them behind the frames of the stack."""

    def __init__(self, program):
        self.name = "tandem"
        self.priority = 100
        self.enabled = True
        self._program = program
        gdb.frame_filters[self.name] = self

    def filter(self, iterator):
        outermost = None
        last = None
        for each in iterator:
            last = each
            frame = self._frame_of(each.inferior_frame())
            if frame is not None:
                outermost = frame
                each = CoroutineFrame(each, frame.name())
            yield each
        if outermost is not None:
            yield from self._awaiting(last, outermost)

    def _frame_of(self, inferior):
        try:
            program = self._program()
            address = program.coroutine_of(inferior)
            return frames.at(program, address) if address is not None else None
        except (gdb.error, Unreadable):
            return None  # the stack is shown all the same

    def _awaiting(self, last, frame):
        try:
            for each in awaiting(self._program(), frame.promise):
                yield AwaitingFrame(last, each)
        except (gdb.error, Unreadable):
            return


def register(program):
    Filter(program)
