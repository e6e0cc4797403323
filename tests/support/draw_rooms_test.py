#!/usr/bin/env python3
# draw_rooms_test.py: draw_rooms.py leaves out arrows that follow from others, and finds what a drawing has wrong.
# SPDX-License-Identifier: MIT
import sys

from small_tree import run_over

FILES = {
    "tests/support/rooms.txt": "[part/src]\nlow middle high\n[other/src]\nalone\n",
    "part/src/low/low.hpp": "#pragma once\n",
    "part/src/middle/middle.hpp": '#include "low/low.hpp"\n',
    "part/src/high/high.cpp": '#include "high/high.hpp"\n#include "low/low.hpp"\n#include "middle/middle.hpp"\n',
    "other/src/alone/alone.cpp": "#include <vector>\n",
    "part/rooms.svg": "<title>rooms</title><title>low</title><title>high</title>\n"
                      "<title>gone</title><title>high&#45;&gt;middle</title><title>high&#45;&gt;low</title>\n",
}
WANTED = [
    "part/rooms.svg: middle is not drawn: run tests/support/draw_rooms.py",
    "part/rooms.svg: middle->low is not drawn: run tests/support/draw_rooms.py",
    "part/rooms.svg: gone is drawn, and is not there: run tests/support/draw_rooms.py",
    "part/rooms.svg: high->low is drawn, and is not there: run tests/support/draw_rooms.py",
    "other/rooms.svg: alone is not drawn: run tests/support/draw_rooms.py",
    "drawings: 2 looked at, 5 wrong",
]


def main() -> int:
    ran = run_over(FILES, "draw_rooms.py", "check")
    if ran.returncode == 1 and ran.stdout.splitlines() == WANTED:
        return 0
    print(f"exit status {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
