# SPDX-License-Identifier: Apache-2.0
"""A command whose stderr is a terminal, as progress bars need."""
import os
import pty
import subprocess


def run_on_terminal(*command):
    """Returns the exit status and what the command wrote to the terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:  # the terminal's other end is closed
            break
        if not part:
            break
        shown += part
    os.close(leader)
    return process.wait(240), shown
