//! A prompt of the user for a session in a terminal: which text may be typed, and whether it arrived whole.

/// The longest prompt, in bytes.
pub const MAX_BYTES: usize = 64 << 10;

/// A text that can be typed into a terminal: it holds no key that a terminal or a client would act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptText(String);

/// Why a text cannot be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotTypable {
    /// Only white space.
    #[error("the prompt is empty")]
    Empty,
    /// Longer than [`MAX_BYTES`].
    #[error("the prompt has {0} bytes; at most {MAX_BYTES} can be typed into a terminal")]
    TooLong(usize),
    /// A control character would leave the paste and act as a key: `ESC [ 201 ~` ends it, Ctrl-C and Ctrl-U act inside it.
    #[error(
        "the prompt has the control character U+{0:04X}, which a terminal takes for a key; remove it (tabs and line \
         feeds may stay)"
    )]
    Control(u32),
    /// The agent takes a backslash before Enter for a new line, and waits for more (agent 2.1.329).
    #[error("the prompt ends in a backslash, which the agent takes for a new line; end it in another way")]
    Continues,
}

impl PromptText {
    /// Takes a text. White space at its end is left out: the agent drops it as well.
    ///
    /// # Errors
    /// When it cannot be typed as it is.
    pub fn new(text: &str) -> Result<Self, NotTypable> {
        let text = text.trim_end();
        let acts = |c: &char| c.is_control() && !matches!(c, '\n' | '\t');
        match text.chars().find(acts) {
            _ if text.is_empty() => Err(NotTypable::Empty),
            _ if text.len() > MAX_BYTES => Err(NotTypable::TooLong(text.len())),
            Some(key) => Err(NotTypable::Control(u32::from(key))),
            None if text.ends_with('\\') => Err(NotTypable::Continues),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the agent takes it for a command of its own: `/compact`, `!ls`. Such a text need not become a prompt.
    pub fn is_command(&self) -> bool {
        self.0.starts_with(['/', '!'])
    }

    /// Whether it goes as keys, and not as a paste: the agent knows a command by its first key. A tab or line feed is no
    /// plain key.
    pub fn is_typed(&self) -> bool {
        self.is_command() && !self.0.contains(['\n', '\t'])
    }

    /// Whether a recorded prompt is this text, whole. The agent puts a long paste between two lines of its own (recorded
    /// from client 2.1.329); it may write line feeds as carriage returns, and a tab as spaces.
    pub fn is_whole(&self, recorded: &str) -> bool {
        let is_mark = |line: &&str| {
            let line = line.trim();
            ["<pasted_content id=", "</pasted_content id="].iter().any(|mark| line.starts_with(mark))
                && line.ends_with('>')
        };
        let unmarked = || recorded.lines().filter(|line| !is_mark(line)).collect::<Vec<_>>().join("\n");
        plain(recorded) == plain(&self.0) || plain(&unmarked()) == plain(&self.0)
    }
}

/// The text with one kind of line end and one kind of space.
fn plain(text: &str) -> String {
    let text = text.trim().replace("\r\n", "\n").replace('\r', "\n");
    text.lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_a_terminal_would_act_on_is_refused() {
        // The end of a paste, and the characters on which a line discipline acts. They are VINTR, VQUIT, VERASE, VKILL, VEOF, VSUSP,
        // VSTART, VSTOP, VREPRINT, VWERASE, VLNEXT, VEOL, and the C1 control that begins a sequence.
        let acts = "\u{1b}\u{3}\u{1c}\u{7f}\u{15}\u{4}\u{1a}\u{11}\u{13}\u{12}\u{17}\u{16}\0\r\u{8}\u{9b}";
        for key in acts.chars() {
            assert_eq!(
                PromptText::new(&format!("a{key}b")),
                Err(NotTypable::Control(u32::from(key))),
                "{key:?}"
            );
        }
        assert_eq!(PromptText::new("ls\u{1b}[201~id\r"), Err(NotTypable::Control(0x1b)));
        for empty in ["", " \n\t "] {
            assert_eq!(PromptText::new(empty), Err(NotTypable::Empty));
        }
        assert_eq!(PromptText::new("go on \\\n"), Err(NotTypable::Continues));
        let long = "x".repeat(MAX_BYTES + 1);
        assert_eq!(PromptText::new(&long), Err(NotTypable::TooLong(MAX_BYTES + 1)));
    }

    #[test]
    fn any_other_text_stays_as_it_is() {
        for text in
            ["-x", "--help", "/compact", "!ls", "#note", "@file", "a\n\tb", "日本語 🙂", "; rm", "$(id) `id`"]
        {
            assert_eq!(PromptText::new(text).map(|text| text.as_str().to_owned()), Ok(text.to_owned()));
        }
        assert_eq!(PromptText::new("five\nlines\n\n").map(|text| text.0), Ok("five\nlines".into()));
    }

    #[test]
    fn only_a_command_of_one_line_goes_as_keys() {
        let goes = |text: &str| PromptText::new(text).map(|text| (text.is_command(), text.is_typed()));
        assert_eq!(goes("/compact keep the plan"), Ok((true, true)));
        assert_eq!(goes("/do this\nand that"), Ok((true, false)));
        assert_eq!(goes("do this"), Ok((false, false)));
    }

    #[test]
    fn a_record_is_compared_whole() {
        let text = PromptText::new("one\n\ttwo  three").expect("it can be typed");
        assert!(text.is_whole("one\r\n    two  three\n") && text.is_whole("one\n\ttwo  three"));
        let marked = "\n\n<pasted_content id=\"aea5\">\none\n\ttwo  three\n</pasted_content id=\"aea5\">\n";
        assert!(text.is_whole(marked) && !text.is_whole(&marked.replace("two", "too")));
        for other in ["one", "one two three", "and one\n\ttwo  three", ""] {
            assert!(!text.is_whole(other), "{other:?}");
        }
    }
}
