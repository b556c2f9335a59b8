"""The law of a race: what the client may show for each way of deciding, and the breaches of it."""

import json
import re
from dataclasses import dataclass

NUMBER = re.compile(r"echo (\d+) >>")

# What the client shows: it ran, it was refused with the reason, it was refused without one, or nothing since it was killed.
RAN, REASON, REFUSED, LOST = "ran", "denied with the reason", "refused", "lost"
# Ways to decide: how often each is taken, and what the client may show. Two deciders come at the same moment.
WAYS = {
    "yes": (3, {RAN}),
    "escape": (1, {REFUSED}),
    "no": (1, {REFUSED}),
    "allow": (4, {RAN}),
    "deny": (3, {REASON}),
    "stop": (1, {REFUSED}),
    "window": (3, {RAN}),
    "window deny": (2, {REASON}),
    "notification": (2, {RAN}),
    "notification deny": (2, {REFUSED}),
    "timeout": (1, {RAN}),
    "client kill": (1, {LOST}),
    "restart": (1, {RAN}),
    "kill": (1, {RAN}),
    "yes and deny": (3, {RAN, REASON}),
    "escape and allow": (3, {RAN, REFUSED}),
    "yes and window": (3, {RAN}),
    "escape and window": (2, {RAN, REFUSED}),
    "window and deny": (3, {RAN, REASON}),
    "client kill and allow": (1, {LOST, RAN}),
}
# An answer alone has its effect, and the store says so.
ALONE = {"allow", "deny", "stop", "window", "window deny", "notification", "notification deny"}
# Escape during the command that an answer has allowed: it ran, and the client calls it refused.
CUT = {"escape and allow", "escape and window"}


@dataclass
class Decided:
    """One request, what decided it, and what the client shows of it."""

    number: int
    way: str
    request: dict
    session: str
    # The number that `watchbill answer` named, and its exit code.
    named: int | None = None
    code: int | None = None
    said: str = ""
    names_request: bool = False
    shown: str = ""
    # Not if the client then did something else: it was ended, and its request may be decided or not.
    is_over: bool = False


def number_of(call):
    """The number in the input of a tool call; `None` without one."""
    found = NUMBER.search(json.dumps(call))
    return int(found[1]) if found else None


def results_of(desk):
    """What the client shows of each number: a list of results."""
    calls, results = {}, {}
    for client in desk.clients:
        for record in desk.records(client):
            content = record.get("message", {}).get("content") if isinstance(record.get("message"), dict) else None
            for block in content if isinstance(content, list) and record.get("type") in ("user", "assistant") else []:
                if block.get("type") == "tool_use" and (number := number_of(block["input"])):
                    calls[block["id"]] = number
                if block.get("type") == "tool_result" and block["tool_use_id"] in calls:
                    words = json.dumps(block.get("content"))
                    results.setdefault(calls[block["tool_use_id"]], []).append((bool(block.get("is_error")), words))
    return results


def runs_of(desk):
    """The numbers of the commands that ran, once for each run."""
    files = [path.read_text() for path in desk.sandbox.work.glob("timeout-*.txt")]
    return [int(word) for word in (desk.made("made.txt") or "").split()] + [int(NUMBER.search(file)[1]) for file in files]


def broken(desk, decided):
    """The breaches of the law."""
    made, results = runs_of(desk), results_of(desk)
    breaches = []
    over = [one for one in decided if one.is_over]
    for one in over:
        breaches += broken_in_client(one, results.get(one.number, []), made.count(one.number))
    strays = [d for d in decided if d.code == 0 and d.named not in (None, d.number)]
    breaches += [f"the answer to request {d.number} reached {d.named}" for d in strays]
    breaches += [f"request {n} ran more than once" for n in set(made) if made.count(n) > 1]
    stored = {}
    for answer in desk.engine.stored():
        stored.setdefault(answer["requestId"], []).append(answer["outcome"])
    for one in over:
        outcomes = stored.get(one.request["id"], [])
        live = [o for o in outcomes if o != "lost"]
        if len(live) > 1 or (one.way in ALONE and live != ["effect"]):
            breaches.append(f"request {one.number} ({one.way}) has the stored answers {outcomes}")
    numbers = {d.number for d in decided}
    return breaches + [f"{n} ran, and was never decided" for n in set(made) if n not in numbers]


def broken_in_client(one, results, ran):
    """The breaches in what the client shows of one request."""
    name = f"request {one.number} ({one.way})"
    may = WAYS[one.way][1]
    if not results and LOST in may:
        one.shown = LOST
        # The command may have begun before the client was killed.
        return [f"{name} ran {ran} times"] if ran > (RAN in may) else []
    if len(results) != 1:
        return [f"{name} has {len(results)} results"]
    failed, words = results[0]
    reasons = re.findall(r"reason (\d+)\.", words)
    one.shown = RAN if not failed else REASON if reasons else REFUSED
    breaches = []
    if ran != (one.shown == RAN) and not (one.way in CUT and (one.shown, ran) == (REFUSED, 1)):
        breaches.append(f"{name} ran {ran} times, and the client shows: {words[:200]}")
    if any(int(found) != one.number for found in reasons):
        breaches.append(f"{name} got the answer to another one: {words[:200]}")
    if one.shown not in may:
        breaches.append(f"{name} was {one.shown}: {words[:200]}; `answer`: {one.code} {one.said}")
    return breaches
