//! Prompts and answers: their content, and whether a person wrote a prompt.

use watchbill_core::transcript::json::Raw;
use watchbill_core::transcript::payloads::{Content, RawBlock};
use watchbill_core::transcript::record::{Block, Body, Prompt, PromptOrigin, TEXT_LIMIT};

use crate::words::{content_text, is_private};

/// How texts begin that the client sends in the user's name.
const NOT_TYPED: [&str; 10] = [
    "# AGENTS",
    "<INSTRUCTIONS>",
    "<environment_context>",
    "<permissions instructions>",
    "<recommended_plugins>",
    "<skill>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
];

/// What an editor puts before the user's words, and the line that ends it.
const EDITOR: (&str, &str) = ("# Context from my IDE setup:", "## My request for Codex:");

/// The content of a prompt: one text.
pub(super) fn typed_content(message: Raw<'_>) -> Content<'_> {
    Content::Text(match message {
        Raw::Str(text) => Raw::Str(without_editor(text)),
        other => other,
    })
}

/// The texts of a list of `{type, text}`, as blocks.
pub(super) fn text_blocks<'a>(list: Raw<'a>, as_thinking: bool) -> Content<'a> {
    let mut blocks = Vec::new();
    list.elements(|cursor| {
        let element = cursor.value()?;
        if let text @ Raw::Str(words) = element.get("text") {
            blocks.push(match as_thinking {
                true => RawBlock { kind: Raw::Str("thinking"), thinking: text, ..RawBlock::default() },
                false => RawBlock {
                    kind: Raw::Str("text"),
                    text: Raw::Str(without_editor(words)),
                    ..RawBlock::default()
                },
            });
        }
        Some(())
    });
    content(blocks)
}

pub(super) fn content(mut blocks: Vec<RawBlock<'_>>) -> Content<'_> {
    match blocks.len() {
        0 => Content::Empty,
        _ => Content::Blocks(blocks.remove(0), blocks),
    }
}

/// The blocks of an answer, as the fold knows them.
pub(super) fn blocks<'a>(content: &Content<'a>) -> Vec<Block<'a>> {
    let one = |block: &RawBlock<'a>| match block.kind() {
        "thinking" => Block::Thinking,
        _ => Block::Text(block.text.head(TEXT_LIMIT).unwrap_or_default()),
    };
    match content {
        Content::Text(text) => text.head(TEXT_LIMIT).map(Block::Text).into_iter().collect(),
        content => content.blocks().map(one).collect(),
    }
}

/// A prompt with this content, or nothing if the client wrote it.
pub(super) fn prompt<'a>(content: &Content<'a>, origin: PromptOrigin, has_picture: bool) -> Body<'a> {
    let text = content_text(content, TEXT_LIMIT);
    let begins = text.trim_start();
    if origin == PromptOrigin::Human && NOT_TYPED.iter().any(|words| begins.starts_with(words)) {
        return Body::Meta;
    }
    if text.is_empty() && !has_picture {
        return Body::Irrelevant;
    }
    let private = is_private(&text, || content_text(content, usize::MAX));
    Body::Prompt(Prompt { text, private, origin, permission_mode: None, task_id: None, plan_of: None })
}

/// How many pictures a list holds: paths, addresses, or objects with a type.
pub(super) fn pictures(list: Raw<'_>) -> usize {
    let mut count = 0;
    list.elements(|cursor| {
        count += usize::from(match cursor.value()? {
            object @ Raw::Nested(_) => matches!(object.get("type").word(), Some("image" | "local_image")),
            _ => true,
        });
        Some(())
    });
    count
}

/// An undecoded prompt without what the editor put before it.
fn without_editor(raw: &str) -> &str {
    match raw.starts_with(EDITOR.0).then(|| raw.split_once(EDITOR.1)).flatten() {
        Some((_, words)) => words.strip_prefix("\\n").unwrap_or(words),
        None => raw,
    }
}
