"""Drives the real client through scenarios while watchers with different witnesses run beside it, and compares.

Started by `cargo xtask truth` and by the step `rig` of `cargo xtask test`, which install the client first. Exit codes: 0 all as
it should be, 1 not, 77 this machine cannot run it (the last line gives the reason).
"""

import argparse
import dataclasses
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import answers
import codex_answers  # noqa: F401: puts its cells on the list
import deaths  # noqa: F401: puts its cells on the list
import history  # noqa: F401  (puts its cells on the list)
import hosted  # noqa: F401: puts its cells on the list
import isolation
import memories  # noqa: F401  (puts its cells on the list)
import opencode_answers  # noqa: F401: puts its cells on the list
import own
import plugin
import prompts  # noqa: F401: puts its cells on the list
import race
import scenarios
import status_line  # noqa: F401: puts its cells on the list
import versions
import windowed  # noqa: F401: puts its cells on the list
from measure import measure, relative
from stage import SHOWING, Failed, staged
from tally import BOUND, FILES_ALONE, NEVER_ASKING, tallies
from witnesses import SETS

CANNOT = 77
# The client gets keys, and once in many runs it loses one.
ATTEMPTS = 3


@dataclass(frozen=True)
class Programs:
    """The programs under test: the client, Watchbill, the driver of an agent on pipes, and other agents."""

    claude: Path
    watchbill: Path
    drive: Path | None
    codex: Path | None
    gemini: Path | None
    opencode: Path | None
    copilot: Path | None
    pi: Path | None


OTHERS = [field.name for field in dataclasses.fields(Programs)][3:]


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(prog="rig", description=__doc__)
    parser.add_argument("--claude", type=Path, help="the client's program")
    for other in OTHERS:
        parser.add_argument(f"--{other}", type=Path, help="its program; without it, what needs it is reported as not run")
    parser.add_argument("--drive", type=Path, help="the example `drive` of watchbill-drive, for the cells of own sessions")
    parser.add_argument("--own", action="store_true", help="only the cells of own sessions")
    parser.add_argument("--watchbill", type=Path, help="the watcher: the program watchbill")
    parser.add_argument("--plugin", type=Path, help="a plugin folder that the client validates")
    parser.add_argument("--scenario", action="append", default=[], help="only these scenarios, or all of an agent")
    parser.add_argument("--answers", action="store_true", help="only the cells and the race of answers")
    parser.add_argument("--cell", action="append", default=[], help="with --answers or --own: only these cells")
    parser.add_argument("--hooks", action="store_true", help="with --answers: the installer's other hooks run as well")
    parser.add_argument("--waits", action="store_true", help="each watcher with hooks also has the hook that waits for answers")
    parser.add_argument("--smoke", action="store_true", help="the scenarios of the test step, held to its bounds")
    parser.add_argument("--runs", type=int, default=1, help="runs of each scenario")
    parser.add_argument("--out", type=Path, help="file for the table")
    parser.add_argument("--profile", default="debug", help="build profile of the watcher, for the table")
    parser.add_argument("--write-versions", action="store_true", help="write into docs/agents.md what was verified")
    parser.add_argument("--trial", action="store_true", help="other versions of the clients: say what differs, never fail")
    parser.add_argument("--kept", type=Path, help="folder for the records of runs")
    parser.add_argument("--probe", action="store_true", help="only check whether this machine can run it")
    parser.add_argument("--list", action="store_true", help="only list the scenarios")
    options = parser.parse_args()
    options.few = options.smoke or options.trial
    return options


def chosen(options):
    """The scenarios that the command line names."""
    agents = {s.needs for s in scenarios.ALL.values()}
    unknown = [name for name in options.scenario if name not in scenarios.ALL and name not in agents]
    if unknown:
        sys.exit(f"`{unknown[0]}` is no scenario; there are: {', '.join(scenarios.ALL)}")

    # A trial of an agent without a short list plays all.
    short = {s.needs for s in scenarios.ALL.values() if s.smoke}

    def is_wanted(scenario):
        is_short = scenario.smoke or not options.few or options.trial and scenario.needs not in short
        is_of_agent = not options.scenario or scenario.needs in options.scenario
        return scenario.name in options.scenario or is_of_agent and is_short

    return [scenario for scenario in scenarios.ALL.values() if is_wanted(scenario)]


def once(scenario, programs, seed, sets, options):
    """One run. A run in which the client did something else is repeated."""
    kept = options.kept
    # A test run judges only the shown states, however busy the machine is; the table judges their times too.
    showing = SHOWING if options.few else 0
    for attempt in range(1, ATTEMPTS + 1):
        failure = None
        ways = dataclasses.replace(scenario.ways, waits=options.waits)
        sets = [witnesses for witnesses in sets if witnesses.name in (ways.sets or [witnesses.name])]
        with staged(programs, seed, sets, ways, showing) as stage:
            try:
                stage.begin()
                scenario.play(stage)
            except Failed as error:
                failure = error
        if failure is None:
            run = relative(measure(stage), stage.began)
            keep(stage, kept, f"{scenario.name}-{seed}", failure)
            stage.sandbox.remove()
            return run
        print(f"  {scenario.name}, attempt {attempt}: the client did something else: {failure}", flush=True)
        keep(stage, kept, f"{scenario.name}-{seed}-{attempt}", failure)
        stage.sandbox.remove()
    return None


