"""Many requests, each decided at random: in the terminal, the window, a notification or by `watchbill answer`, by two of them at
once, by the end of the client or of the hook's time, or in the terminal after the engine's end.

The law: the client shows each request decided exactly once, as one of its deciders wanted; no answer reaches another request;
no process is left. The command of each request names its number.
"""

import json
import os
import random
import signal
import statistics
import threading
import time
from dataclasses import dataclass, field

from answers import keep
from client import ENTER, ESCAPE
from desk import DONE, JUST_NOW, SETTLES, Desk, Wrong
from race_law import NUMBER, RAN, REASON, WAYS, Decided, broken, number_of
from replies import Step, bash, text, tool
from stage import PATIENCE, Failed
from surfaces import Surfaces, found, holder_ends

COUNT = "WATCHBILL_ANSWERS"
SEED = "WATCHBILL_SEED"
USUAL = 20
# Requests of one turn; the next one follows at once on a decision.
AT_ONCE = 3
# A client grows with its session.
TURNS_OF_A_CLIENT = 25
# A session that is not seen to wait for two seconds asks nothing. The looks take some of that time.
LATE = 1.5
# A client without a free processor takes its time.
SLOWEST = 10
# Clients that may do something else.
ATTEMPTS = 3
# An Escape ends the turn within this time.
KEY_ENDS = 0.6
# The time of the hook that waits for a file's request. A command's hook waits for an hour.
HOOK_TIME = 4
# Two deciders come within this time.
MOMENT = 0.15
KEYS = {"yes": ENTER, "escape": ESCAPE}
NOTIFIED = {"notification", "notification deny"}
# A key in the terminal comes with an answer that decides otherwise.
WITH_KEY = {"yes and deny", "escape and allow", "escape and window"}

TO_GONE, TO_PAGE = "key in the terminal -> request gone", "key in the terminal -> card gone from the page"
TOLD_TO_GONE = "the client has written that it goes on -> request gone"
KILL_TO_GONE, KILL_TO_PAGE = "client killed -> request gone", "client killed -> card gone from the page"
ANSWER, COMMAND = "`answer` begins -> client goes on", "`answer` begins -> `answer` ends"
WINDOW, WINDOW_TO_PAGE = "key in the window -> client goes on", "key in the window -> card gone from the page"
TAP = "tap on a notification -> client goes on"


