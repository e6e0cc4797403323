# words.py: names of values that only the library's sources know, and of functions.
# SPDX-License-Identifier: MIT

STOP_REASONS = ("none", "user", "deadline", "parent", "sibling failed", "race lost", "shutdown", "discarded", "migrate")
GROUPS = ("when_all", "when_any", "race")  # group_kind


def last_names(function, count):
    """The last names of a function: "detail::leaf::on_stop(...)", 2 -> "leaf::on_stop"."""
    return "::".join(function.split("(")[0].split("::")[-count:])
