# nodes.py: what a look at a process consists of: runtimes, tasks with what is in them, and where these stand.
# SPDX-License-Identifier: MIT
from . import frames, words
from .place import Unreadable

MOST_FRAMES = 100_000
AS_ABOVE = 255  # stop_state: none of its own; the parent may have one


class Wait:
    """Where a task stands: the innermost frame of a chain of awaits, and why it does not go on."""

    def __init__(self, snapshot, promise, how, leaf=None, where=""):
        self.snapshot = snapshot
        self.promise = promise  # the Place of its promise_base
        self.how = how          # "leaf", "children", "queued"
        self.leaf = leaf        # the Place of the stop_waiter; else None
        self.where = where      # of what is queued: the queue
        self._frames = None

    def frames(self):
        """From the innermost to that of the task."""
        if self._frames is None:
            self._frames = [frames.Frame(self.snapshot.program, self.promise)] + awaiting(self.snapshot.program, self.promise)
        return self._frames


def awaiting(program, promise):
    """The frames that await this one, from the next one up."""
    out = []
    promise = promise["continuation"].target()
    while promise is not None and len(out) < MOST_FRAMES:
        out.append(frames.Frame(program, promise))
        promise = promise["continuation"].target()
    return out


class Node:
    """An environment: a task's, or one that stands between a task and what it awaits (when_all, a scope, a time limit)."""

    def __init__(self, snapshot, place):
        self.snapshot = snapshot
        self.place = place
        self.children = []
        self.waits = []
        self.thread = None   # (number, name) of the thread that runs it
        self.queued = None   # where, if it has not begun
        self.body = None     # the Frame of the task's own coroutine, if that is known
        self.id = place["id_"].number()
        self.name = place.types.text(place["name_"].number())
        self.spawned_at = frames.source_place(place["spawned_at_"])
        self.parent = place["parent_"].number()
        self.reason = place["stop_"]["reason_"].number()
        if self.reason == AS_ABOVE:
            self.reason = 0  # the parent knows
        kind = place["kind_"].target()
        self.is_task = kind is not None and kind["is_task"].number() & 1 != 0
        self.kind = place.types.text(kind["word"].number()) if kind is not None else "part of a task"
        self.is_mark = kind is not None and self.kind == ""  # of a look that the process takes at itself

    def word(self):
        """What it is: "scope"."""
        if self.kind == "when_all":
            try:
                group = self.snapshot.place("of_child_group", self.place["part_"].number())
                return words.GROUPS[group["kind_"].number()]
            except (Unreadable, IndexError):
                pass
        return self.kind

    def all_waits(self):
        """Its own, and those of the environments in it that are no tasks."""
        out = list(self.waits)
        for child in self.children:
            if not child.is_task:
                out += child.all_waits()
        return out

    def inner_tasks(self):
        """Children of its scopes."""
        for child in self.children:
            if child.is_task:
                yield child
            else:
                yield from child.inner_tasks()

    def running_on(self):
        """(number, name) of the thread that runs it, or a part of it; None: none does."""
        if self.thread is not None:
            return self.thread
        for child in self.children:
            found = child.running_on() if not child.is_task else None
            if found is not None:
                return found
        return None

    def task(self):
        """The task that it is a part of, or itself."""
        node = self
        while not node.is_task and node.parent in self.snapshot.nodes:
            node = self.snapshot.nodes[node.parent]
        return node


class Runtime:
    def __init__(self, name, workers, live):
        self.name = name
        self.workers = workers
        self.live = live
        self.tasks = []  # the Nodes of those without a parent
