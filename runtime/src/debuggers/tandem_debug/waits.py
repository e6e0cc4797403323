# waits.py: what a task waits for, in words.
# SPDX-License-Identifier: MIT
from .place import Unreadable


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
            out += ", held outside any task" if owner == 0 else ", held by a task that has ended"
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
    deadline = _as(snapshot, "of_sleep", leaf)["deadline_ns_"].number()
    if deadline >= 2**63:
        deadline -= 2**64
    now = snapshot.program.now_ns()
    if now is not None and abs(deadline - now) < 3 * 10**17:  # ten years: another one is no time of this clock
        left = (deadline - now) / 1e9
        return f"due in {left:.3f} s" if left >= 0 else f"due since {-left:.3f} s"
    return f"due at {deadline / 1e9:.3f} s of the steady clock"


def _blocking(snapshot, leaf):
    state = _as(snapshot, "of_blocking", leaf)["state_"].number()
    return {1: "queued for a thread", 2: "on a thread"}.get(state)


DETAILS = {"waiter": _lock, "join_leaf": _joined, "blocking_request": _blocking}
