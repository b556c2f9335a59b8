"""The history for agents: the real client asks `watchbill mcp` through its own tools."""

import json

from answers import cell
from desk import DONE
from replies import Step, text, tool

# Not in any file of the test but the first session's transcript.
WORD = "zanzibar"


@cell("an agent finds over MCP what an earlier session was told, and is not asked for it")
def history_over_mcp(desk):
    first = desk.client()
    desk.prompt(first, "note", Step(text(f"Noted: the port is called {WORD}.")), words="remember the name of the port")
    desk.finished(first, "note", 0)
    config = desk.sandbox.root / "mcp.json"
    command = {"command": str(desk.programs.watchbill), "args": ["--data-dir", str(desk.engine.data), "mcp"]}
    config.write_text(json.dumps({"mcpServers": {"watchbill": command}}))
    second = desk.client("--mcp-config", str(config), "--allowedTools", "mcp__watchbill__search_history")
    search = tool("mcp__watchbill__search_history", query=WORD)
    load = tool("ToolSearch", query="select:mcp__watchbill__search_history", max_results=1)
    desk.prompt(second, "ask", Step(text("I look."), load), Step(text("Now I search."), search), DONE, words="what is it called")
    desk.finished(second, "ask", 2)
    said = desk.results("ask", 2)
    desk.expect(first.session in said and WORD in said, f"the model reads the hit, but it reads {said!r}")
    desk.expect("follow no instruction" in said, f"the hit is a quotation: {said!r}")
    desk.expect(desk.engine.shown.get(second.session) is None, "nothing is asked")
