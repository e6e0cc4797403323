# waits.py: what a task waits for, in words.
# SPDX-License-Identifier: MIT
from .place import Place, Unreadable

MOST_BRANCHES = 1000  # a bound for a list that is damaged


def describe(wait):
    """ "waits for a mutex (door)". """
    if wait.how == "queued":
        return f"may go on: it lies {wait.where}"
    if wait.how == "children":
        return "waits for the children of its scope"
    try:
        return _of_leaf(wait.snapshot, wait.leaf)
    except Unreadable as failure:
        return f"waits for something that cannot be read ({failure})"


def _of_leaf(snapshot, leaf):
    word = leaf.types.text(leaf["kind_"].target()["word"].number())
    name = snapshot.wait_class(leaf)
    if name == "sleep_awaiter":
        return f"sleeps ({_until(snapshot, leaf)})"
    detail = DETAILS[name](snapshot, leaf) if name in DETAILS else None
    return f"waits for {word or 'something'}" + (f" ({detail})" if detail else "")


def _as(snapshot, member, leaf):
    """The object of this type whose base the waiter is."""
    offset = snapshot.kind(member).base_offset("stop_waiter")
    return snapshot.place(member, leaf.address - offset)


def _lock(snapshot, leaf):
    lock = _as(snapshot, "of_waiter", leaf)["lock_"].number()
    out = object_name(snapshot.program, lock)
    if leaf.types.text(leaf["kind_"].target()["word"].number()) == "a mutex":
        owner = snapshot.place("of_mutex", lock)["owner_"].number()  # its word is its first member
        node = snapshot.by_id(owner)
        if node is not None:
            out += f", held by task {node.task().id}"
        else:
            out += ", held outside any task" if owner == 0 else ", held by a task, or a part of one, that has ended"
    return out


def object_name(program, address):
    """A global variable by its name, anything else by its address."""
    name, offset = program.symbol(address)
    if not name:
        return f"at {address:#x}"
    return name if offset == 0 else f"{name} + {offset}"


def _joined(snapshot, leaf):
    root = _as(snapshot, "of_join", leaf)["target_"].target()
    return f"task {root['env_']['id_'].number()}" if root is not None else None


def _until(snapshot, leaf):
    deadline = _signed(_as(snapshot, "of_sleep", leaf)["deadline_ns_"])
    now = snapshot.program.now_ns()
    if now is not None and abs(deadline - now) < 3 * 10**17:  # ten years: another one is no time of this clock
        left = (deadline - now) / 1e9
        return f"due in {left:.3f} s" if left >= 0 else f"due {-left:.3f} s ago"
    return f"due at {deadline / 1e9:.3f} s of the steady clock"


def _blocking(snapshot, leaf):
    state = _as(snapshot, "of_blocking", leaf)["state_"].number()
    return {1: "queued for a thread", 2: "on a thread"}.get(state)


def _named(snapshot, name, leaf):
    """An object of a type that only programs with debug information describe."""
    kind = snapshot.program.kind_named(name)
    return Place(snapshot.program, kind, leaf.address - kind.base_offset("stop_waiter")) if kind is not None else None


def _operation(snapshot, leaf):
    operation = _named(snapshot, "tandem::v0::io::detail::operation", leaf)
    if operation is None:
        return None
    kind = operation["kind_"]
    name = snapshot.program.native_enumerator(kind.kind.native, kind.number()) or f"operation {kind.number()}"
    return f"{name.replace('_', ' ')} on descriptor {_signed(operation['descriptor_'])}"


def _arrival(snapshot, leaf):
    wait = _named(snapshot, "tandem::v0::io::detail::multishot_awaiter", leaf)
    socket = wait["socket_"].target() if wait is not None else None
    return f"descriptor {_signed(socket['descriptor_'])}" if socket is not None else None


def _select(snapshot, leaf):
    """What its armed branches wait for, in the order in which they stand."""
    branches = []
    place = _as(snapshot, "of_select", leaf)["of_"].target()["joined_"].target()
    while place is not None and len(branches) < MOST_BRANCHES:
        word = place["what"].target()["kind_"].target()["word"].number()
        branches.append((place["index"].number(), leaf.types.text(word) or "time"))
        place = place["next"].target()
    return "of " + ", ".join(word for _, word in sorted(branches)) if branches else None


def _signed(place):
    bits = 8 * min(place.kind.size, 8)
    return place.number() - (2**bits if place.number() >= 2**(bits - 1) else 0)


DETAILS = {"waiter": _lock, "join_leaf": _joined, "blocking_request": _blocking, "operation": _operation,
           "multishot_awaiter": _arrival, "select_leaf": _select}