@dataclass
class Race:
    """A race and what it measures."""

    desk: Desk
    chance: random.Random
    # The window and the notifications, where this machine has them.
    surfaces: Surfaces | None = None
    decided: list = field(default_factory=list)
    cancelled: set = field(default_factory=set)
    # The planned way of each number.
    ways: dict = field(default_factory=dict)
    # Seconds, by what they measure.
    times: dict = field(default_factory=dict)
    turns: int = 0
    # Commands that were refused because the user could not have seen the request.
    unseen: int = 0
    # What clients failed to do.
    failed: list = field(default_factory=list)
    # Requests that were answered in the terminal since the client was too slow.
    late: int = 0
    client: object = None

    def run(self, count):
        """Decides that many requests."""
        goes_on = False
        while len(self.decided) < count:
            try:
                goes_on = self.next(goes_on)
            except Failed as failed:
                self.failed.append(str(failed))
                if len(self.failed) > ATTEMPTS:
                    raise
                self.leave()
                goes_on = False
        if goes_on and self.asked():
            self.desk.escape(self.client)
            self.desk.status(self.client, "idle")

    def next(self, goes_on):
        """Decides the next request, of the same turn if that goes on. Returns whether it goes on then."""
        if self.client is None or (self.turns % TURNS_OF_A_CLIENT == 0 and not goes_on):
            self.client = self.desk.client()
        if not goes_on:
            self.begin_turn()
        request = self.asked()
        if request is None:
            return False
        self.decide(request)
        goes_on = self.settled(request)
        self.decided[-1].is_over = True
        return goes_on

    def leave(self):
        """Leaves a client that did something else, as on a machine without a free processor. Another one goes on."""
        client = self.desk.clients[-1]
        if not client.gone.is_set():
            client.signal(signal.SIGKILL)
            client.gone.wait(10)
        self.client = None

    def begin_turn(self):
        """A turn with several requests."""
        self.turns += 1
        calls = []
        for place in range(AT_ONCE):
            number = len(self.ways) + 1
            self.ways[number] = self.way(is_first=place == 0)
            if self.ways[number] in NOTIFIED:
                # Before the request comes: what the user looks at raises no alert.
                self.surfaces.looks_away()
            command = f"echo {number} >> made.txt"
            path = str(self.desk.sandbox.work / f"timeout-{number}.txt")
            is_file = self.ways[number] == "timeout"
            calls.append(tool("Write", file_path=path, content=command) if is_file else bash(command))
        self.desk.prompt(self.client, f"turn{self.turns}", Step(text("I run them."), *calls), DONE)

    def way(self, is_first):
        """A way for a request. The first one of a turn may wait for a notification."""
        here = {way: often for way, (often, _) in WAYS.items() if self.surfaces or not needs_surfaces(way)}
        here = {way: often for way, often in here.items() if is_first or way not in NOTIFIED}
        return self.chance.choices(list(here), here.values())[0]

    def settled(self, request):
        """Waits until the request is decided; true when the next one of the turn is asked then."""
        desk, client = self.desk, self.client
        self.goes(request)
        if client.gone.is_set():
            self.client = None
            return False

        def over():
            if desk.engine.requests(client.session)[-1]["id"] != request["id"]:
                return "next"
            return "over" if desk.registry(client).get("status") == "idle" else None

        return self.follows("the turn goes on or is over", over) == "next"

    def follows(self, what, question):
        """Waits for what the client does next. That it waits without a request is not its own fault."""
        try:
            return self.desk.until(what, question, 2 * PATIENCE)
        except Failed as failed:
            if self.desk.registry(self.client).get("status") == "waiting":
                raise Wrong(f"the client waits, and its request was not shown: {failed}") from None
            raise

    def goes(self, request):
        """Waits until the request is not shown any more; returns when it went."""
        gone = lambda: self.desk.engine.gone(self.client.session, request["id"])  # noqa: E731
        return self.desk.must("the request goes", gone, 15)

    def took(self, what, since, until):
        """Takes down a time, if its end is known."""
        if until:
            self.times.setdefault(what, []).append(until - since)

    def page_goes(self, what, number, since):
        """Takes down when the window's page showed the request no more."""
        if self.surfaces:
            self.took(what, since, self.desk.must("the card goes", lambda: self.surfaces.gone(number), 15))

    def asked(self):
        """The next request, when its dialog is open. None: an Escape that came after an answer has ended it, and the turn."""
        asked_before = {one.request["id"] for one in self.decided[-1:]} | self.cancelled

        def fresh():
            shown = self.desk.engine.requests(self.client.session)
            return shown[-1] if shown and shown[-1]["id"] not in asked_before else None

        request = self.follows("a request", fresh)

        def opened():
            if self.desk.engine.is_waiting(self.client.pid):
                return "waits"
            is_gone = self.desk.engine.gone(self.client.session, request["id"])
            return "over" if is_gone and self.desk.registry(self.client).get("status") == "idle" else None

        if self.desk.until("the registry says that it waits", opened) == "over":
            self.cancelled.add(request["id"])
            return None
        self.desk.waits(self.client)
        return request

    def is_late(self, request):
        """Whether the request has gone since the client took too long to write that it waits. Its dialog stays."""
        engine, session = self.desk.engine, self.client.session
        if not engine.gone(session, request["id"]) or engine.shown.get(session):
            return False
        began = next(at for at, of, shown in engine.changes if of == session and shown and shown["id"] == request["id"])
        return engine.waited(self.client.pid) - began > LATE and self.desk.registry(self.client).get("status") == "waiting"

    # Deciding.

    def decide(self, request):
        """Decides one request."""
        number = number_of(request["input"])
        one = Decided(number, self.ways[number], request, self.client.session)
        self.decided.append(one)
        if self.surfaces and one.way not in NOTIFIED:
            self.surfaces.ready(self.client.session, number, lambda: self.is_late(request))
        before = self.desk.now(self.client)
        if self.is_late(request):
            self.late += 1
            one.way = "yes"
            self.desk.yes(self.client, request)
        elif one.way in ("restart", "kill"):
            holder_ends(self.desk, self.surfaces, signal.SIGTERM if one.way == "restart" else signal.SIGKILL)
            self.desk.yes(self.client, request)
        elif one.way == "timeout":
            self.goes(request)
            self.desk.dialog_stays(self.client, 0.5)
            self.desk.yes(self.client, request)
        elif one.way == "client kill":
            time.sleep(self.chance.random())
            at = self.client.signal(signal.SIGKILL)
            self.took(KILL_TO_GONE, at, self.goes(request))
            self.page_goes(KILL_TO_PAGE, number, at)
        elif " and " in one.way:
            self.both(one, before)
        elif one.way in ("yes", "escape", "no"):
            self.by_key(one)
        elif needs_surfaces(one.way):
            self.by_surface(one, before)
        else:
            time.sleep(self.chance.random() * 1.2)
            began = self.answer(one, one.way)
            if one.code != 0:
                raise Wrong(f"request {number}: `answer` fails: {one.said}")
            self.took(ANSWER, began, self.desk.leaves(self.client, before))

    def by_key(self, one):
        """A key in the terminal."""
        at = self.desk.no(self.client) if one.way == "no" else self.desk.decide(self.client, KEYS[one.way])
        gone = self.goes(one.request)
        self.took(TO_GONE, at, gone)
        told = self.desk.engine.went_on(self.client.pid, at)
        # After a No the client ends the hook before it writes.
        if told and told <= gone:
            self.took(TOLD_TO_GONE, told, gone)
        self.page_goes(TO_PAGE, one.number, at)

    def by_surface(self, one, before):
        """A key in the window, or a button of a notification."""
        denies = "deny" in one.way
        if one.way in NOTIFIED:
            at = self.surfaces.tap(self.surfaces.notified(one.number), "Deny" if denies else "Allow")
            self.took(TAP, at, self.desk.leaves(self.client, before))
            return
        if denies:
            self.surfaces.press("d")
            self.surfaces.window.find("section.request input")
            self.surfaces.window.write(f"reason {one.number}.")
        at = self.surfaces.press("Return" if denies else "a")
        self.took(WINDOW, at, self.desk.leaves(self.client, before))
        self.page_goes(WINDOW_TO_PAGE, one.number, at)

    def both(self, one, before):
        """Two deciders at the same moment. Either may be first."""
        deciders = one.way.split(" and ")
        time.sleep(SETTLES + self.chance.random() * 0.3)
        threads = [threading.Thread(target=self.strike, args=(one, by, self.chance.random() * MOMENT)) for by in deciders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if "client kill" in deciders:
            self.client.gone.wait(10)
            return
        # Each may have been too early or too late; one of them counts.
        end = time.monotonic() + SLOWEST
        while not self.desk.moved(self.client, before):
            if time.monotonic() > end:
                self.desk.decide(self.client, KEYS.get(deciders[0], ENTER))
                break
            time.sleep(0.01)
        # A key that came after the answer may have ended the turn: the next request is looked at when that is over.
        time.sleep(KEY_ENDS)

    def strike(self, one, decider, after):
        """One of two deciders."""
        time.sleep(after)
        if decider in KEYS:
            self.client.press(KEYS[decider])
        elif decider == "window":
            self.surfaces.press("a")
        elif decider == "client kill":
            self.client.signal(signal.SIGKILL)
        else:
            self.answer(one, decider)

    def answer(self, one, way, by_id=False):
        """`watchbill answer`; half of the time it names the request. The user has seen `one`, and no later one. Returns its begin."""
        words = {"allow": ["--allow"], "deny": ["--deny", f"reason {one.number}."], "stop": ["--stop"]}[way]
        one.names_request = by_id or self.chance.random() < 0.5
        named = ["--request", one.request["id"]] if one.names_request else []
        said = self.desk.engine.say("answer", one.session, *named, *words)
        self.took(COMMAND, said.began, said.ended)
        number = NUMBER.search(said.out) if said.code == 0 else None
        if JUST_NOW in said.err and not one.names_request and NUMBER.search(said.out)[1] == str(one.number):
            # The user has seen it by now, and repeats the command with its id.
            self.unseen += 1
            return self.answer(one, way, by_id=True)
        one.named, one.code, one.said = int(number[1]) if number else None, said.code, (said.out + said.err).strip()
        return said.began


def needs_surfaces(way):
    """Whether a way needs the window or a notification."""
    return "window" in way or way in NOTIFIED


def in_words(name, seconds):
    """Median and 95th percentile, in words."""
    ordered = sorted(seconds)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{name}: median {1000 * statistics.median(ordered):.0f} ms, p95 {1000 * high:.0f} ms, of {len(ordered)}"


def hooks_that_time_out(desk):
    """Gives requests for files a hook of their own, whose time is soon over."""
    path = desk.sandbox.claude / "settings.json"
    settings = json.loads(path.read_text())
    entry = next(one for one in settings["hooks"]["PermissionRequest"] if "--answer" in one["hooks"][0]["command"])
    soon = [{**hook, "timeout": HOOK_TIME} for hook in entry["hooks"]]
    entry["matcher"] = "Bash"
    settings["hooks"]["PermissionRequest"].append({"matcher": "Write", "hooks": soon})
    path.write_text(json.dumps(settings, indent=2) + "\n")


def close(desk, surfaces):
    """Ends all parts; gives a complaint for each process that is left."""
    if surfaces:
        surfaces.close()
    desk.close()
    end = time.monotonic() + 10
    while desk.left() and time.monotonic() < end:
        time.sleep(0.1)
    desk.sandbox.remove()
    return [f"a process is left: {line}" for line in desk.left()]


def run(programs, kept, count, hooks=False):
    """Runs the race; gives the complaints."""
    given = os.environ.get(SEED)
    seed = int(given or random.randrange(10**6))
    # A chosen seed is one of several races, whose records stay apart.
    name = f"race-{seed}" if given else "race"
    desk = Desk(programs, hooks)
    hooks_that_time_out(desk)
    race = Race(desk, random.Random(seed))
    complaints = []
    try:
        if found(desk):
            race.surfaces = Surfaces(desk, found(desk))
        else:
            print("  NOT RUN: answers of the race in the window and in notifications: they cannot run here", flush=True)
        race.run(count)
        desk.no_hooks(within=10)
        time.sleep(1)
        complaints = broken(desk, race.decided)
    except (Wrong, Failed) as error:
        last = race.decided[-1] if race.decided else None
        complaints = [f"{error} ({last})", *broken(desk, race.decided)[:5]]
    finally:
        if complaints:
            keep(desk, kept, name, "\n".join(complaints))
        complaints += close(desk, race.surfaces)
    report(race, seed)
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        (kept / f"{name}.json").write_text(json.dumps({"ways": [d.way for d in race.decided], "times": race.times}))
    return [f"answers, race of seed {seed}: {complaint}" for complaint in complaints]


def report(race, seed):
    """Says what was decided how, and how long it took."""
    taken = {way: sum(d.way == way for d in race.decided) for way in WAYS}
    print(f"  race of {len(race.decided)} requests, seed {seed}: {', '.join(f'{w} {n}' for w, n in taken.items())}")
    both = [d for d in race.decided if d.way in WITH_KEY]
    here = sum(d.shown == (REASON if d.way.endswith("deny") else RAN) for d in both)
    print(f"    an answer and a key at once {len(both)}: the client took {here} answers; refused as unseen {race.unseen}; too late {race.late}")
    for failed in race.failed:
        print(f"    a client did something else, and another one went on: {failed}")
    for what, seconds in race.times.items():
        print("    " + in_words(what, seconds), flush=True)
