# tandem_gdb.py: the commands "tandem tasks" and "tandem bt" of gdb, and the frames of coroutines in "bt".
# SPDX-License-Identifier: MIT
"""Loaded with the library, or by "source tandem_gdb.py". What it shows: README.md beside this."""

import os
import sys

if "tandem_debug" not in sys.modules:  # else it was loaded out of the program itself
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from tandem_debug import gdb_commands

gdb_commands.register()
