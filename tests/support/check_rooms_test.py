#!/usr/bin/env python3
# check_rooms_test.py: check_rooms.py finds what is wrong in a small tree, each mistake on its line, and nothing else.
# SPDX-License-Identifier: MIT
import sys

from small_tree import run_over

FILES = {
    "tests/support/rooms.txt": """# words
first line of no folder
[part/src]
low middle
high gone
left | right | both
low: cellar stairs
middle: stairs lost
attic: loft
high: roof,
left: yard
low -> high (door.hpp): a reason
low -> middle (unused.hpp): a reason
middle -> high (door.hpp) without a reason
low middle -> high (<tandem/detail/high/ladder.hpp>): a reason
both -> left (<tandem/detail/yard.hpp>): a reason
""",
    "part/src/low/low.cpp": """#include "low/own.hpp"
#include <high/public.hpp>
  #  include "high/door.hpp"
#include "high/window.hpp"
// #include "high/window.hpp"
#include "own.hpp"
#include <tandem/detail/cellar.hpp>
#include <tandem/detail/high/ladder.hpp>
#include <tandem/ladder.hpp>
""",
    "part/src/middle/deep/middle.hpp": """#include "low/own.hpp"
#include "high/door.hpp"
#include <tandem/detail/cellar.hpp>
#include <tandem/detail/yard.hpp>
""",
    "part/src/high/door.hpp": '#include "low/own.hpp"\n#include "middle/deep/middle.hpp"\n',
    "part/src/left/left.cpp": '#include "low/own.hpp"\n#include <tandem/detail/yard.hpp>\n',
    "part/src/right/right.cpp": '#include "left/left.hpp"\n#include "high/door.hpp"\n#include <tandem/detail/yard.hpp>\n',
    "part/src/both/both.cpp": '#include <tandem/detail/yard.hpp>\n#include <tandem/detail/yard.hpp>\n',
    "part/src/forgotten/it.hpp": "\n",
    "part/include/tandem/detail/cellar.hpp": '#include <tandem/detail/yard.hpp>\n',
    "part/include/tandem/detail/stairs.hpp": "\n",
    "part/include/tandem/detail/loft.hpp": "\n",
    "part/include/tandem/detail/yard.hpp": "\n",
    "part/include/tandem/detail/high/ladder.hpp": "\n",
    "part/include/tandem/detail/shed/spade.hpp": "\n",
    "elsewhere/src/low/low.cpp": '#include "high/door.hpp"\n',
}
RULES = "tests/support/rooms.txt"
WANTED = {
    f"{RULES}:2: stands before any folder",
    f"{RULES}:10: headers are written: room: header header",
    f"{RULES}:14: an exception is written: room room -> room (header): reason",
    f"{RULES}:1: room part/src/forgotten is not in the order",
    f"{RULES}:5: there is no room part/src/gone",
    f"{RULES}:8: stairs is of low already",
    f"{RULES}:8: there is no detail header lost",
    f"{RULES}:9: attic is no room of part/src",
    f"{RULES}:1: <tandem/detail/loft.hpp> is of no room",
    f"{RULES}:1: <tandem/detail/shed/spade.hpp> is of no room",
    f"{RULES}:13: nothing in part/src/low needs this exception",
    f"{RULES}:15: nothing in part/src/middle needs this exception",
    f"part/src/low/low.cpp:4: high/window.hpp is of high, a room that is not below low: see {RULES}",
    f"part/src/low/low.cpp:6: own.hpp is of no room: a header is included as room/header",
    f"part/src/middle/deep/middle.hpp:2: high/door.hpp is of high, a room that is not below middle: see {RULES}",
    f"part/src/middle/deep/middle.hpp:4: <tandem/detail/yard.hpp> is of left, a room that is not below middle: see {RULES}",
    f"part/src/right/right.cpp:1: left/left.hpp is of left, a room that is not below right: see {RULES}",
    f"part/src/right/right.cpp:3: <tandem/detail/yard.hpp> is of left, a room that is not below right: see {RULES}",
}


def main() -> int:
    ran = run_over(FILES, "check_rooms.py")
    *found, _ = ran.stdout.splitlines()
    if ran.returncode == 1 and set(found) == WANTED and len(found) == len(WANTED):
        return 0
    print(f"exit status {ran.returncode}; missing: {WANTED - set(found)}; too many: {set(found) - WANTED}\n{ran.stderr}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
