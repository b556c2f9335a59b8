"""Compares the shown states with the truth: shares of time, wrong stretches, settle times, false and missed alarms.

Pure: numbers in, numbers out.
"""

from dataclasses import dataclass, field, replace

from truth import ABSENT

# So long after a turning the phase before may still be shown. The client needs this time to react. Its own registry
# follows a key by 115 to 355 ms (2.1.329), a permission dialog follows the model's answer by 70 to 270 ms.
TOLERANCE = 0.4
# And on a busy machine, where the client leaves no trace for longer than that, until so long after its first trace.
AFTER_TRACE = 0.1


@dataclass(frozen=True)
class Shown:
    """The state of one session that a watcher showed from `at` on."""

    at: float
    state: str = ABSENT
    kind: str | None = None
    confidence: str = "observed"
    source: str = ""


@dataclass
class Stretch:
    """A time in which something other than the truth was shown."""

    begin: float
    end: float
    phase: str
    state: str
    kind: str | None
    confidence: str
    source: str

    @property
    def seconds(self):
        """Its length."""
        return self.end - self.begin


@dataclass
class Settle:
    """The time from a turning until the right state was shown; `None` if it never was."""

    action: str
    phase: str
    seconds: float | None
    client: float | None = None


@dataclass
class Score:
    """One session, one watcher, one run."""

    seconds: float = 0.0
    right: float = 0.0
    right_kind: float = 0.0
    wrong: list = field(default_factory=list)
    settles: list = field(default_factory=list)
    false_alarms: list = field(default_factory=list)
    missed: list = field(default_factory=list)
    asked: int = 0
    ends_right: bool = True


def score(turnings, timeline, begin, end, traces=()):
    """Compares the truth about one session with its shown states, from `begin` to `end`.

    `timeline` is in order of time; before its first entry nothing was shown. `traces` are the times of the client's writes
    and hooks, in order: the first one after a turning is the first moment at which a watcher could know of it.
    """
    if not turnings or end <= begin:
        return Score()
    shown = [Shown(float("-inf")), *timeline]
    result = Score()
    untils = [tolerated(turning, traces) for turning in turnings]
    cuts = {begin, begin + TOLERANCE, end, *untils} | {t.at for t in turnings} | {s.at for s in timeline}
    cuts = sorted(cut for cut in cuts if begin <= cut <= end)
    for start, stop in zip(cuts, cuts[1:]):
        if start < turnings[0].at:
            continue
        now = at(shown, start)
        accepted = accepted_at(turnings, untils, start)
        # A watcher that has just begun has not shown anything yet.
        if start < begin + TOLERANCE and now.state == ABSENT:
            continue
        weigh(result, now, accepted, start, stop)
    result.wrong = joined(result.wrong)
    result.false_alarms = joined(result.false_alarms)
    result.settles = settles(turnings, shown, begin, end, traces)
    alarms(result, turnings, shown, begin, end)
    result.ends_right = turnings[-1].phase.has_state(at(shown, end))
    return result


def at(shown, time):
    """The state that was shown at a time."""
    return next(s for s in reversed(shown) if s.at <= time)


def tolerated(turning, traces):
    """The time until which the phase before a turning may still be shown."""
    trace = next((t for t in traces if t > turning.at), turning.at)
    return max(turning.at + TOLERANCE, trace + AFTER_TRACE)


def accepted_at(turnings, untils, time):
    """The phases that may be shown at a time: the true one, and those that ended within the tolerance."""
    accepted = []
    for index, turning in enumerate(turnings):
        if turning.at > time:
            break
        if time < (untils[index + 1] if index + 1 < len(turnings) else float("inf")):
            accepted.append(turning.phase)
    return accepted


def weigh(result, now, accepted, start, stop):
    """Counts one slice of time."""
    span = stop - start
    result.seconds += span
    stretch = Stretch(start, stop, accepted[-1].name, now.state, now.kind, now.confidence, now.source)
    if any(phase.has_state(now) for phase in accepted):
        result.right += span
    else:
        result.wrong.append(stretch)
    if any(phase.has_kind(now) for phase in accepted):
        result.right_kind += span
    if now.state == "waiting_for_approval" and not any(phase.may_ask for phase in accepted):
        result.false_alarms.append(replace(stretch))


def joined(stretches):
    """Joins stretches that touch and show the same."""
    out = []
    for stretch in stretches:
        last = out[-1] if out else None
        if last and last.end == stretch.begin and last.state == stretch.state:
            last.end = stretch.end
        else:
            out.append(stretch)
    return out


def settles(turnings, shown, begin, end, traces):
    """The time from each turning until it was shown."""
    out, before = [], None
    for index, turning in enumerate(turnings):
        stop = turnings[index + 1].at if index + 1 < len(turnings) else end
        # A phase that passes too quickly need not be shown.
        if stop - turning.at < TOLERANCE:
            continue
        # If the user sees no difference, nothing has to settle.
        same = before is None or before.states & turning.phase.states
        # A moment in which the user may be asked already is none in which this has to be shown.
        in_passing = turning.phase.may_ask and not turning.phase.asks
        before = before if in_passing else turning.phase
        if same or not begin <= turning.at < end:
            continue
        times = [turning.at] + [s.at for s in shown if turning.at < s.at < stop]
        right = next((t for t in times if turning.phase.has_state(at(shown, t))), None)
        trace = next((t for t in traces if t > turning.at), None)
        seconds = None if right is None else right - turning.at
        client = None if trace is None else trace - turning.at
        out.append(Settle(turning.action, turning.phase.name, seconds, client))
    return out


def alarms(result, turnings, shown, begin, end):
    """The questions that were asked, and those that were never shown."""
    episodes = []
    for index, turning in enumerate(turnings):
        stop = turnings[index + 1].at if index + 1 < len(turnings) else end
        if not turning.phase.asks or stop <= begin or turning.at >= end:
            continue
        if episodes and episodes[-1][1] == turning.at:
            episodes[-1][1] = stop
        else:
            episodes.append([turning.at, stop, turning])
    for start, stop, turning in episodes:
        result.asked += 1
        times = [max(start, begin)] + [s.at for s in shown if start < s.at < stop]
        if not any(at(shown, time).state == "waiting_for_approval" for time in times):
            result.missed.append(Stretch(start, stop, turning.phase.name, ABSENT, None, "", turning.action))


def percentile(values, share):
    """The nearest-rank percentile; `None` of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    rank = max(1, -(-len(ordered) * share // 100))
    return ordered[int(rank) - 1]
