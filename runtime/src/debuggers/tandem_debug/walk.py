# walk.py: all runtimes of a process, their tasks, and what each of them waits for.
# SPDX-License-Identifier: MIT
"""Tasks that have begun hang below the stop states of their runtime, each environment below its parent's; tasks that have not lie
in queues. What a task waits for hangs in the slot of its environment; from there the promises lead up to who awaits."""

from . import frames, queues, words
from .place import Place, Unreadable

STOPPED_MARK = 1
MOST_FRAMES = 100_000


class Wait:
    """Where a task stands: the innermost frame of a chain of awaits, and why it does not go on."""

    def __init__(self, snapshot, promise, how, leaf=None, where=""):
        self.snapshot = snapshot
        self.promise = promise  # the Place of its promise_base
        self.how = how          # "leaf", "children", "queued", "running"
        self.leaf = leaf        # the Place of the stop_waiter; else None
        self.where = where      # of what is queued: the queue
        self._frames = None

    def frames(self):
        """From the innermost to that of the task."""
        if self._frames is None:
            out = []
            promise = self.promise
            while promise is not None and len(out) < MOST_FRAMES:
                out.append(frames.Frame(self.snapshot.program, promise))
                promise = promise["continuation"].target()
            self._frames = out
        return self._frames


class Node:
    """An environment: a task's, or one that stands between a task and what it awaits (when_all, a scope, a time limit)."""

    def __init__(self, snapshot, place):
        self.snapshot = snapshot
        self.place = place
        self.children = []
        self.waits = []
        self.thread = None   # which runs it
        self.queued = None   # where, if it has not begun
        self.body = None     # the Frame of the task's own coroutine, if that is known
        self.id = place["id_"].number()
        self.name = place.types.text(place["name_"].number())
        self.spawned_at = frames.source_place(place["spawned_at_"])
        self.parent = place["parent_"].number()
        self.reason = place["stop_"]["reason_"].number()
        self.is_task = snapshot.is_task(place)

    def word(self):
        """What it is."""
        if self.place.has("kind_") and self.place["kind_"].number() != 0:
            kind = self.place["kind_"].target()
            if kind.has("word"):
                return self.place.types.text(kind["word"].number())
        if self.is_task:
            return "task"
        if any(each.is_task for each in self.children):
            return "scope"
        for wait in self._all_waits():
            for frame in wait.frames():
                if frame.promise["env"].number() == self.place.address and frame.promise["on_final"].number() != 0:
                    return self._word_of_border(frame.promise)
        return "an inner environment"

    def _word_of_border(self, promise):
        function = self.place.types.symbol(promise["on_final"].number())[0]
        name = words.last_names(function, 2)
        if name == "child_group::child_ended":
            return self._group(promise) or words.OF_ON_FINAL[name]
        return words.OF_ON_FINAL.get(name, name.split("::")[0] if name else "an inner environment")

    def _group(self, promise):
        """Which one: a child's link is its slot, which begins with its group, which begins with what it is."""
        try:
            kind = self.place.types.read(self.place.types.word(promise["link"].number()), 1)[0]
            return words.GROUPS[kind]
        except (Unreadable, IndexError):
            return None

    def _all_waits(self):
        yield from self.waits
        for child in self.children:
            if not child.is_task:
                yield from child._all_waits()

    def all_waits(self):
        """Its own, and those of the environments in it that are no tasks."""
        return list(self._all_waits())

    def inner_tasks(self):
        for child in self.children:
            if child.is_task:
                yield child
            else:
                yield from child.inner_tasks()

    def is_running(self):
        return self.thread is not None or any(each.is_running() for each in self.children if not each.is_task)


class Runtime:
    def __init__(self, name, workers, live):
        self.name = name
        self.workers = workers
        self.live = live
        self.tasks = []  # the Nodes of those without a parent


