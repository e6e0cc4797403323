# frame_filter.py: in "bt" of a thread that runs a task, the coroutines that await what is on its stack.
# SPDX-License-Identifier: MIT
import itertools

import gdb
from gdb.FrameDecorator import FrameDecorator

from . import frames
from .place import Place, Unreadable


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
            try:
                found = self._program().coroutine_of(each.inferior_frame())
            except (gdb.error, Unreadable):
                found = None
            if found is not None:
                outermost = found
                each = self._named(each, found)
            yield each
        if outermost is not None:
            try:
                yield from self._awaiting(last, outermost)
            except (gdb.error, Unreadable):
                return  # the stack has been shown

    def _named(self, decorator, address):
        try:
            return CoroutineFrame(decorator, self._frame(address).name())
        except (gdb.error, Unreadable):
            return decorator

    def _frame(self, address):
        program = self._program()
        promise = program.root()[0].find("of_promise")[1].target()
        return frames.Frame(program, Place(program, promise, address + frames.PROMISE_OFFSET))

    def _awaiting(self, last, address):
        promise = self._frame(address).promise["continuation"].target()
        for _ in itertools.repeat(None, 10_000):
            if promise is None:
                return
            yield AwaitingFrame(last, frames.Frame(self._program(), promise))
            promise = promise["continuation"].target()


def register(program):
    Filter(program)
