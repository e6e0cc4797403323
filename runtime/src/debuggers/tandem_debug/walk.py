# walk.py: all runtimes of a process, their tasks, and what each of them waits for.
# SPDX-License-Identifier: MIT
"""Tasks that have begun hang below the stop states of their runtime, each environment below its parent's; tasks that have not lie
in queues. What a task waits for hangs in the slot of its environment; from there the promises lead up to who awaits."""

from . import frames, queues, words
from .nodes import Node, Runtime, Wait, awaiting
from .place import Place, Unreadable

MOST_LATE_LEVELS = 20  # environments in a row that are in no list, and some more
LAST_MARK = 3  # addresses up to this one are no waiters: the slot was stopped, or a look of the process holds it


class Snapshot:
    """What is there now. Raises Unreadable if nothing of tandem can be found."""

    def __init__(self, program):
        self.program = program
        self.root = Place(program, *program.root())
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
        return self.root.kind.find(member)[1].target()

    def place(self, member, address):
        return Place(self.program, self.kind(member), address)

    def all_tasks(self):
        return [each for each in self.nodes.values() if each.is_task]

    def by_id(self, number):
        for node in self.nodes.values():
            if node.id == number:
                return node
        return None

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
        offset = self._environment_kind().find("stop_")[0]
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
                child = following
                if node.is_mark:
                    continue
                self.nodes[address] = node
                out.append(node)
                todo.append((node.place["stop_"], node.children))
        return top

    def node_of(self, address):
        """Of an environment, or of the nearest one around it that is in a list (stopping/late)."""
        for _ in range(MOST_LATE_LEVELS):
            if address == 0 or address in self.nodes:
                break
            address = Place(self.program, self._environment_kind(), address)["parent_"].number()
        return self.nodes.get(address)

    def _environment_kind(self):
        return self.kind("of_promise").find("env")[1].target()

    # Waits.
    def _read_slot(self, node):
        stop = node.place["stop_"]
        waiter = stop["slot_"].target() if stop["slot_"].number() > LAST_MARK else None
        if waiter is not None:
            self._read_waiter(node, waiter)
        listed = {}  # the newest first
        waiter = stop["overflow_"].target()
        while waiter is not None and waiter.address not in listed:
            listed[waiter.address] = waiter
            waiter = waiter["next_"].target()
        for waiter in reversed(listed.values()):
            self._read_waiter(node, waiter)

    def _read_waiter(self, node, waiter):
        if waiter["is_leaf_"].number() & 1 != 0:
            promise = waiter.cast(self.kind("of_leaf"))["waiting_"].target()
        else:
            promise = self._of_listener(waiter)
        if promise is not None:
            node.waits.append(Wait(self, promise, "leaf", waiter))

    def _of_listener(self, waiter):
        """The promise that waits there; None: it listens only."""
        if self.wait_class(waiter) != "foreign_wait":
            return None
        base = self.kind("of_foreign_wait").base_offset("stop_waiter")
        return self.place("of_foreign_wait", waiter.address - base)["waiting_"].target()

    def wait_class(self, waiter):
        """The class whose on_stop a stop_waiter has."""
        kind = waiter["kind_"].target()
        function = kind["on_stop"].number() if kind is not None else 0
        if function not in self._functions:
            names = words.last_names(self.program.symbol(function)[0], 2).split("::")
            self._functions[function] = names[0] if len(names) > 1 else ""
        return self._functions[function]

    # Queues.
    def _read_queues(self, pool, runtime):
        job_offset = self.kind("of_promise").base_offset("job")
        root_kind = self.kind("of_joinable_root")
        root_offset = root_kind.base_offset("job")
        for job, where in queues.of_pool(self, pool):
            try:
                function = self.program.word(job)
                if words.last_names(self.program.symbol(function)[0], 2) == "promise_base::resume_job":
                    promise = self.place("of_promise", job - job_offset)
                    node = self.node_of(promise["env"].number())
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
                node = self.node_of(context["env"].number())
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
            for top in chain[-1:]:  # that of the task
                owner = self.node_of(top.promise["env"].number())
                if owner is not None and owner.is_task and owner.body is None:
                    owner.body = top

    def running_chain(self, thread):
        """What a thread runs of a task: the coroutines on its stack, then those that await the outermost one."""
        if thread not in self._running:
            chain = [frames.at(self.program, each, now) for each, now in self.program.coroutines_on_stack(thread)]
            chain = [each for each in chain if each is not None]
            chain = chain or self._searched(thread)
            self._running[thread] = chain + (awaiting(self.program, chain[-1].promise) if chain else [])
        return self._running[thread]

    def _searched(self, thread):
        """Where the debugger cannot unwind the stack: frames of this very task whose addresses lie on it."""
        node = self.threads.get(thread)
        waiting = {each.promise.address for other in self.nodes.values() for wait in other.waits for each in wait.frames()}
        found = {}
        for word in self.program.words_on_stack(thread):
            try:
                if word % 8 != 0 or word < 4096 or word in found:
                    continue
                name, offset = self.program.symbol(self.program.word(word))
                promise = self.place("of_promise", word + frames.PROMISE_OFFSET)
                if offset == 0 and frames.is_coroutine_symbol(name) and promise.address not in waiting \
                        and node is not None and self.node_of(promise["env"].number()) is node:
                    found[word] = frames.Frame(self.program, promise, runs=True)
            except Unreadable:
                continue
        awaited = {each.promise["continuation"].number() for each in found.values()}
        return [each for each in found.values() if each.promise.address not in awaited][:1]

    def _add_join_of_scope(self, node):
        """scopes/wait: who waits for the children of a scope hangs in no slot."""
        if node.kind != "scope" or not any(each.is_task for each in node.children):
            return
        try:
            scope = node.place.cast(self.kind("of_scope_environment"))["scope"].target()
            joiner = scope["joiner_"].target() if scope is not None else None
        except Unreadable:
            return
        if joiner is not None:
            node.waits = [each for each in node.waits if each.promise.address != joiner.address]
            node.waits.append(Wait(self, joiner, "children"))
