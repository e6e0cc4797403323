# words.py: what is said of waits, of what stands between tasks, and of stops.
# SPDX-License-Identifier: MIT
"""Where the library has words of its own (wait_kind, environment_kind) these are taken. Else the name of a function says it."""

import re

STOP_REASONS = ("none", "user", "deadline", "parent", "sibling failed", "race lost", "shutdown", "discarded", "migrate")

# The class whose on_stop a waiter has: what it waits for.
OF_ON_STOP = {
    "waiter": "a lock, an event, a channel or the like",
    "sleep_awaiter": "a point in time",
    "join_leaf": "the end of a task",
    "blocking_request": "a blocking call",
    "place_waiter": "a free place",
    "submit_waiter": "a place in the queue of a pool",
    "scope_join_awaiter": "the children of a scope",
    "foreign_wait": "a call of another library",
    "operation": "I/O",
    "multishot_awaiter": "what a connection receives",
    "next_awaiter": "a stream",
}

# The awaiter that a wait is a part of, where the type of the frame is known.
OF_AWAITER = {
    "mutex_awaiter": "a mutex",
    "scoped_mutex_awaiter": "a mutex",
    "event_awaiter": "an event",
    "semaphore_awaiter": "a semaphore",
    "latch_awaiter": "a latch",
    "wait_group_awaiter": "a wait group",
}

# The function that hears of the end of a child: what stands between it and its parent.
OF_ON_FINAL = {
    "child_group::child_ended": "when_all, when_any or race",
    "timeout_scope::on_child_final": "time limit",
    "scope_runner::body_ended": "scope",
    "stop_from_token::child_ended": "with_stop",
    "stop_to_token::child_ended": "with_stop_token",
    "shield::child_ended": "shielded",
    "join_frame::child_ended": "fork_join",
}
GROUPS = ("when_all", "when_any", "race")


def last_names(function, count):
    """The last names of a function: "detail::leaf::on_stop(...)", 2 -> "leaf::on_stop"."""
    return "::".join(function.split("(")[0].split("::")[-count:])


def of_awaiter(type_name):
    """What an awaiter of this type waits for; None if that is not known."""
    plain = re.split("::|__", type_name.split("<")[0])[-1]  # clang: class_tandem__v0__event_awaiter
    if plain in OF_AWAITER:
        return OF_AWAITER[plain]
    if "channel" in plain:
        return "a channel"
    return None
