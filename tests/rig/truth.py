"""The ground truth: the phases of a session and their times, as the driver and the stub know them.

Nothing in here comes from Watchbill, the client's registry, its hooks or its files. The driver knows when it pressed a
key or killed a process, the stub knows when it answered and with what.
"""

from dataclasses import dataclass, field

ABSENT = "absent"


@dataclass(frozen=True)
class Phase:
    """The states that may be shown in this phase, and the kinds beside them (`None`: no kind)."""

    name: str
    states: frozenset
    kinds: frozenset

    @property
    def may_ask(self):
        """Whether the user is asked, or may be asked for a moment."""
        return "waiting_for_approval" in self.states

    @property
    def asks(self):
        """Whether the user is asked and must see it."""
        return self.may_ask and "working" not in self.states

    def has_state(self, shown):
        """Whether the state is right."""
        return shown.state in self.states

    def has_kind(self, shown):
        """Whether the state and the kind are right."""
        return self.has_state(shown) and (shown.kind in self.kinds or shown.state == ABSENT)


def phase(name, states, *kinds):
    """A phase by its words."""
    return Phase(name, frozenset(states.split()), frozenset(kinds or [None]))


# The client has no prompt yet: a row exists or, before the first record, does not.
READY = phase("ready", f"waiting_for_input idle {ABSENT}", None, "turn_ended", "interrupted")
# Print mode has its prompt from the start.
STARTING = phase("starting", f"working waiting_for_input idle {ABSENT}", None, "turn_ended")
WORKING = phase("working", "working", None)
# The client records retries by HTTP status nowhere while they last.
RETRYING = phase("retrying", "working", None, "retrying")
COMPACTING = phase("compacting", "working", "compacting")
# The parent's turn is over, and its subagents work on.
DELEGATED = phase("delegated", "working", "background", None)
PERMISSION = phase("permission", "waiting_for_approval", "permission")
# A dialog is open, and a hook is about to answer it.
ASKED_IN_PASSING = phase("asked in passing", "waiting_for_approval working", "permission", None)
QUESTION = phase("question", "waiting_for_approval", "question")
PLAN = phase("plan", "waiting_for_approval", "plan")
ENDED_TURN = phase("turn ended", "waiting_for_input idle", "turn_ended")
# The turn is over, and a shell command in the background still runs.
BACKGROUND = phase("background shell", "waiting_for_input idle", "background")
# Between the model's call and the dialog, either is right.
ABOUT_TO_ASK = phase("about to ask", "working waiting_for_approval", None, "permission", "question")
# The session rests; which word is shown for that depends on how it got there.
RESTS = phase("rests", "waiting_for_input idle", None, "turn_ended", "interrupted")
INTERRUPTED = phase("interrupted", "waiting_for_input idle", "interrupted")
FAILED = phase("failed", "waiting_for_input idle", "error")
LIMITED = phase("limited", "waiting_for_input idle", "limit")
ENDED = phase("ended", f"ended {ABSENT}", None)
KILLED = phase("killed", f"ended {ABSENT}", "crashed")


@dataclass
class Turning:
    """From `at` on, `phase` is the truth; `action` names the action of the driver or the stub."""

    at: float
    phase: Phase
    action: str


@dataclass
class Truth:
    """The truth of one run, by session. A session has a label until its id is known."""

    turnings: dict = field(default_factory=dict)
    ids: dict = field(default_factory=dict)

    def turn(self, label, at, new, action):
        """Records that `new` is the truth from `at` on, for the session with this label."""
        row = self.turnings.setdefault(label, [])
        if row and row[-1].at > at:
            raise ValueError(f"{label}: {action} at {at:.3f} is older than {row[-1].action} at {row[-1].at:.3f}")
        row.append(Turning(at, new, action))

    def bind(self, label, session):
        """Sets the id of the session with this label."""
        self.ids[label] = session

    def __str__(self):
        lines = []
        for label, row in self.turnings.items():
            lines += [f"{label} {self.ids.get(label, '?')[:8]} {t.at:9.3f} {t.phase.name:<16} {t.action}" for t in row]
        return "\n".join(lines)
