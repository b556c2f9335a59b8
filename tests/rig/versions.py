"""The versions of the agents: those that the rig drives, what each program says, and the row of docs/agents.md."""

import re
import shutil
import subprocess
from pathlib import Path

# Those that xtask/src/rig.rs installs, under the names of the columns in docs/agents.md.
PINNED = {"claude": "2.1.329", "codex": "0.169.0", "gemini": "0.61.0", "opencode": "1.18.33", "copilot": "1.0.102", "pi": "1.5.2"}
TITLES = {"claude": "Claude Code", "codex": "Codex CLI", "gemini": "Gemini CLI"}
TITLES |= {"opencode": "opencode", "copilot": "Copilot CLI", "pi": "pi"}
PAGE = Path(__file__).parents[2] / "docs/agents.md"
ROW = "Verified with"
VERSION = re.compile(r"\d+\.\d+\.\d+")


def told(program):
    """The version that the program tells of itself."""
    words = [node(program), program] if program.suffix == ".js" else [program]
    said = subprocess.run([*map(str, words), "--version"], capture_output=True, text=True, timeout=60, cwd="/")
    return VERSION.search(said.stdout)[0]


def node(program):
    """The Node for a program: the one that was installed beside it, or the machine's."""
    return next(modules(program).glob("node-linux-*/bin/node"), None) or shutil.which("node") or "node"


def modules(program):
    """The folder with all packages of a program."""
    return next(folder for folder in reversed(program.parents) if folder.name == "node_modules")


def cells(line):
    """The cells of a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def row_of(text):
    """The line of the page, its cells, and the column of each agent."""
    lines = text.splitlines()
    line = next(line for line in lines if line.startswith(f"| {ROW} |"))
    head = cells(next(line for line in lines if "|" in line))
    return line, cells(line), {agent: head.index(title) for agent, title in TITLES.items()}


def stated(text):
    """The version that the page names for each agent: the first one in its cell."""
    _, row, columns = row_of(text)
    return {agent: VERSION.search(row[at])[0] for agent, at in columns.items()}


def written(text, versions):
    """The page with these versions; what stands behind them in a cell stays."""
    line, row, columns = row_of(text)
    for agent, version in versions.items():
        row[columns[agent]] = VERSION.sub(version, row[columns[agent]], count=1)
    return text.replace(line, "| " + " | ".join(row) + " |")


def complaints(programs):
    """What the page or a program says of a version, and should not."""
    out = [
        f"docs/agents.md names {TITLES[agent]} {version}, but the rig verifies with {PINNED[agent]}"
        for agent, version in stated(PAGE.read_text()).items()
        if version != PINNED[agent]
    ]
    for agent in TITLES:
        program = getattr(programs, agent)
        if program and told(program) != PINNED[agent]:
            out.append(f"{program} says that it is {told(program)}, and not {PINNED[agent]}")
    return out


def write(programs, agents):
    """Writes the versions of the agents that were driven, as their programs say them, into the page."""
    PAGE.write_text(written(PAGE.read_text(), {agent: told(getattr(programs, agent)) for agent in agents}))
    print(f"written: the versions in {PAGE.name}")
