//! Parses one line of a rollout into records. Unreadable parts become counted problems. Evidence: clients 0.63 to 0.169.
//!
//! A rollout says prompts and answers twice: once for the model (`response_item/message`) and once for the user. The second
//! report is read, because the first also holds instructions and what the client asks the model for itself.

pub(super) mod calls;
mod fields;
mod kind;
mod payloads;
mod prompts;
mod session;

use std::borrow::Cow;

use watchbill_core::ids::RecordId;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::json::Raw;
use watchbill_core::transcript::payloads::{Content, Payloads, RawBlock};
use watchbill_core::transcript::record::{
    Assistant, Block, Body, CompactBoundary, CompactTrigger, Envelope, PromptOrigin, Record, System,
    TEXT_LIMIT, TitleKind, ToolResult,
};
use watchbill_core::transcript::report::LineReport;

use self::fields::{Fields, Payload};
use self::kind::Kind;
use self::payloads::Texts;
use crate::lines::{TYPE_NAME_LIMIT, each_object};

/// Where records go.
type Sink<'s> = &'s mut dyn FnMut(Record<'_>, &dyn Payloads<'_>);

/// Reads one line, without its newline. Never fails: records and their payloads go to `sink`, problems into the report.
///
/// A compaction gives two records, its boundary and its summary; a search of the web its call and its result. Two objects on one
/// line are two records. A blank line gives none. A field of the wrong type counts as absent.
pub fn parse_line(line: &[u8], sink: &mut dyn FnMut(Record<'_>, &dyn Payloads<'_>)) -> LineReport {
    each_object(line, &mut |cursor, report| {
        let mut fields = Fields::default();
        fields.read(cursor)?;
        let kind = Kind::of(&fields);
        if kind.is_none() && report.unknown_type.is_none() {
            report.unknown_type = Some(type_name(&fields).into());
        }
        emit(kind, &fields, &mut |record, texts| {
            report.records += 1;
            report.absurd_tokens |= has_absurd_tokens(&record.body);
            sink(record, texts);
        });
        Some(())
    })
}

/// The type of a record; for messages and events with the type of the payload.
fn type_name(f: &Fields<'_>) -> String {
    let mut name = f.kind.text(TYPE_NAME_LIMIT).unwrap_or_default().into_owned();
    if matches!(&*name, "event_msg" | "response_item") {
        name.push('/');
        name.push_str(&f.payload.kind.text(TYPE_NAME_LIMIT - name.len()).unwrap_or_default());
    }
    name
}

fn has_absurd_tokens(body: &Body<'_>) -> bool {
    let Body::Tokens(tokens) = body else { return false };
    let total = tokens.total.unwrap_or_default();
    total.input + total.cache_read + total.cache_write >= session::MAX_TOTAL
        || total.output >= session::MAX_TOTAL
}

