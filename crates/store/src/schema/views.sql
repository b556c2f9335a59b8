-- Views for people: names instead of numbers, times as text (UTC).

-- The sessions, newest activity first.
CREATE VIEW v_sessions AS
SELECT session_id, project, title, state, state_kind, branch, model, cwd,
       strftime('%Y-%m-%d %H:%M:%S', created_at / 1000, 'unixepoch') AS created,
       strftime('%Y-%m-%d %H:%M:%S', active_at / 1000, 'unixepoch') AS active,
       chain_id, (SELECT name FROM chains c WHERE c.chain_id = s.chain_id) AS chain_name,
       superseded_by, compactions
FROM sessions s ORDER BY active_at DESC;

-- The prompts, newest first, with what came of them.
CREATE VIEW v_prompts AS
SELECT strftime('%Y-%m-%d %H:%M:%S', b.started_at / 1000, 'unixepoch') AS at, s.session_id, s.project, b.origin,
       b.status, b.prompt, b.response, b.error,
       (SELECT count(*) FROM activities a WHERE a.session = b.session AND a.batch = b.batch) AS tools,
       round((b.ended_at - b.started_at) / 1000.0, 1) AS seconds
FROM batches b JOIN sessions s ON s.id = b.session ORDER BY b.started_at DESC;

-- The tool calls, newest first.
CREATE VIEW v_activities AS
SELECT strftime('%Y-%m-%d %H:%M:%S', a.at / 1000, 'unixepoch') AS at, s.session_id, s.project, a.subagent, a.tool,
       a.target, a.path, a.outcome, a.error, round(coalesce(a.millis, a.ended_at - a.at) / 1000.0, 1) AS seconds
FROM activities a JOIN sessions s ON s.id = a.session ORDER BY a.at DESC;

-- The answers to requests, newest first.
CREATE VIEW v_answers AS
SELECT strftime('%Y-%m-%d %H:%M:%S', at / 1000, 'unixepoch') AS at, session_id, tool, shown, decision, surface, outcome
FROM answers ORDER BY answers.at DESC;

-- What was learned, by session; the newest first.
CREATE VIEW v_memories AS
SELECT strftime('%Y-%m-%d %H:%M:%S', e.at / 1000, 'unixepoch') AS at, printf('%016x', e.memory) AS memory, e.kind, m.place,
       e.path, e.text, e.times, s.session_id
FROM memory_evidence e JOIN sessions s ON s.id = e.session LEFT JOIN memory_sessions m ON m.session = e.session
ORDER BY e.at DESC;

-- What the chosen model said of sessions that have not gone on since.
CREATE VIEW v_summaries AS
SELECT m.session, s.session_id, s.project, m.title, m.request, m.investigated, m.learned, m.completed, m.next_steps,
       strftime('%Y-%m-%d %H:%M:%S', m.upto / 1000, 'unixepoch') AS upto
FROM summaries m JOIN sessions s ON s.id = m.session
WHERE NOT EXISTS (SELECT 1 FROM batches b WHERE b.session = m.session AND b.private = 0
    AND coalesce(b.origin, 'human') IN ('human', 'queued', 'program') AND coalesce(b.ended_at, b.started_at) > m.upto);

-- The plans, every version, the newest first.
CREATE VIEW v_plans AS
SELECT strftime('%Y-%m-%d %H:%M:%S', p.at / 1000, 'unixepoch') AS at, s.session_id, s.project, p.plan,
       row_number() OVER (PARTITION BY p.session, p.plan ORDER BY p.at, p.content) AS version, p.content
FROM plans p JOIN sessions s ON s.id = p.session ORDER BY p.at DESC;

-- Every request to a model once, however many files repeat it: it belongs to the session in which it was first seen.
CREATE VIEW v_usage AS
SELECT request, at, session_id, project, subagent, model, input, output, cache_read, cache_write
FROM (
    SELECT r.request, r.at, s.session_id, s.project, coalesce(f.subagent, r.subagent) AS subagent, r.model,
           row_number() OVER w AS nth, max(r.input) OVER p AS input, max(r.output) OVER p AS output,
           max(r.cache_read) OVER p AS cache_read, max(r.cache_write) OVER p AS cache_write
    FROM requests r JOIN files f ON f.id = r.file JOIN sessions s ON s.id = f.session
    WINDOW p AS (PARTITION BY r.request),
           w AS (PARTITION BY r.request ORDER BY r.copied, r.at, s.session_id, f.subagent)
)
WHERE nth = 1;

