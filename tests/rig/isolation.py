"""A place without a network but loopback: private namespaces, entered by starting this program anew inside them.

The real client never runs outside of them, so it can reach no other machine.
"""

import os
import subprocess
import sys

INSIDE = "WATCHBILL_RIG_INSIDE"
# The user's variables for the rig.
OWN = ["WATCHBILL_ANSWERS", "WATCHBILL_PICTURES", "WATCHBILL_SEED"]

# A user namespace needs no privilege; where the system forbids it (Ubuntu 24.04 to ordinary users), root needs none.
# Mounts are private as well: an empty folder mounted over a witness hides it from a single watcher.
WAYS = [["unshare", "-Urnm"], ["unshare", "-nm"]]

TRIAL = "ip link set lo up && mount -t tmpfs none /mnt"


def way():
    """The command that enters the namespaces, or `None` and the reason."""
    reasons = []
    for words in WAYS:
        try:
            tried = subprocess.run([*words, "sh", "-c", TRIAL], capture_output=True, text=True, timeout=20)
        except FileNotFoundError:
            return None, "there is no `unshare` here (util-linux)"
        except subprocess.TimeoutExpired:
            reasons.append(f"{' '.join(words)}: no answer")
            continue
        if tried.returncode == 0:
            return words, ""
        complaint = tried.stderr.strip().splitlines()
        reasons.append(f"{' '.join(words)}: {complaint[0] if complaint else tried.returncode}")
    return None, "no namespace with loopback alone can be made here (" + "; ".join(reasons) + ")"


def is_inside():
    """True after `enter`."""
    return os.environ.get(INSIDE) == "1"


def enter(words):
    """Starts this program again inside the namespaces. It never returns: the new program has taken the process."""
    environment = {
        "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
        "LANG": "C.UTF-8",
        "TMPDIR": os.environ.get("TMPDIR", ""),
        INSIDE: "1",
        **{name: os.environ[name] for name in OWN if name in os.environ},
    }
    os.execvpe(words[0], [*words, sys.executable, "-B", *sys.argv], environment)


def loopback_up():
    """Called inside: without it the stub cannot be reached."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def only(shared, folder, words):
    """The command that starts a program which sees only the folder `shared` of `folder`, under the same names."""
    script = """
        hold=$(mktemp -d) && mount --bind "$0/$1" "$hold" && mount -t tmpfs none "$0" && mkdir "$0/$1" &&
        mount --move "$hold" "$0/$1" && rmdir "$hold" && shift && exec "$@"
    """
    return ["unshare", "-m", "sh", "-c", script, str(folder), shared, *map(str, words)]
