"""One run of a scenario: the stub, the sandbox, the client and the watchers together, and the verbs that scenarios use.

Every verb that acts on the client records, with its time, the truth from then on.
"""

import errno
import os
import time
import uuid
from contextlib import contextmanager

import truth
from client import ENTER, Client
from observer import Observer
from sandbox import Sandbox
from stub import Stub
from watcher import Watcher

PATIENCE = 60
# The longest wait for watchers to show the truth, in runs that do not judge their speed.
SHOWING = 10


class Failed(Exception):
    """The client did not do what the scenario expects of it; this says nothing about Watchbill."""


class Stage:
    """Everything of one run."""

    def __init__(self, programs, seed, sets, ways, showing):
        self.programs = programs
        self.showing = showing
        self.stub = Stub()
        self.sandbox = Sandbox(programs, self.stub.port, seed, sets, ways)
        self.observer = Observer(self.sandbox)
        self.truth = truth.Truth()
        self.clients = []
        self.gates = {}
        self.watchers = [Watcher(self.sandbox, w) for w in sets if not w.late]
        self.latecomers = [w for w in sets if w.late]
        self.began = time.monotonic()
        self.ended = None

    def begin(self):
        """Waits until all watchers are ready."""
        for watcher in self.watchers:
            if not watcher.ready.wait(PATIENCE):
                raise Failed(f"the watcher `{watcher.witnesses.name}` says nothing")

    def close(self):
        """Ends all parts of the run; the watchers first, so that they do not see the end of the others."""
        self.ended = time.monotonic()
        for watcher in self.watchers:
            watcher.close()
        for client in self.clients:
            client.close()
        self.sandbox.end()
        self.observer.close()
        self.stub.close()

    # The model's answers.

    def model(self, **scripts):
        """Scripts by name, for prompts that name them."""
        self.stub.scripts.update(scripts)

    # Waiting for steps.

    def until(self, what, question, patience=PATIENCE):
        """Waits until the question has a true answer, and returns that."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            answer = question()
            if answer:
                return answer
            time.sleep(0.01)
        raise Failed(f"{what}: not within {patience} s")

    def expect(self, holds, what):
        """Fails unless this condition of the scenario holds."""
        if not holds:
            raise Failed(what)

    def answered(self, script, step):
        """Waits until the stub has given that answer; returns the exchange."""
        what = f"the model's answer {step} of `{script}`"
        return self.until(what, lambda: next((e for e in [self.stub.find(script, step)] if e and e.answered), None))

    def asked(self, script, step):
        """Waits until the client has asked for that step; returns the exchange."""
        return self.until(f"the request {step} of `{script}`", lambda: self.stub.find(script, step))

    def status(self, client, *words):
        """Waits until the registry reports one of these statuses for the client."""
        return self.until(f"registry {words}", lambda: self.observer.registry(client.pid).get("status") in words)

    def hook(self, name, count=1):
        """Waits for the n-th hook event of this name."""
        return self.until(f"hook {name} x{count}", lambda: self.observer.hooks(name)[count - 1 : count])

    def rest(self, seconds):
        """Waits that long; in a test run also until the watchers show the truth."""
        time.sleep(seconds)
        end = time.monotonic() + self.showing
        # A watcher that never shows it is counted at the end; the wait for it is limited.
        while not shown(self.truth, self.watchers) and time.monotonic() < end:
            time.sleep(0.01)

    def late(self):
        """Starts the watchers that begin late."""
        for witnesses in self.latecomers:
            self.watchers.append(Watcher(self.sandbox, witnesses))
        self.latecomers = []

    # The user's actions.

    def client(self, label, *arguments, session=None, begins=truth.READY, wait=True):
        """Starts the client and waits until it takes keys. With `session` it continues an existing one."""
        words = list(arguments)
        fresh = session is None
        if fresh:
            session = str(uuid.uuid4())
            words += ["--session-id", session]
        client = Client(self.programs.claude, self.sandbox, words)
        client.label = label
        client.session = session
        self.clients.append(client)
        self.truth.bind(label, session)
        self.truth.turn(label, client.began, begins, "the client starts")
        if wait:
            self.status(client, "idle")
            self.rest(0.5)
        return client

    def now(self):
        """The clock of all times here."""
        return time.monotonic()

    def turn(self, client, at, phase, action):
        """From `at` on, this is the truth about the client's session."""
        self.truth.turn(client.label, at, phase, action)

    def prompt(self, client, line):
        """Types a prompt."""
        at = client.type(line)
        self.turn(client, at, truth.WORKING, "Enter on a prompt")
        return at

    def question(self, client, script, step, phase=truth.PERMISSION, number=1):
        """Waits until the model has called a tool that needs the user, and the client has asked."""
        at = self.answered(script, step).answered
        self.turn(client, at, phase, f"the model calls for a tool that asks ({phase.name})")
        self.hook("PermissionRequest", number)
        self.status(client, "waiting")
        self.rest(0.4)
        self.late()

    def press(self, client, key, phase, action):
        """A key that changes something."""
        self.turn(client, client.press(key), phase, action)

    def approve(self, client, phase=truth.WORKING):
        """Enter on the first choice of a dialog, which is yes."""
        self.press(client, ENTER, phase, "Enter on yes")

    def finish(self, client, script, step, phase=truth.ENDED_TURN):
        """Waits for the last answer of a turn."""
        self.turn(client, self.answered(script, step).answered, phase, "the model's last answer")
        self.status(client, "idle", "shell")
        self.rest(1.2)

    def hello(self, client, script="hello"):
        """A whole turn of one answer."""
        from replies import Step, text

        self.model(**{script: [Step(text("Hello."))]})
        self.prompt(client, f"say hello @@{script}")
        self.finish(client, script, 0)

    def leave(self, client, act, phase=truth.ENDED):
        """Ends a client by `act`, which returns the time of the action. The client needs some time to end."""
        before = self.truth.turnings[client.label][-1].phase
        self.turn(client, act(), leaving(before), "the client is told to end")
        if not client.gone.wait(PATIENCE):
            raise Failed("the client does not end")
        self.turn(client, client.ended, phase, "the process has ended")
        self.rest(1.5)

    def exit(self, client):
        """Types /exit."""
        self.leave(client, lambda: client.type("/exit"))

    def gate(self, name):
        """A FIFO: a command that reads it runs until `open` is called."""
        os.mkfifo(self.sandbox.work / name)

    def reached(self, name):
        """Waits until a command reads the FIFO; returns the time."""
        self.gates[name] = self.until(f"a command that reads {name}", lambda: writer(self.sandbox.work / name))
        return time.monotonic()

    def open(self, name):
        """Releases the command that reads the FIFO; returns the time."""
        if name not in self.gates:
            self.reached(name)
        now = time.monotonic()
        os.write(self.gates[name], b"go on\n")
        os.close(self.gates.pop(name))
        return now


def shown(true, watchers):
    """Whether all watchers with all witnesses show the truth now."""
    hearing = [watcher for watcher in watchers if watcher.witnesses.hears_everything]
    now = [(true.ids[label], turnings[-1].phase) for label, turnings in true.turnings.items() if label in true.ids]
    return all(phase.has_state(watcher.now(session)) for watcher in hearing for session, phase in now)


def writer(gate):
    """The writing end of a FIFO, once a command reads it."""
    try:
        return os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise


def leaving(before):
    """A session whose process is about to end: as before, or ended."""
    states = " ".join(before.states | truth.ENDED.states)
    return truth.phase("leaving", states, *(before.kinds | {None, "turn_ended", "interrupted"}))


@contextmanager
def staged(programs, seed, sets, ways, showing=0):
    """A stage that ends all its parts in any case; its folder stays for the caller to remove."""
    stage = Stage(programs, seed, sets, ways, showing)
    try:
        yield stage
    finally:
        stage.close()