fn emit(kind: Option<Kind>, f: &Fields<'_>, sink: Sink<'_>) {
    let p = &f.payload;
    let mut envelope = Envelope {
        at: f.timestamp.word().and_then(Timestamp::parse),
        ordinal: f.ordinal.number(),
        ..Envelope::default()
    };
    let mut texts = Texts::default();
    let body = match kind {
        None => Body::Unknown(f.kind.text(TYPE_NAME_LIMIT).unwrap_or_default()),
        Some(Kind::Session) => session::session(p, &mut envelope),
        Some(Kind::Settings) => session::settings(p, &mut envelope),
        Some(Kind::Tokens) => session::tokens(p),
        Some(Kind::TurnStarted) => Body::TurnStarted,
        Some(Kind::TurnComplete) if p.error.is_there() => {
            texts.text = p.error.get("message");
            session::failure(texts.text, p.error.get("codex_error_info"))
        }
        Some(Kind::TurnAborted) if p.reason.word() == Some("interrupted") => Body::Interrupt,
        Some(Kind::TurnComplete | Kind::TurnAborted) => {
            texts.duration_ms = p.duration_ms.number();
            Body::System(System::TurnDuration { pending_agents: 0 })
        }
        Some(Kind::Failed) => {
            texts.text = p.message;
            session::failure(p.message, p.error_kind)
        }
        Some(Kind::Title) => match p.thread_name.head(TEXT_LIMIT) {
            Some(text) => Body::Title { kind: TitleKind::Custom, text },
            None => Body::Irrelevant,
        },
        Some(Kind::RolledBack) => {
            texts.note = Some(rolled_back(p.num_turns.number().unwrap_or(0)));
            Body::System(System::Other("thread_rolled_back".into()))
        }
        Some(Kind::UserMessage) => {
            texts.content = prompts::typed_content(p.message);
            typed(
                p.client_id,
                prompts::pictures(p.images) + prompts::pictures(p.local_images),
                &mut envelope,
                &mut texts,
            )
        }
        Some(Kind::AgentMessage) => {
            texts.content = Content::Text(p.message);
            answer(Raw::Absent, &texts)
        }
        Some(Kind::Item) => item(p.item, &mut envelope, &mut texts),
        Some(Kind::Task) => task(p, &mut texts),
        Some(Kind::Reasoning) => {
            texts.content = prompts::text_blocks(p.summary, true);
            answer(Raw::Absent, &texts)
        }
        Some(Kind::Call) => return call(p, envelope, sink),
        Some(Kind::ShellCall) => {
            let (tool, input) = ("local_shell", p.action);
            return Call { tool, id: p.call_id, input, target: calls::target(tool, input) }
                .emit(envelope, sink);
        }
        Some(Kind::CallOutput) => return output(p, envelope, sink),
        Some(Kind::WebSearch) => return web_search(p, envelope, sink),
        Some(Kind::Compacted) => return compacted(p, envelope, sink),
        Some(Kind::Irrelevant) => Body::Irrelevant,
    };
    sink(Record { envelope, body }, &texts);
}

fn rolled_back(turns: u64) -> String {
    match turns {
        1 => "The last turn was taken back.".to_owned(),
        n => format!("The last {n} turns were taken back."),
    }
}

/// A prompt of the user, whose content is in `texts`.
fn typed<'a>(id: Raw<'a>, pictures: usize, envelope: &mut Envelope<'a>, texts: &mut Texts<'a>) -> Body<'a> {
    envelope.uuid = id.whole().map(|id| RecordId::parse(&id));
    texts.pictures = pictures;
    prompts::prompt(&texts.content, PromptOrigin::Human, pictures > 0)
}

fn answer<'a>(id: Raw<'a>, texts: &Texts<'a>) -> Body<'a> {
    Body::Assistant(assistant(id, prompts::blocks(&texts.content)))
}

fn assistant<'a>(id: Raw<'a>, blocks: Vec<Block<'a>>) -> Assistant<'a> {
    Assistant {
        message_id: id.whole(),
        request_id: None,
        model: None,
        stop: None,
        usage: None,
        blocks,
        aborted: false,
    }
}

/// `item_completed`. Calls and thoughts are read from the records for the model, because only these begin with the call.
fn item<'a>(item: Raw<'a>, envelope: &mut Envelope<'a>, texts: &mut Texts<'a>) -> Body<'a> {
    let (mut kind, mut id, mut client_id, mut content, mut text) = Default::default();
    item.entries(|cursor, key| {
        let value = cursor.value()?;
        match key {
            "type" => {
                kind = value;
                // Other items hold the output of commands.
                return matches!(value.word(), Some("UserMessage" | "AgentMessage" | "Plan")).then_some(());
            }
            "id" => id = value,
            "client_id" => client_id = value,
            "content" => content = value,
            "text" => text = value,
            _ => {}
        }
        Some(())
    });
    match (kind.word(), envelope.ordinal) {
        (Some("UserMessage"), Some(_)) => {
            texts.content = prompts::text_blocks(content, false);
            let id = if client_id.is_there() { client_id } else { id };
            typed(id, prompts::pictures(content), envelope, texts)
        }
        (Some("AgentMessage"), Some(_)) => {
            texts.content = prompts::text_blocks(content, false);
            answer(id, texts)
        }
        (Some("Plan"), _) => {
            texts.content = Content::Text(text);
            answer(id, texts)
        }
        _ => Body::Irrelevant,
    }
}