-- Tokens by day (UTC), project and model.
CREATE VIEW v_usage_by_day AS
SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, project, model, count(*) AS requests,
       sum(input) AS input, sum(output) AS output, sum(cache_read) AS cache_read, sum(cache_write) AS cache_write
FROM v_usage GROUP BY day, project, model ORDER BY day DESC;

-- Every state a session was shown in, newest first, and why.
CREATE VIEW v_transitions AS
SELECT strftime('%Y-%m-%d %H:%M:%S', t.at / 1000, 'unixepoch') AS at, s.session_id, s.project, t.state, t.kind,
       t.source, t.detail, t.confidence
FROM transitions t JOIN sessions s ON s.id = t.session ORDER BY t.at DESC;

-- The stored texts, newest first.
CREATE VIEW v_texts AS
SELECT strftime('%Y-%m-%d %H:%M:%S', t.at / 1000, 'unixepoch') AS at, s.session_id, s.project, t.subagent, t.role,
       t.tool, t.text, t.cut, f.path, t.byte
FROM texts t JOIN files f ON f.id = t.file JOIN sessions s ON s.id = t.session ORDER BY t.at DESC;

-- The name of each session's project, its last sign, and its end: by the roster, by recovery, or by a `SessionEnd` hook
-- where the roster does not show the session.
CREATE VIEW v_session_ends AS
SELECT session, name, last,
       CASE
           WHEN superseded_by IS NOT NULL THEN coalesce(superseded_at, last, 0)
           WHEN state = 'ended' THEN coalesce(state_since, last, 0)
           WHEN completed_at >= coalesce(last, 0) THEN completed_at
           WHEN state IS NULL AND left_at >= asked_at THEN left_at
       END AS ended_at
