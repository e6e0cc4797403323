# emulated.py: programs of another system, which wine runs, for tests that start them.
# SPDX-License-Identifier: MIT
"""TANDEM_TEST_EMULATOR is what comes before the program: wine.sh and its prefix. Without it programs run as they are."""
import os
import shlex
import signal

EMULATOR = shlex.split(os.environ.get("TANDEM_TEST_EMULATOR", ""))


def command(program):
    return [*EMULATOR, program]


def live_environment():
    """For a program that is talked to while it runs. Its output has to be a file: wine's own services keep it open."""
    return {**os.environ, "TANDEM_WINE_LIVE": "1"} if EMULATOR else None


def signal_for(number):
    """wine makes SIGINT the Ctrl-C of a console; any other signal ends the program as if it had crashed."""
    return signal.SIGINT if EMULATOR else number
