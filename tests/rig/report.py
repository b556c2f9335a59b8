"""The table: scenario by witness set, a summary against the targets, and the longest wrong stretches."""

import json

from compare import AFTER_TRACE, TOLERANCE
from tally import FILES_ALONE, NEVER_ASKING, length, tallies, with_all
from versions import PINNED, TITLES
from witnesses import SETS

HEAD = """# Is the state right? The real clients, driven

`cargo xtask truth` writes this page. Do not edit it. It drives the real programs in a terminal, against a stub of the model's API, in a
namespace without a network. Beside the client run up to six `watchbill watch --json`, each with other witnesses. The truth comes from the
driver's keys, the stub's answers and, for dialogs of other agents, the screen.

**Tolerance: {tolerance:.0f} ms.** The client needs time to do what it is told: its own registry follows a key by 115 to 355 ms. So for
this long after each key, kill or answer, the earlier state counts as right too. On a busy machine the client may show no trace
(registry file, transcript, hook, closed dialog) for longer. Then the earlier state counts until {after_trace:.0f} ms after the first trace.

Settle times have no tolerance. They begin at the key or the answer. "Own" is the part after the client's first trace.
"""
ABOUT = """
## {title} {version}

{scenarios} scenarios, {runs} runs, {profile} build. Load during the runs: {load}.{more}
"""
# What has to be known of an agent's table.
MORE = {
    "codex": """

"Registry" stands here for Codex's locks and its server. "All" includes the sessions without a server, which have hooks and locks alone.
"""
}


def ms(seconds):
    """Milliseconds, or a dash."""
    return "–" if seconds is None else f"{1000 * seconds:.0f}"


def table(header, rows):
    """A table of Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def summary(results):
    """One line for each witness set."""
    header = ["witnesses", "state right", "kind right", "worst wrong", "settle p50 / p95 / max, ms", "own p95, ms"]
    header += ["Escape p95, ms", "false", "missed", "never settled"]
    by_set = tallies([run for result in results for run in result["runs"]], [w.name for w in SETS])
    rows = []
    for witnesses in SETS:
        t = by_set.get(witnesses.name)
        if t is None:
            continue
        settle = " / ".join(ms(x) for x in (t.p(50), t.p(95), max(t.settles, default=None)))
        false = f"{t.false_alarms}" + (f" ({t.false_alarms - t.observed_false} inferred)" if t.false_alarms else "")
        rows.append(
            [witnesses.title, f"{t.share:.2f} %", f"{t.kind_share:.2f} %", f"{t.worst_seconds:.2f} s", settle]
            + [ms(t.p(95, t.own)), ms(t.p(95, t.escapes)), false, f"{t.missed} of {t.asked}", t.never]
        )
    return table(header, rows)


def verdicts(agent, results):
    """The targets, kept or not."""
    runs = [run for result in results for run in result["runs"]]
    quiet = [run for result in results if result["scenario"] in NEVER_ASKING for run in result["runs"]]
    rows = []
    for title, name, chosen, targets in [
        ("all", "all", runs, with_all(agent)),
        ("files alone", "files", quiet, FILES_ALONE),
    ]:
        t = tallies(chosen, [name]).get(name)
        if t is not None:
            rows += [[title, g.words, g.found(t), "kept" if g.holds(t) else "**not kept**"] for g in targets]
    return table(["witnesses", "target", "found", ""], rows)


def cell(t):
    """One scenario under one witness set."""
    if t is None:
        return "–"
    if not t.seconds:
        return f"**{t.strangers} rows**" if t.strangers else "no row"
    worst = f", {t.worst_seconds:.1f} s" if t.worst_seconds >= 0.05 else ""
    marks = [f"**{n} {word}**" for n, word in ((t.false_alarms, "false"), (t.missed, "missed"), (t.never, "never")) if n]
    return " ".join([f"{t.share:.1f}{worst}", *marks])


def by_scenario(results):
    """Scenario by witness set: share of the time, longest wrong stretch, and worse faults."""
    rows = []
    driven = {name for result in results for run in result["runs"] for name in run}
    sets = [witnesses for witnesses in SETS if witnesses.name in driven]
    for result in results:
        by_set = tallies(result["runs"], [w.name for w in sets])
        settle = by_set["all"].p(95) if "all" in by_set else None
        rows.append([result["shows"], *(cell(by_set.get(w.name)) for w in sets), ms(settle)])
    return table(["scenario", *(w.title for w in sets), "settle p95 with all, ms"], rows)


def wrongs(results, shortest=0.2):
    """The long wrong stretches, the longest first."""
    found = []
    for result in results:
        for run in result["runs"]:
            for name, by_set in run.items():
                for session in by_set["sessions"]:
                    found += [(length(s), result["scenario"], name, s) for s in session["wrong"]]
    found.sort(key=lambda entry: -entry[0])
    titles = {w.name: w.title for w in SETS}
    rows, seen = [], set()
    for seconds, scenario, name, s in found:
        key = (scenario, name, s["phase"], s["state"])
        if seconds < shortest or key in seen:
            continue
        seen.add(key)
        shown = s["state"] + (f"/{s['kind']}" if s["kind"] else "")
        rows.append([f"{seconds:.2f} s", scenario, titles[name], s["phase"], f"{shown} ({s['source']}, {s['confidence']})"])
    return table(["for", "scenario", "witnesses", "truth", "shown"], rows) if rows else "Nothing for longer than 0.2 s."


def part(agent, found):
    """The part of the page about one agent."""
    results = found["results"]
    facts = {key: found[key] for key in ("version", "runs", "profile", "load")}
    about = ABOUT.format(title=TITLES[agent], scenarios=len(results), more=MORE.get(agent, "").rstrip(), **facts)
    cells = "Each cell shows the percentage of time in which the state was right, and the longest wrong stretch. Bold numbers count false"
    cells += '\nand missed "needs you", and changes that were never shown.\n'
    parts = [about, summary(results), "\n### Targets\n", verdicts(agent, results), "\n### Scenarios\n", cells, by_scenario(results)]
    return "\n".join([*parts, "\n### What was wrong, the longest first\n", wrongs(results)])


def markdown(agents):
    """The whole page."""
    head = HEAD.format(tolerance=1000 * TOLERANCE, after_trace=1000 * AFTER_TRACE)
    return "\n".join([head.rstrip(), *(part(agent, agents[agent]) for agent in TITLES if agent in agents), ""])


def write(path, results, facts):
    """The page and, beside it, everything as JSON. The part of an agent that was not driven now stays as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = path.with_suffix(".json")
    agents = json.loads(data.read_text()) if data.exists() else {}
    for agent in TITLES:
        own = [result for result in results if result["agent"] == agent]
        if own:
            agents[agent] = {"version": PINNED[agent], **facts, "results": own}
    path.write_text(markdown(agents), encoding="utf-8")
    text = json.dumps(agents, separators=(",", ":"))
    data.write_text(text.replace('{"scenario"', '\n{"scenario"') + "\n", encoding="utf-8")
