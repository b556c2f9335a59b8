"""The ground truth: what a session was doing from when on, as the driver and the stub know it.

Nothing in here comes from Watchbill, the client's registry, its hooks or its files. The driver knows when it pressed a
key or killed a process, the stub knows when it answered and with what.
"""

from dataclasses import dataclass, field

ABSENT = "absent"


@dataclass(frozen=True)
class Phase:
    """What may be shown while this goes on: states, and the kinds beside them (`None`: no kind)."""

    name: str
    states: frozenset
    kinds: frozenset

    @property
    def may_ask(self):
        """The person is asked, or perhaps only for a moment."""
        return "waiting_for_approval" in self.states

    @property
    def asks(self):
        """The person is asked, and has to be told."""
        return self.may_ask and "working" not in self.states

    def has_state(self, shown):
        """The state is right."""
        return shown.state in self.states

    def has_kind(self, shown):
        """The state and the kind are right."""
        return self.has_state(shown) and (shown.kind in self.kinds or shown.state == ABSENT)


def phase(name, states, *kinds):
    """A phase by its words."""
    return Phase(name, frozenset(states.split()), frozenset(kinds or [None]))


# Nothing has been asked of the agent yet: a row is there or, before the first record, not.
READY = phase("ready", f"waiting_for_input idle {ABSENT}", None, "turn_ended", "interrupted")
# Print mode, which has its prompt from the start.
STARTING = phase("starting", f"working waiting_for_input idle {ABSENT}", None, "turn_ended")
WORKING = phase("working", "working", None)
# Retries by HTTP status are written nowhere while they last.
RETRYING = phase("retrying", "working", None, "retrying")
COMPACTING = phase("compacting", "working", "compacting")
# The parent's turn is over, its subagents work on.
DELEGATED = phase("delegated", "working", "background", None)
PERMISSION = phase("permission", "waiting_for_approval", "permission")
# A dialog is open, and somebody else is about to answer it.
ASKED_IN_PASSING = phase("asked in passing", "waiting_for_approval working", "permission", None)
QUESTION = phase("question", "waiting_for_approval", "question")
PLAN = phase("plan", "waiting_for_approval", "plan")
ENDED_TURN = phase("turn ended", "waiting_for_input idle", "turn_ended")
# The turn is over, a shell command in the background is not.
BACKGROUND = phase("background shell", "waiting_for_input idle", "background")
INTERRUPTED = phase("interrupted", "waiting_for_input idle", "interrupted")
FAILED = phase("failed", "waiting_for_input idle", "error")
LIMITED = phase("limited", "waiting_for_input idle", "limit")
ENDED = phase("ended", f"ended {ABSENT}", None)
KILLED = phase("killed", f"ended {ABSENT}", "crashed")


@dataclass
class Turning:
    """From `at` on, `phase` is the truth; `action` is what the driver or the stub did."""

    at: float
    phase: Phase
    action: str


@dataclass
class Truth:
    """The truth of one run, by session. A session has a label until its id is known."""

    turnings: dict = field(default_factory=dict)
    ids: dict = field(default_factory=dict)

    def turn(self, label, at, new, action):
        """From `at` on, `new` is true of the session with this label."""
        row = self.turnings.setdefault(label, [])
        if row and row[-1].at > at:
            raise ValueError(f"{label}: {action} at {at:.3f} is older than {row[-1].action} at {row[-1].at:.3f}")
        row.append(Turning(at, new, action))

    def bind(self, label, session):
        """The id of the session with this label."""
        self.ids[label] = session

    def __str__(self):
        lines = []
        for label, row in self.turnings.items():
            lines += [f"{label} {self.ids.get(label, '?')[:8]} {t.at:9.3f} {t.phase.name:<16} {t.action}" for t in row]
        return "\n".join(lines)
