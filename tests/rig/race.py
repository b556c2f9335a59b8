"""Many requests, each decided at random: by a key, by `watchbill answer`, by both at once, or by a key after the engine's end.

The law: the client shows each request decided exactly once, as one of its deciders wanted; no answer reaches another request;
no hook process is left. The command of each request names its number.
"""

import json
import random
import re
import statistics
import threading
import time
from dataclasses import dataclass, field

from answers import keep
from client import ENTER, ESCAPE
from desk import DONE, JUST_NOW, SETTLES, Desk, Wrong
from replies import Step, bash, text
from stage import Failed

COUNT = "WATCHBILL_ANSWERS"
USUAL = 20
# Requests of one turn; the next one follows at once on a decision.
AT_ONCE = 3
# A client grows with its session.
TURNS_OF_A_CLIENT = 25
# An Escape ends the turn within this time.
KEY_ENDS = 0.6
NUMBER = re.compile(r"echo (\d+) >>")

# Ways to decide, and how often each is taken.
WAYS = {
    "yes": 3,
    "escape": 1,
    "no": 1,
    "allow": 4,
    "deny": 3,
    "stop": 1,
    "yes and deny": 3,
    "escape and allow": 3,
    "restart": 1,
    "kill": 1,
}
# What the client may show for each: it ran, it was refused with the reason, or without one.
RAN, REASON, REFUSED = "ran", "denied with the reason", "refused"
MAY = {
    "yes": {RAN},
    "escape": {REFUSED},
    "no": {REFUSED},
    "allow": {RAN},
    "deny": {REASON},
    "stop": {REFUSED},
    "yes and deny": {RAN, REASON},
    "escape and allow": {RAN, REFUSED},
    "restart": {RAN},
    "kill": {RAN},
}


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


@dataclass
class Race:
    """A race and what it measures."""

    desk: Desk
    chance: random.Random
    decided: list = field(default_factory=list)
    # Seconds from a key to the end of the shown request, and from the command's begin to the client's next word.
    keys: list = field(default_factory=list)
    answers: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    turns: int = 0
    asked: int = 0
    # Commands that were refused because the user could not have seen the request.
    unseen: int = 0
    client: object = None

    def run(self, count):
        """Decides that many requests."""
        last = None
        while len(self.decided) < count:
            if self.client is None or (self.turns % TURNS_OF_A_CLIENT == 0 and last is None):
                self.client = self.desk.client()
            if last is None:
                self.begin_turn()
            request = self.desk.card(self.client, after=last)
            self.decide(request)
            last = request if self.settled(request) else None
        if last is not None:
            self.desk.escape(self.client)
            self.desk.status(self.client, "idle")

    def begin_turn(self):
        """A turn with several requests."""
        self.turns += 1
        calls = []
        for _ in range(AT_ONCE):
            self.asked += 1
            calls.append(bash(f"echo {self.asked} >> made.txt"))
        self.desk.prompt(self.client, f"turn{self.turns}", Step(text("I run them."), *calls), DONE)

    def settled(self, request):
        """Waits until the request is decided; true when the next one of the turn is asked then."""
        desk, client = self.desk, self.client
        desk.must("the request goes", lambda: desk.engine.gone(client.session, request["id"]), 15)

        def over():
            word = desk.registry(client).get("status")
            shown = desk.engine.shown.get(client.session)
            if shown and shown["id"] != request["id"]:
                return "next"
            return "over" if word == "idle" else None

        return desk.until("the turn goes on or is over", over) == "next"

    def decide(self, request):
        """Decides one request."""
        desk, client = self.desk, self.client
        number = int(NUMBER.search(request["shown"])[1])
        way = self.chance.choices(list(WAYS), WAYS.values())[0]
        one = Decided(number, way, request, client.session)
        self.decided.append(one)
        desk.waits(client)
        before = desk.now(client)
        if way in ("restart", "kill"):
            desk.engine.end(15 if way == "restart" else 9)
            desk.must("no hook process is left", lambda: not desk.engine.hooks(), 10)
            desk.engine.start()
            desk.yes(client, request)
            return
        if way in ("yes", "escape", "no"):
            at = desk.no(client) if way == "no" else desk.decide(client, ENTER if way == "yes" else ESCAPE)
            desk.must("the request goes", lambda: desk.engine.gone(client.session, request["id"]), 15)
            self.keys.append(desk.engine.gone(client.session, request["id"]) - at)
            return
        if " and " in way:
            key, answer = way.split(" and ")
            time.sleep(SETTLES + self.chance.random() * 0.3)
            thread = threading.Thread(target=self.answer, args=(one, answer, self.chance.random() * 0.15))
            thread.start()
            # Either may be first.
            time.sleep(self.chance.random() * 0.15)
            client.press(ENTER if key == "yes" else ESCAPE)
            thread.join()
            # Either may have been too early or too late; one of them counts.
            if one.code != 0 and not desk.moved(client, before):
                time.sleep(0.5)
                if not desk.moved(client, before):
                    desk.decide(client, ENTER if key == "yes" else ESCAPE)
            # A key that came after the answer may have ended the turn: the next request is looked at when that is over.
            time.sleep(KEY_ENDS)
            return
        time.sleep(self.chance.random() * 1.2)
        self.answer(one, way)
        if one.code != 0:
            raise Wrong(f"request {number}: `answer` fails: {one.said}")
        self.answers.append(desk.leaves(client, before) - self.commands[-1][0])

    def answer(self, one, way, after=0.0, by_id=False):
        """`watchbill answer` after some time; half of the time it names the request. The user has seen `one`, and no later one."""
        time.sleep(after)
        words = {"allow": ["--allow"], "deny": ["--deny", f"reason {one.number}."], "stop": ["--stop"]}[way]
        one.names_request = by_id or self.chance.random() < 0.5
        named = ["--request", one.request["id"]] if one.names_request else []
        said = self.desk.engine.say("answer", one.session, *named, *words)
        self.commands.append((said.began, said.ended))
        found = NUMBER.search(said.out) if said.code == 0 else None
        if JUST_NOW in said.err and not one.names_request and NUMBER.search(said.out)[1] == str(one.number):
            # The user has seen it by now, and repeats the command with its id.
            self.unseen += 1
            return self.answer(one, way, by_id=True)
        one.named, one.code, one.said = int(found[1]) if found else None, said.code, (said.out + said.err).strip()

    # The law.

    def shown(self):
        """What the client shows of each number: a list of results."""
        calls, results = {}, {}
        for client in self.desk.clients:
            for record in self.desk.records(client):
                content = record.get("message", {}).get("content") if isinstance(record.get("message"), dict) else None
                for block in content if isinstance(content, list) and record.get("type") in ("user", "assistant") else []:
                    if block.get("type") == "tool_use" and (found := NUMBER.search(str(block["input"].get("command", "")))):
                        calls[block["id"]] = int(found[1])
                    if block.get("type") == "tool_result" and block["tool_use_id"] in calls:
                        text_of = json.dumps(block.get("content"))
                        results.setdefault(calls[block["tool_use_id"]], []).append((bool(block.get("is_error")), text_of))
        return results

    def broken(self):
        """The breaches of the law."""
        made = (self.desk.made("made.txt") or "").split()
        shown = self.shown()
        breaches = []
        strays = [d for d in self.decided if d.code == 0 and d.named not in (None, d.number)]
        for one in self.decided:
            results = shown.get(one.number, [])
            if len(results) != 1:
                breaches.append(f"request {one.number} ({one.way}) has {len(results)} results")
                continue
            failed, words = results[0]
            ran = made.count(str(one.number))
            reasons = re.findall(r"reason (\d+)\.", words)
            what = RAN if not failed else REASON if reasons else REFUSED
            one.shown = what
            # Escape during the command that the answer has allowed: it ran, and the client calls it refused.
            is_ended = one.way == "escape and allow" and (what, ran) == (REFUSED, 1)
            if ran != (what == RAN) and not is_ended:
                breaches.append(f"request {one.number} ({one.way}) ran {ran} times, and the client shows: {words[:200]}")
            if any(int(found) != one.number for found in reasons):
                breaches.append(f"request {one.number} ({one.way}) got the answer to another one: {words[:200]}")
            if what not in MAY[one.way]:
                breaches.append(f"request {one.number} ({one.way}) was {what}: {words[:200]}; `answer`: {one.code} {one.said}")
        breaches += [f"the answer to request {d.number} reached {d.named}" for d in strays]
        numbers = {d.number for d in self.decided}
        twice = [n for n in set(made) if made.count(n) > 1]
        breaches += [f"request {n} ran more than once" for n in twice]
        stored = {}
        for answer in self.desk.engine.stored():
            stored.setdefault(answer["requestId"], []).append(answer["outcome"])
        for one in self.decided:
            outcomes = stored.get(one.request["id"], [])
            live = [o for o in outcomes if o not in ("lost",)]
            if len(live) > 1:
                breaches.append(f"request {one.number} has the stored answers {outcomes}")
            if one.way in ("allow", "deny", "stop") and live != ["effect"]:
                breaches.append(f"request {one.number} ({one.way}) has the stored answers {outcomes}")
        return breaches + [f"{n} ran, and was never decided" for n in set(made) if int(n) not in numbers]


