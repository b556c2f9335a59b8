#!/usr/bin/env python3
"""Measures sessions of your own without the window: prompts, attachments, and the memory of hosts.

usage: own_sessions.py --watchbill FILE --rows FILE --minutes M --rounds N [PART]...
The parts are `size`, `prompt`, `attach` and `memory`. `watchbill-host` lies beside FILE. The agent is `own_agent.py`, on pipes, in
a home of its own. Each row is a line of JSON: what, value, unit, atMost.
"""
import argparse, fcntl, json, os, pty, select, shutil, signal, socket, statistics, struct, subprocess, tempfile, termios, time, uuid
from pathlib import Path

SESSIONS = 20
LINES = 10_000
TIMEOUT = 60

def say(words):
    print(f"  {words}", flush=True)

def figure(what, value, unit, at_most=None):
    say(f"{what}: {value:.2f} {unit}")
    ROWS.write(json.dumps({"what": what, "value": value, "unit": unit, "atMost": at_most}) + "\n")

def quantile(numbers, share):
    numbers = sorted(numbers)
    return numbers[max(0, min(len(numbers) - 1, round(share * len(numbers) + 0.5) - 1))]

def now():
    return time.time_ns() / 1e6

def until(what, found, seconds=TIMEOUT):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = found()
        if value:
            return value
        time.sleep(0.002)
    raise SystemExit(f"it did not come: {what}")