/// A message from one agent to another: a task begins a turn of a subagent, an answer does not.
fn task<'a>(p: &Payload<'a>, texts: &mut Texts<'a>) -> Body<'a> {
    texts.content = prompts::text_blocks(p.content, false);
    let is_task = texts
        .content
        .blocks()
        .any(|block| block.text.word().is_some_and(|text| text.starts_with("Message Type: NEW_TASK")));
    if is_task { prompts::prompt(&texts.content, PromptOrigin::Peer, false) } else { Body::Meta }
}

/// A call of a tool.
struct Call<'c> {
    tool: &'c str,
    id: Raw<'c>,
    input: Raw<'c>,
    target: Cow<'c, str>,
}

impl Call<'_> {
    fn emit(self, envelope: Envelope<'_>, sink: Sink<'_>) {
        let Self { tool, id, input, target } = self;
        let name = Raw::Str(tool);
        let raw = RawBlock { kind: Raw::Str("tool_use"), id, name, input, ..RawBlock::default() };
        let block = Block::ToolUse {
            id: id.whole().unwrap_or_default(),
            tool: tool.into(),
            target,
            ask: calls::ask(tool, input),
            is_test: false,
        };
        let body = Body::Assistant(assistant(Raw::Absent, vec![block]));
        let texts = Texts { content: Content::Blocks(raw, Vec::new()), ..Texts::default() };
        sink(Record { envelope, body }, &texts);
    }
}

fn call(p: &Payload<'_>, envelope: Envelope<'_>, sink: Sink<'_>) {
    let mut buffer = String::new();
    let tool = calls::tool(p);
    let input = calls::input(p, &tool, &mut buffer);
    Call { tool: &tool, id: p.call_id, input, target: calls::target(&tool, input) }.emit(envelope, sink);
}

fn output(p: &Payload<'_>, envelope: Envelope<'_>, sink: Sink<'_>) {
    let mut buffer = String::new();
    let output = calls::output(p, &mut buffer);
    let texts = Texts {
        content: result_content(p.call_id, output.text),
        stopped: output.stopped,
        ..Texts::default()
    };
    sink(Record { envelope, body: Body::ToolResults(vec![output.result]) }, &texts);
}

fn result_content<'a>(id: Raw<'a>, text: Raw<'a>) -> Content<'a> {
    let block =
        RawBlock { kind: Raw::Str("tool_result"), tool_use_id: id, content: text, ..RawBlock::default() };
    Content::Blocks(block, Vec::new())
}

/// A search of the web, which stands in the file once it is over.
fn web_search(p: &Payload<'_>, envelope: Envelope<'_>, sink: Sink<'_>) {
    let id = if p.id.is_there() { p.id } else { p.call_id };
    let result = ToolResult {
        id: id.whole().unwrap_or_default(),
        is_error: p.status.word() == Some("failed"),
        succeeded: None,
        denied: None,
        denied_by_text: false,
        background_task: None,
        async_agent: None,
    };
    let target = calls::web_target(p.action);
    Call { tool: "web_search", id, input: p.action, target }.emit(envelope.clone(), sink);
    let texts = Texts { content: result_content(id, Raw::Absent), ..Texts::default() };
    sink(Record { envelope, body: Body::ToolResults(vec![result]) }, &texts);
}

/// The segment's boundary, and the summary if the client kept one.
fn compacted(p: &Payload<'_>, envelope: Envelope<'_>, sink: Sink<'_>) {
    let boundary = CompactBoundary { trigger: CompactTrigger::Unknown, pre_tokens: None, post_tokens: None };
    let body = Body::System(System::CompactBoundary(boundary));
    sink(Record { envelope: envelope.clone(), body }, &Texts::default());
    if p.message.word().is_some_and(|summary| !summary.is_empty()) {
        let texts = Texts { text: p.message, ..Texts::default() };
        sink(Record { envelope, body: Body::CompactSummary }, &texts);
    }
}
