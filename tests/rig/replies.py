"""The answers of the stub's model: a script is a list of steps, one for each request after the prompt that names it."""

import re
import threading

# A prompt names a script so.
DIRECTIVE = re.compile(r"@@([a-z0-9_]+)")


# Stands in an argument of a tool call for the file that the client names for the plan.
PLAN_FILE = "{plan file}"


class Step:
    """One answer of the model: blocks of text and tool calls, or an error; perhaps held back until the driver releases it."""

    def __init__(self, *blocks, hold=False, hold_midway=False, error=None, usage=None, delay=0.0):
        self.blocks = list(blocks)
        self.error = error
        self.usage = usage or {}
        self.delay = delay
        # Before the first byte, and after the first half of the text.
        self.gate = threading.Event() if hold else None
        self.midway = threading.Event() if hold_midway else None

    @property
    def asks_for_tools(self):
        """Whether the turn continues after this answer."""
        return any(block["type"] == "tool_use" for block in self.blocks)

    def release(self):
        """Releases a held step."""
        for gate in (self.gate, self.midway):
            if gate:
                gate.set()


def text(words):
    """A text for the user."""
    return {"type": "text", "text": words}


def tool(name, **arguments):
    """A tool call."""
    return {"type": "tool_use", "name": name, "input": arguments}


def bash(command, **arguments):
    """A shell command."""
    return tool("Bash", command=command, description="Run a command", **arguments)


def error(status, kind, message, times=99, **headers):
    """A failure of the API, for the first `times` attempts."""
    return {
        "status": status,
        "type": kind,
        "message": message,
        "times": times,
        "headers": {name.replace("_", "-"): value for name, value in headers.items()},
    }


# It is not in the client's list of commands that need no permission, so the client asks for one.
ASKING = "echo rig > out.txt; cat out.txt"


def waiting(gate):
    """A command that needs no permission and runs until the driver writes into the FIFO of this name."""
    return f"cat {gate}"


# The client's requests to the model beside the conversation; matched in the last words of the user.
COMPACTION = (
    r"(Your task is to create a detailed summary|create a detailed summary of (the|our|this) conversation"
    r"|CRITICAL: Respond with TEXT ONLY)"
)
