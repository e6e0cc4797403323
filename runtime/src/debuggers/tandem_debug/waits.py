# waits.py: what a task waits for, in words.
# SPDX-License-Identifier: MIT
from . import words
from .place import Unreadable


def describe(wait):
    """ "a mutex (door)". """
    if wait.how == "queued":
        return f"may go on: it lies {wait.where}"
    if wait.how == "children":
        return "waits for the children of its scope"
    try:
        what, detail = _of_leaf(wait)
    except Unreadable as failure:
        return f"waits for something that cannot be read ({failure})"
    return f"waits for {what}" + (f" ({detail})" if detail else "")


def _of_leaf(wait):
    leaf, snapshot = wait.leaf, wait.snapshot
    name = snapshot.wait_class(leaf)
    word = own_word(leaf)
    if word is None:
        awaiter = wait.frames()[0].part_at(leaf.address)
        word = words.of_awaiter(awaiter) if name == "waiter" and awaiter else None
    word = word or words.OF_ON_STOP.get(name) or (f"something ({name})" if name else "something")
    detail = DETAILS[name](snapshot, leaf) if name in DETAILS else None
    return word, detail


def own_word(leaf):
    """What the library itself calls this kind of wait; None if it has no such words."""
    if not leaf.has("kind_"):
        return None
    kind = leaf["kind_"].target()
    if kind is None or not kind.has("word"):
        return None
    return leaf.types.text(kind["word"].number()) or None


def _as(snapshot, member, leaf):
    """The object of this type whose base the waiter is."""
    kind = snapshot.kind(member)
    place = leaf.cast(kind)
    place.address = leaf.address - place.base_offset("stop_waiter")
    place._data = None
    return place


def _lock(snapshot, leaf):
    address = _as(snapshot, "of_waiter", leaf)["lock_"].number()
    return object_name(snapshot.program, address)


def object_name(program, address):
    """A global variable by its name, anything else by its address."""
    name, offset = program.symbol(address)
    if not name:
        return f"at {address:#x}"
    return name if offset == 0 else f"{name} + {offset}"


def _joined(snapshot, leaf):
    root = _as(snapshot, "of_join", leaf)["target_"].target()
    if root is None:
        return None
    return f"task {root['env_']['id_'].number()}"


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
    return {1: "it waits for a thread of the blocking pool", 2: "it runs on a thread of the blocking pool"}.get(state)


DETAILS = {"waiter": _lock, "join_leaf": _joined, "sleep_awaiter": _until, "blocking_request": _blocking}
