"""Turns one staged run into plain numbers: each watcher's score for each session, ready for JSON."""

from dataclasses import asdict

from compare import score


def measure(stage):
    """The scores of a run by witness set: a list of sessions, and the rows of sessions that never existed."""
    traces = stage.observer.traces
    out = {}
    for watcher in stage.watchers:
        sessions = []
        for label, turnings in stage.truth.turnings.items():
            session = stage.truth.ids[label]
            timeline = watcher.timelines.get(session, [])
            begin = max(stage.began, watcher.began)
            result = score(turnings, timeline, begin, stage.ended, traces)
            sessions.append({"label": label, **asdict(result)})
        known = set(stage.truth.ids.values())
        strangers = [shown for session, shown in watcher.timelines.items() if session not in known]
        asked = [s for row in strangers for s in row if s.state == "waiting_for_approval"]
        out[watcher.witnesses.name] = {"sessions": sessions, "strangers": len(strangers), "strangers_asking": len(asked)}
    return out


def relative(run, origin):
    """Turns times into seconds since the beginning of the run, rounded to milliseconds."""
    for by_set in run.values():
        for session in by_set["sessions"]:
            for stretch in [*session["wrong"], *session["false_alarms"], *session["missed"]]:
                stretch["begin"] = round(stretch["begin"] - origin, 3)
                stretch["end"] = round(stretch["end"] - origin, 3)
            for settle in session["settles"]:
                for key in ("seconds", "client"):
                    settle[key] = settle[key] if settle[key] is None else round(settle[key], 3)
            for key in ("seconds", "right", "right_kind"):
                session[key] = round(session[key], 3)
    return run