FROM (
    SELECT s.id AS session, s.state, s.state_since, s.superseded_by, s.superseded_at, s.completed_at,
           -- The last part of the working folder, of either system.
           coalesce(nullif(substr(folder, length(rtrim(folder, replace(folder, iif(instr(folder, '/'), '/', '\'), ''))) + 1), ''),
               s.project) AS name,
           coalesce(s.active_at, nullif(max(
               coalesce((SELECT max(b.active_at) FROM batches b WHERE b.session = s.id), 0),
               coalesce((SELECT max(h.at) FROM hook_events h WHERE h.session = s.id), 0)), 0)) AS last,
           (SELECT max(h.at) FROM hook_events h WHERE h.session = s.id AND h.event = 'SessionEnd') AS left_at,
           coalesce((SELECT max(b.started_at) FROM batches b WHERE b.session = s.id), 0) AS asked_at
    FROM (SELECT *, rtrim(cwd, '/\') AS folder FROM sessions) s
);

-- The tables of the claude-recall document as views, with its columns and some more. `session_id` is `sdk_sessions.id`. A table of
-- yours with such a name stays, and hides ours.

-- A session and where it stands: initialized (no prompt yet), active (a turn runs, or all is learned), observation queued (a tool
-- ran in this turn, or a turn waits for the model), summarizing (the turn is over, and the rules or the model are at it),
-- completed.
CREATE VIEW IF NOT EXISTS sdk_sessions AS
SELECT s.id, s.session_id AS claude_session_id, e.name AS project, s.cwd,
       (SELECT b.prompt FROM batches b WHERE b.session = s.id AND b.private = 0 AND coalesce(b.origin, 'human') IN ('human', 'queued', 'program')
        ORDER BY b.started_at, b.byte, b.batch LIMIT 1) AS first_user_prompt,
       (SELECT count(*) FROM batches b WHERE b.session = s.id AND coalesce(b.origin, 'human') IN ('human', 'queued', 'program'))
           AS prompt_counter,
       CASE
           WHEN e.ended_at IS NOT NULL THEN 'completed'
           WHEN NOT EXISTS (SELECT 1 FROM batches b WHERE b.session = s.id) THEN 'initialized'
           WHEN EXISTS (SELECT 1 FROM batches b WHERE b.session = s.id AND b.status = 'active') THEN
               iif(EXISTS (SELECT 1 FROM batches b JOIN activities a ON a.session = b.session AND a.batch = b.batch
                   WHERE b.session = s.id AND b.status = 'active' AND a.outcome <> 'pending'), 'observation queued', 'active')
           WHEN EXISTS (SELECT 1 FROM memory_due m WHERE m.session = s.id) THEN 'summarizing'
           WHEN EXISTS (SELECT 1 FROM model_jobs j WHERE j.session = s.id AND j.state = 'running') THEN 'summarizing'
           WHEN EXISTS (SELECT 1 FROM model_jobs j WHERE j.session = s.id AND j.state = 'queued' AND j.batch <> '') THEN
               'observation queued'
           ELSE 'active'
       END AS status,
       strftime('%Y-%m-%dT%H:%M:%SZ', coalesce(s.created_at,
           (SELECT min(h.at) FROM hook_events h WHERE h.session = s.id)) / 1000, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%SZ', e.ended_at / 1000, 'unixepoch') AS completed_at,
       strftime('%Y-%m-%dT%H:%M:%SZ', e.last / 1000, 'unixepoch') AS updated_at
FROM sessions s JOIN v_session_ends e ON e.session = s.id;

-- What the user asked, numbered within the session.
CREATE VIEW IF NOT EXISTS user_prompts AS
SELECT b.rowid AS id, b.session AS session_id, s.session_id AS claude_session_id, e.name AS project,
       row_number() OVER (PARTITION BY b.session ORDER BY b.started_at, b.byte, b.batch) AS prompt_number,
       b.prompt, b.prompt AS prompt_text, strftime('%Y-%m-%dT%H:%M:%SZ', b.started_at / 1000, 'unixepoch') AS created_at
FROM batches b JOIN sessions s ON s.id = b.session JOIN v_session_ends e ON e.session = b.session
WHERE coalesce(b.origin, 'human') IN ('human', 'queued', 'program');

-- The tool calls but those that the document leaves out. The compressed observation is one line by rules.
CREATE VIEW IF NOT EXISTS observations AS
SELECT a.rowid AS id, a.session AS session_id, s.session_id AS claude_session_id, e.name AS project, a.call AS tool_use_id, a.tool AS tool_name,
       a.input AS tool_input_json,
       (SELECT group_concat(t.text, char(10)) FROM texts t
        WHERE t.file = a.file AND t.byte = a.result_byte AND t.role = 'tool_result') AS tool_response_text,
       trim(coalesce(a.tool, '') || ' ' || coalesce(a.target, '') || coalesce(': ' || a.outcome, '') || coalesce(', ' || a.error, ''))
           AS compressed_observation,
       (SELECT count(*) FROM batches b JOIN batches own ON own.session = a.session AND own.batch = a.batch
        WHERE b.session = a.session AND coalesce(b.origin, 'human') IN ('human', 'queued', 'program') AND b.started_at <= own.started_at)
           AS prompt_number,
       strftime('%Y-%m-%dT%H:%M:%SZ', a.at / 1000, 'unixepoch') AS created_at
FROM activities a JOIN sessions s ON s.id = a.session JOIN v_session_ends e ON e.session = a.session
WHERE coalesce(a.tool, '') NOT IN ('ListMcpResourcesTool', 'SlashCommand', 'Skill', 'TodoWrite', 'AskUserQuestion');

-- The five fields of each session with a prompt: the model's, or by rules and uncut. Of the latter, `watchbill summary` gives fewer
-- words, and leaves out memories that faded or that the settings do not accept.
CREATE VIEW IF NOT EXISTS session_summaries AS
SELECT d.id, d.id AS session_id, d.claude_session_id, d.project, coalesce(v.request, d.first_user_prompt) AS request,
       coalesce(v.investigated, (SELECT group_concat(DISTINCT a.path) FROM activities a WHERE a.session = d.id AND a.tool = 'Read' AND a.outcome = 'ok'
        AND a.path NOT IN (SELECT c.path FROM activities c WHERE c.session = d.id AND c.path IS NOT NULL AND c.outcome = 'ok'
            AND c.tool IN ('Edit', 'Write', 'MultiEdit', 'NotebookEdit')))) AS investigated,
       coalesce(v.learned, (SELECT group_concat(coalesce(m.text, e.text), char(10)) FROM memory_evidence e
        LEFT JOIN memory_edits m ON m.memory = e.memory
        WHERE e.session = d.id AND (m.what IN ('accepted', 'added', 'edited') OR m.what IS NULL AND e.suspect = 0
            AND e.kind NOT IN ('gotcha', 'decision', 'bug_fix', 'trade_off', 'discovery')))) AS learned,
       coalesce(v.completed, (SELECT group_concat(DISTINCT a.path) FROM activities a WHERE a.session = d.id AND a.outcome = 'ok'
        AND a.tool IN ('Edit', 'Write', 'MultiEdit', 'NotebookEdit'))) AS completed,
       coalesce(v.next_steps, (SELECT m.open_ends FROM memory_sessions m WHERE m.session = d.id)) AS next_steps,
       d.updated_at AS created_at, iif(v.session IS NULL, 'rules', 'model') AS made_by
FROM sdk_sessions d LEFT JOIN v_summaries v ON v.session = d.id WHERE d.prompt_counter > 0;