def keep(stage, kept, name, failure):
    """Keeps the record of a run: the truth, every shown line, the hooks, and the screen."""
    if kept is None:
        return
    folder = kept / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    origin = stage.began
    (folder / "truth.txt").write_text(f"began {origin:.3f}\n{stage.truth}\n{failure or 'as it should be'}\n")
    for watcher in stage.watchers:
        lines = [f"{at - origin:8.3f} {message}" for at, message in watcher.lines]
        (folder / f"{watcher.witnesses.name}.txt").write_text("\n".join(lines) + "\n")
    hooks = [f"{at - origin:8.3f} {payload}" for at, payload in stage.observer.events]
    (folder / "hooks.txt").write_text("\n".join(hooks) + "\n")
    asked = [f"{e.asked - origin:8.3f} {(e.answered or origin) - origin:8.3f} {e}" for e in stage.stub.exchanges]
    (folder / "requests.txt").write_text("\n".join(asked) + "\n")
    for number, client in enumerate(stage.clients):
        (folder / f"screen-{number}.raw").write_bytes(bytes(client.screen))


def say(scenario, run):
    """One line for each watcher, during the run."""
    for name, tally in tallies([run], list(run)).items():
        slowest = max([*tally.settles, *tally.escapes], default=0)
        print(
            f"  {scenario.name:<26} {name:<12} {tally.share:6.2f} % right, kind {tally.kind_share:6.2f} %, worst"
            f" {tally.worst_seconds:5.2f} s, slowest {1000 * slowest:5.0f} ms, never {tally.never}, false"
            f" {tally.false_alarms}, missed {tally.missed} of {tally.asked}, strangers {tally.strangers}",
            flush=True,
        )


def main():
    """Runs everything in order."""
    options = arguments()
    if options.list:
        for scenario in scenarios.ALL.values():
            print(f"{scenario.name:<26} {scenario.shows}")
        return 0
    wanted = chosen(options)
    if not isolation.is_inside():
        words, reason = isolation.way()
        if words is None:
            print(reason)
            return CANNOT
        if options.probe:
            return 0
        isolation.enter(words)
    isolation.loopback_up()
    given = {field.name: getattr(options, field.name) for field in dataclasses.fields(Programs)}
    programs = Programs(**{name: program.resolve() if program else None for name, program in given.items()})
    if options.own:
        code = complain(own.run(programs, options.cell, versions.PINNED))
        if options.write_versions and code == 0 and not options.cell:
            versions.write(programs, [agent for agent in versions.TITLES if getattr(programs, agent)])
        return code
    if options.answers:
        return complain(answering(options, programs))
    results, broken = [], []
    wrong = [] if options.trial else versions.complaints(programs)
    wrong += [plugin.complaint(programs, options.plugin.resolve())] if options.plugin else []
    sets = [w for w in SETS if w.smoke or not options.few]
    for scenario in wanted:
        if getattr(programs, scenario.needs) is None:
            print(f"NOT RUN: {scenario.name}, since there is no {scenario.needs} here", flush=True)
            continue
        runs = [once(scenario, programs, seed, sets, options) for seed in range(options.runs)]
        if None in runs:
            broken.append(scenario.name)
        runs = [run for run in runs if run is not None]
        for run in runs:
            say(scenario, run)
        results.append({"scenario": scenario.name, "shows": scenario.shows, "agent": scenario.needs, "runs": runs})
    wrong += answering(options, programs) if options.smoke else []
    wrong += own.run(programs, [], versions.PINNED) if options.smoke and programs.drive else []
    code = verdict(options, results, broken, [w for w in wrong if w])
    if options.write_versions and code == 0:
        versions.write(programs, {result["agent"] for result in results})
    if options.trial and code == 0:
        print("nothing differs from the pinned version")
    return 0 if options.trial else code


def answering(options, programs):
    """The complaints of the cells and of the race."""
    complaints = answers.run(programs, options.kept, options.cell, options.hooks)
    if not options.cell or "race" in options.cell:
        complaints += race.run(programs, options.kept, int(os.environ.get(race.COUNT) or race.USUAL), options.hooks)
    return complaints


def complain(complaints):
    """Names each complaint."""
    for complaint in complaints:
        print(f"NOT AS IT SHOULD BE: {complaint}")
    return 1 if complaints else 0


def verdict(options, results, broken, wrong):
    """Writes the table, and names each result that is not as it should be."""
    if options.out:
        import report

        facts = {"runs": options.runs, "profile": options.profile}
        facts["load"] = f"{os.getloadavg()[2]:.1f} on {os.cpu_count()} processors"
        report.write(options.out, results, facts)
        print(f"written: {options.out}")
    strangers = [r["scenario"] for r in results for run in r["runs"] if any(s["strangers"] for s in run.values())]
    complaints = wrong + [f"{name}: rows of sessions that never existed were shown" for name in strangers]
    complaints += [f"{name}: the client never did what the scenario needs" for name in broken]
    if options.few:
        complaints += beyond(results, "all", BOUND)
        quiet = [result for result in results if result["scenario"] in NEVER_ASKING]
        complaints += beyond(quiet, "files", FILES_ALONE) if quiet or options.smoke else []
    return complain(complaints)


def beyond(results, name, bounds):
    """The bounds that one witness set exceeds."""
    tally = tallies([run for result in results for run in result["runs"]], [name]).get(name)
    if tally is None:
        return [f"{name}: nothing was measured"]
    return [f"{name}: {bound.words}: {bound.found(tally)}" for bound in bounds if not bound.holds(tally)]


if __name__ == "__main__":
    code = main()
    # Threads of the stub may still wait for a client that has ended.
    sys.stdout.flush()
    os._exit(code)
