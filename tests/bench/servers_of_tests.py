"""The servers of tests/support/servers.py for a benchmark: on one CPU, until the benchmark ends.
SPDX-License-Identifier: MIT
"""
import importlib.util, os, sys

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "servers.py")


def start(cpu, name="postgres"):
    """@returns  the server, and what ends it"""
    spec = importlib.util.spec_from_file_location("test_servers", PATH)  # bench has a servers.py of its own
    module = importlib.util.module_from_spec(spec)
    sys.path.append(os.path.dirname(spec.origin))  # what it imports lies beside it
    spec.loader.exec_module(module)
    before = os.sched_getaffinity(0)
    running = module.Servers(name)
    os.sched_setaffinity(0, {cpu})
    try:
        running.__enter__()
    finally:
        os.sched_setaffinity(0, before)
    return running[name], running.__exit__
