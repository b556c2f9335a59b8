"""Validates the plugin folder with the client itself: `claude plugin validate`."""

import subprocess

from sandbox import Sandbox, Ways


def complaint(programs, folder):
    """The client's complaint about the folder, or `None`."""
    sandbox = Sandbox(programs, 0, 0, [], Ways())
    try:
        words = [programs.claude, "plugin", "validate", folder]
        said = subprocess.run(
            [str(word) for word in words],
            cwd=sandbox.work,
            env=sandbox.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return None if said.returncode == 0 else f"{folder} is no plugin: {(said.stdout + said.stderr).strip()}"
    finally:
        sandbox.remove()
