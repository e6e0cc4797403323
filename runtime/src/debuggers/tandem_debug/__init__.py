# __init__.py: what the scripts for gdb and lldb have in common: they read the tasks of a process that stands still.
# SPDX-License-Identifier: MIT