class Snapshot:
    """What is there now. Raises Unreadable if nothing of tandem can be found."""

    def __init__(self, program):
        self.program = program
        kind, address = program.root()
        self.root = Place(program, kind, address)
        self.nodes = {}  # by the address of the environment
        self.runtimes = []
        self.damaged = []  # what could not be read
        self._functions = {}
        self._running = {}  # by thread
        for runtime in self._runtimes():
            self._read_runtime(runtime)
        self._read_threads()
        self._finish()

    def kind(self, member):
        """The type that a member of debug_root points to."""
        return self.program.pointee(self.root[member].kind)

    def place(self, member, address):
        return Place(self.program, self.kind(member), address)

    def all_tasks(self):
        return [each for each in self.nodes.values() if each.is_task]

    def task(self, number):
        for node in self.nodes.values():
            if node.id == number:
                return node
        return None

    def is_task(self, environment):
        """Whether it is a member of a root, which is a job that starts a task; else it lies in a frame."""
        if environment.has("kind_") and environment["kind_"].number() != 0 and environment["kind_"].target().has("word"):
            return self.program.text(environment["kind_"].target()["word"].number()) == "task"
        kind = self.kind("of_joinable_root")
        base = Place(self.program, kind, 0).base_offset("job")
        offset = self.program.find(kind, "env_")[0]
        try:
            return self.is_start_job(self.program.word(environment.address - offset + base))
        except Unreadable:
            return False

    def is_start_job(self, function):
        return words.last_names(self.program.symbol(function)[0], 2) in ("root::start_job", "root::start_observed_job")

    # Runtimes: the keys of a std::map of libstdc++, a red-black tree.
    def _runtimes(self):
        living = self.root["living"].number()
        if living == 0:
            return
        stack = [self.program.word(living + 16)]
        while stack and len(self.runtimes) < 10_000:
            node = stack.pop()
            if node == 0:
                continue
            stack += [self.program.word(node + 24), self.program.word(node + 16)]
            yield self.place("of_runtime", self.program.word(node + 32))

    def _read_runtime(self, runtime):
        impl = self.place("of_runtime_impl", runtime["impl_"].number())
        pool = self.place("of_pool_impl", impl["pool"]["impl_"].number())
        series = impl["series"]
        name = self.program.read(self.program.word(series.address), self.program.word(series.address + 8) % 1000)
        live = 0
        for shard in impl["tasks_"]["shards_"].elements():
            live += shard["started"].number() - shard["ended"].number()
        known = Runtime(name.decode("utf-8", "replace"), pool["workers"]["made_count_"].number(), live)
        self.runtimes.append(known)
        for shard in impl["roots_"]["shards_"].elements():
            known.tasks += self._below(shard["stop"])
        self._read_queues(pool, known)

    def _below(self, stop):
        """Nodes of the environments whose stop states hang below this one, with all below them."""
        top = []
        todo = [(stop, top)]
        offset = self.program.find(self._environment_kind(), "stop_")[0]
        while todo:
            parent, out = todo.pop()
            child = parent["first_child_"].target()
            while child is not None:
                address = child.address - offset
                if address in self.nodes:
                    break  # a list in the middle of a change
                try:
                    node = Node(self, Place(self.program, self._environment_kind(), address))
                    self._read_slot(node)
                    following = child["next_sibling_"].target()
                except Unreadable as failure:
                    self.damaged.append(str(failure))
                    break
                self.nodes[address] = node
                out.append(node)
                todo.append((node.place["stop_"], node.children))
                child = following
        return top

    def _environment_kind(self):
        return self.program.pointee(self.program.find(self.kind("of_promise"), "env")[1])

    # Waits.
    def _read_slot(self, node):
        stop = node.place["stop_"]
        waiter = stop["slot_"].target() if stop["slot_"].number() > STOPPED_MARK else None
        if waiter is not None:
            self._read_waiter(node, waiter)
        waiter = stop["overflow_"].target()
        seen = set()
        while waiter is not None and waiter.address not in seen:
            seen.add(waiter.address)
            self._read_waiter(node, waiter)
            waiter = waiter["next_"].target()

    def _read_waiter(self, node, waiter):
        if waiter["is_leaf_"].number() != 0:
            promise = waiter.cast(self.kind("of_leaf"))["waiting_"].target()
        else:
            promise = self._of_listener(waiter)
        if promise is not None:
            node.waits.append(Wait(self, promise, "leaf", waiter))

    def _of_listener(self, waiter):
        """The promise that waits there; None: it listens only, or is of a kind that is not known here."""
        function = self.wait_class(waiter)
        for name, member in (("scope_join_awaiter", "of_scope_join"), ("foreign_wait", "of_foreign_wait")):
            if function == name:
                kind = self.kind(member)
                base = Place(self.program, kind, 0).base_offset("stop_waiter")
                return Place(self.program, kind, waiter.address - base)["waiting_"].target()
        return None

    def wait_class(self, waiter):
        """The class of a stop_waiter: that whose on_stop it has."""
        place = waiter
        if waiter.has("kind_"):
            place = waiter["kind_"].target()
            if place is None or not place.has("on_stop"):
                return ""
            function = place["on_stop"].number()
        else:
            function = place["on_stop_"].number()
        if function not in self._functions:
            names = words.last_names(self.program.symbol(function)[0], 2).split("::")
            self._functions[function] = names[0] if len(names) > 1 else ""
        return self._functions[function]

    # Queues.
    def _read_queues(self, pool, runtime):
        job_offset = Place(self.program, self.kind("of_promise"), 0).base_offset("job")
        root_kind = self.kind("of_joinable_root")
        root_offset = Place(self.program, root_kind, 0).base_offset("job")
        for job, where in queues.of_pool(pool):
            try:
                function = self.program.word(job)
                if words.last_names(self.program.symbol(function)[0], 2) == "promise_base::resume_job":
                    promise = self.place("of_promise", job - job_offset)
                    node = self.nodes.get(promise["env"].number())
                    if node is not None and not any(each.promise.address == promise.address for each in node.waits):
                        node.waits.append(Wait(self, promise, "queued", where=where))
                elif self.is_start_job(function):
                    self._not_begun(Place(self.program, root_kind, job - root_offset), where, runtime)
            except Unreadable as failure:
                self.damaged.append(str(failure))

    def _not_begun(self, root, where, runtime):
        word = root["state_"].number()
        if word & 3 != 0:
            return  # removed, or begun by whoever joins it
        address = root["env_"].address
        node = self.nodes.get(address)
        if node is None:
            node = Node(self, Place(self.program, self._environment_kind(), address))
            self.nodes[address] = node
            runtime.tasks.append(node)
        node.queued = where
        node.is_task = True
        if word & ~7 != 0:
            node.body = frames.Frame(self.program, self.place("of_promise", word & ~7))

    # Threads: where a thread's context lies, from its thread pointer, is what it was for the thread that noted both.
    def _read_threads(self):
        noted, pointer = self.root["a_context"].number(), self.root["a_thread"].number()
        self.threads = {}
        if noted == 0:
            return
        for number, name, thread_pointer in self.program.threads():
            if thread_pointer == 0:
                continue
            try:
                context = self.place("of_thread_context", thread_pointer + noted - pointer)
                if context["segment"].number() == 0:
                    continue
                node = self.nodes.get(context["env"].number())
            except Unreadable:
                continue
            if node is not None:
                node.thread = (number, name)
                self.threads[number] = node

    def _finish(self):
        for node in self.nodes.values():
            node.children.sort(key=lambda each: each.id)
        for runtime in self.runtimes:
            runtime.tasks.sort(key=lambda each: each.id)
        for node in list(self.nodes.values()):
            self._add_join_of_scope(node)
        chains = [wait.frames() for node in self.nodes.values() for wait in node.waits]
        chains += [self.running_chain(thread) for thread in self.threads]
        for chain in chains:
            for top in chain[-1:]:
                owner = self.nodes.get(top.promise["env"].number())
                if owner is not None and owner.is_task and owner.body is None:
                    owner.body = top

    def running_chain(self, thread):
        """What a thread runs of a task: the coroutines on its stack, then those that await the outermost one."""
        if thread not in self._running:
            chain = [frames.Frame(self.program, self.place("of_promise", each + frames.PROMISE_OFFSET), now)
                     for each, now in self.program.coroutines_on_stack(thread)]
            promise = chain[-1].promise["continuation"].target() if chain else None
            while promise is not None and len(chain) < MOST_FRAMES:
                chain.append(frames.Frame(self.program, promise))
                promise = promise["continuation"].target()
            self._running[thread] = chain
        return self._running[thread]

    def _add_join_of_scope(self, node):
        """scopes/wait: who waits for the children of a scope hangs in no slot. It has given up its own hold by then."""
        children = [each for each in node.children if each.is_task]
        if node.is_task or not children:
            return
        try:
            scope = node.place.cast(self.kind("of_scope_environment"))["scope"].target()
            if scope is None or scope["holds_"].number() > len(children):
                return
            joiner = scope["joiner_"].target()
        except Unreadable:
            return
        known = {wait.promise.address for each in self.nodes.values() for wait in each.waits} if joiner is not None else ()
        if joiner is not None and joiner.address not in known:
            node.waits.append(Wait(self, joiner, "children"))
