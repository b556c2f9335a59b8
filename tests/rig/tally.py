"""Many scores as few numbers, and the targets for them."""

from dataclasses import dataclass, field

from compare import percentile


@dataclass
class Tally:
    """The scores of one witness set over some runs."""

    seconds: float = 0.0
    right: float = 0.0
    right_kind: float = 0.0
    worst: dict | None = None
    settles: list = field(default_factory=list)
    own: list = field(default_factory=list)
    escapes: list = field(default_factory=list)
    never: int = 0
    asked: int = 0
    false_alarms: int = 0
    observed_false: int = 0
    missed: int = 0
    wrong_ends: int = 0
    strangers: int = 0

    def add(self, by_set):
        """One run's scores of one witness set."""
        self.strangers += by_set["strangers"]
        self.false_alarms += by_set["strangers_asking"]
        for session in by_set["sessions"]:
            self.seconds += session["seconds"]
            self.right += session["right"]
            self.right_kind += session["right_kind"]
            self.asked += session["asked"]
            self.missed += len(session["missed"])
            self.false_alarms += len(session["false_alarms"])
            self.observed_false += sum(s["confidence"] == "observed" for s in session["false_alarms"])
            self.wrong_ends += not session["ends_right"]
            for stretch in session["wrong"]:
                if self.worst is None or length(stretch) > length(self.worst):
                    self.worst = stretch
            for settle in session["settles"]:
                self.settle(settle)

    def settle(self, settle):
        """Adds one turning: shown after that time, or never."""
        if settle["seconds"] is None:
            self.never += 1
            return
        own = max(0.0, settle["seconds"] - (settle["client"] or 0.0))
        if settle["action"].startswith("Escape"):
            self.escapes.append(settle["seconds"])
        else:
            self.settles.append(settle["seconds"])
            self.own.append(own)

    @property
    def share(self):
        """The share of the time, in percent, in which the state was right."""
        return 100 * self.right / self.seconds if self.seconds else 0.0

    @property
    def kind_share(self):
        """The share of the time, in percent, in which state and kind were right."""
        return 100 * self.right_kind / self.seconds if self.seconds else 0.0

    @property
    def worst_seconds(self):
        """The longest wrong stretch."""
        return length(self.worst) if self.worst else 0.0

    def p(self, share, values=None):
        """A percentile of the settle times."""
        return percentile(self.settles if values is None else values, share)


def length(stretch):
    """Seconds of a stretch."""
    return stretch["end"] - stretch["begin"]


def tallies(runs, names):
    """Tallies by witness set, of runs as `measure` gives them."""
    out = {}
    for run in runs:
        for name, by_set in run.items():
            if name in names:
                out.setdefault(name, Tally()).add(by_set)
    return out


@dataclass(frozen=True)
class Target:
    """A target for one witness set."""

    words: str
    holds: object
    found: object


# The percentage of the time in which the state of an agent is to be right: less where its files and hooks tell less, or later.
SHARES = {"claude": 99.5, "codex": 99, "copilot": 99, "opencode": 97, "pi": 97, "gemini": 97}


def with_all(agent):
    """The targets with all witnesses of an agent."""
    share = SHARES[agent]
    words = f"the state is right {share} % of the time"
    return [Target(words, lambda t: t.share >= share, lambda t: f"{t.share:.2f} %"), *ALL_WITNESSES]


ALL_WITNESSES = [
    Target("no false \"needs you\"", lambda t: t.false_alarms == 0, lambda t: str(t.false_alarms)),
    Target("no missed \"needs you\"", lambda t: t.missed == 0, lambda t: f"{t.missed} of {t.asked}"),
    Target("every change is shown", lambda t: t.never == 0, lambda t: f"{t.never} never"),
    Target(
        "settled within 250 ms of a key or an answer, p95",
        lambda t: (t.p(95) or 0) < 0.25,
        lambda t: f"{1000 * (t.p(95) or 0):.0f} ms",
    ),
    Target(
        "settled within 1.5 s of Escape, p95",
        lambda t: (t.p(95, t.escapes) or 0) < 1.5,
        lambda t: f"{1000 * (t.p(95, t.escapes) or 0):.0f} ms",
    ),
]
# A mode that never asks is evidence too, and the files contain it.
NEVER_ASKING = ("auto-mode",)
FILES_ALONE = [
    Target("never a false approval where the mode excludes it", lambda t: t.false_alarms == 0, lambda t: str(t.false_alarms)),
]
# The bounds of a test run, however busy the machine is.
BOUND = [
    Target("no false \"needs you\"", lambda t: t.false_alarms == 0, lambda t: str(t.false_alarms)),
    Target("no missed \"needs you\"", lambda t: t.missed == 0, lambda t: f"{t.missed} of {t.asked}"),
    Target("each session ends in the right state", lambda t: t.wrong_ends == 0, lambda t: str(t.wrong_ends)),
    Target("every change is shown", lambda t: t.never == 0, lambda t: str(t.never)),
    # Far more than it needs; the targets above judge the times, for the table.
    Target(
        "settled within 10 s, always",
        lambda t: max([*t.settles, *t.escapes], default=0) < 10,
        lambda t: f"{max([*t.settles, *t.escapes], default=0):.2f} s",
    ),
]