def times(name, seconds):
    """Median and 95th percentile, in words."""
    if not seconds:
        return f"{name}: none"
    ordered = sorted(seconds)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{name}: median {1000 * statistics.median(ordered):.0f} ms, p95 {1000 * high:.0f} ms, of {len(ordered)}"


def run(programs, kept, count, hooks=False, seed=None):
    """Runs the race; gives the complaints."""
    seed = random.randrange(10**6) if seed is None else seed
    desk = Desk(programs, hooks)
    race = Race(desk, random.Random(seed))
    complaints = []
    try:
        race.run(count)
        desk.no_hooks(within=10)
        time.sleep(1)
        complaints = race.broken()
    except (Wrong, Failed) as error:
        last = race.decided[-1] if race.decided else None
        complaints = [f"{error} ({last})", *race.broken()[:5]]
    finally:
        if complaints:
            keep(desk, kept, "race", "\n".join(complaints))
        desk.close()
        desk.sandbox.remove()
    taken = {way: sum(d.way == way for d in race.decided) for way in WAYS}
    print(f"  race of {len(race.decided)} requests, seed {seed}: {', '.join(f'{w} {n}' for w, n in taken.items())}")
    both = [d for d in race.decided if " and " in d.way]
    here = sum(d.shown == (REASON if d.way == "yes and deny" else RAN) for d in both)
    accepted = sum(d.code == 0 and d.named == d.number for d in both)
    print(f"    both at once {len(both)}: the client took {here} answers; accepted {accepted}; refused as unseen {race.unseen}")
    print("    " + times("key in the terminal -> request gone", race.keys))
    print("    " + times("`answer` begins -> client goes on", race.answers))
    print("    " + times("`answer` begins -> `answer` ends", [end - begin for begin, end in race.commands]), flush=True)
    return [f"answers, race of seed {seed}: {complaint}" for complaint in complaints]