def held(pid):
    """Memory of a process in MB: resident, and its share of it."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    field = lambda name: next(int(line.split()[1]) for line in text.splitlines() if line.startswith(name)) * 1024 / 1e6
    return field("Rss:"), field("Pss:")

class Stage:
    """A home with sessions; they end with it."""

    def __init__(self, watchbill):
        # The path of a socket must be short.
        self.home = Path(tempfile.mkdtemp(prefix="own-"))
        self.watchbill, self.data, self.work = watchbill, self.home / "data", self.home / "work"
        (self.home / "bin").mkdir()
        self.work.mkdir()
        (self.home / "bin/claude").symlink_to(Path(__file__).with_name("own_agent.py").resolve())
        self.environment = {"HOME": str(self.home), "PATH": f"{self.home}/bin:{os.environ['PATH']}", "LANG": "C.UTF-8"}

    def words(self, *words):
        return [self.watchbill, "--data-dir", str(self.data), *words]

    def call(self, *words):
        subprocess.run(self.words(*words), env=self.environment, cwd=self.work, check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)

    def start(self, *words):
        """Starts a session, and gives its id and its folder to work in."""
        session = str(uuid.uuid4())
        folder = self.work / session
        folder.mkdir()
        self.call("run", "--id", session, "--cwd", str(folder), *words)
        return session, folder

    def host(self, session):
        """A connection to the host, and the process of the host."""
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(self.data / "own" / session / "host.sock"))
        file = line.makefile("rwb")
        return file, json.loads(file.readline())["pid"]

    def close(self):
        for folder in (self.data / "own").glob("*-*-*"):
            subprocess.run(self.words("stop", folder.name), env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT)
        # A host removes its socket in this moment.
        shutil.rmtree(self.home, ignore_errors=True)

def received(folder, words):
    """When the agent read this prompt."""
    try:
        lines = (folder / "received").read_text().splitlines()
    except FileNotFoundError:
        return None
    return next((float(line.split(" ", 1)[0]) for line in lines if line.split(" ", 1)[1] == words), None)

def size(stage, _):
    figure("host's program, its file", Path(stage.watchbill).with_name("watchbill-host").stat().st_size / 1e6, "MB", 6)

def prompt(stage, options):
    """From a command to the agent's standard input: over the host's socket, and with the start of the program."""
    session, folder = stage.start("first")
    until("the first prompt", lambda: received(folder, "first"))
    host, _ = stage.host(session)
    over_socket, by_program = [], []
    for number in range(options.rounds):
        # The turn before is over: the prompt is not queued.
        time.sleep(0.05)
        words, began = f"socket {number}", now()
        command = {"do": "prompt", "id": str(uuid.uuid4()), "text": words, "when": "queue"}
        host.write(json.dumps({"id": str(uuid.uuid4()), "request": "command", "command": command}).encode() + b"\n")
        host.flush()
        answer = json.loads(host.readline())
        if "error" in answer:
            raise SystemExit(f"the host refuses: {answer}")
        over_socket.append(until(words, lambda: received(folder, words)) - began)
        time.sleep(0.05)
        words, began = f"program {number}", now()
        stage.call("prompt", session, words)
        by_program.append(until(words, lambda: received(folder, words)) - began)
    figure("prompt, host's socket to agent's input, 95 of 100", quantile(over_socket, 0.95), "ms", 20)
    figure("prompt, host's socket to agent's input, median", statistics.median(over_socket), "ms")
    figure("prompt, `watchbill prompt` to agent's input, 95 of 100", quantile(by_program, 0.95), "ms", 20)
    figure("prompt, `watchbill prompt` to agent's input, median", statistics.median(by_program), "ms")

def attached(stage, session):
    """Attaches in a terminal of its own. Gives the milliseconds until all was drawn, and the number of bytes."""
    began = now()
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execve(stage.watchbill, stage.words("attach", session), stage.environment)
    drawn, count = b"", 0
    while b"all drawn" not in drawn:
        if not select.select([terminal], [], [], TIMEOUT)[0]:
            raise SystemExit("nothing is drawn")
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:
            raise SystemExit(f"the attached program has ended; it said {drawn}") from None
        count += len(piece)
        drawn = drawn[-100:] + piece
    took = now() - began
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    return took, count

def attach(stage, options):
    """A terminal with lines that scrolled off, attached from the command line."""
    script = f"seq -f 'line %06.0f of a program that writes sixty characters in each' 1 {LINES + 100}; printf 'all drawn'; exec cat"
    session, _ = stage.start("--agent", "shell", "--pty", "--detach", "--", "sh", "-c", script)
    # The first one waits for the program.
    attached(stage, session)
    spans = [attached(stage, session) for _ in range(options.rounds)]
    say(f"{spans[0][1]} bytes were drawn")
    what = f"`watchbill attach`, {LINES} lines of scrollback, start to last line drawn"
    figure(f"{what}, 95 of 100", quantile([took for took, _ in spans], 0.95), "ms", 150)
    figure(f"{what}, median", statistics.median(took for took, _ in spans), "ms")

def memory(stage, options):
    """Hosts without an agent, then twenty with one: at rest between prompts, over the whole time."""
    _, pid = stage.host(stage.start()[0])
    figure("host without an agent yet, resident", held(pid)[0], "MB")
    engine = subprocess.Popen(stage.words("serve"), env=stage.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until("the engine", lambda: (stage.data / "run/engine.sock").exists())
        time.sleep(5)
        before = held(engine.pid)[1]
        sessions = [stage.start("first") for _ in range(SESSIONS)]
        hosts = [stage.host(session)[1] for session, _ in sessions]
        began, looks, number = time.monotonic(), [], 0
        while not looks or time.monotonic() - began < options.minutes * 60:
            number += 1
            for session, folder in sessions:
                stage.call("prompt", session, f"say 20 10 {number}")
            until("all prompts", lambda: all(received(folder, f"say 20 10 {number}") for _, folder in sessions))
            time.sleep(min(30, options.minutes * 12))
            looks.append(([held(pid) for pid in hosts], held(engine.pid)[1]))
            shares = [pss for _, pss in looks[-1][0]]
            say(f"after {(time.monotonic() - began) / 60:.1f} min: hosts {statistics.mean(shares):.2f} MB, most {max(shares):.2f}; engine {looks[-1][1]:.1f}")
            time.sleep(min(30, options.minutes * 12))
    finally:
        engine.terminate()
        engine.wait()
    what = f"{SESSIONS} sessions for {options.minutes:g} min"
    for when, (shares, engine_share) in [("start", looks[0]), ("middle", looks[len(looks) // 2]), ("end", looks[-1])]:
        of_each = statistics.mean(pss for _, pss in shares)
        figure(f"{what}, {when}: a host, resident, most", max(rss for rss, _ in shares), "MB")
        figure(f"{what}, {when}: a host's own share, mean", of_each, "MB")
        figure(f"{what}, {when}: a session, host and engine", of_each + (engine_share - before) / SESSIONS, "MB", 8)

PARTS = {"size": size, "prompt": prompt, "attach": attach, "memory": memory}

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watchbill", required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--rows", required=True)
    options = parser.parse_args()
    global ROWS
    ROWS = open(options.rows, "w", encoding="utf-8", buffering=1)
    for name in options.parts or PARTS:
        stage = Stage(os.path.abspath(options.watchbill))
        try:
            PARTS[name](stage, options)
        finally:
            stage.close()

if __name__ == "__main__":
    main()
