//! Quotations of transcripts: nothing a browser would run, nothing left open, nothing lost.

use proptest::prelude::*;

use super::*;

/// Parser options of various programs, some with extensions of the standard.
fn readings() -> [Options; 4] {
    let usual = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let old = Options::ENABLE_OLD_FOOTNOTES | Options::ENABLE_SMART_PUNCTUATION;
    [usual, Options::empty(), Options::all() - Options::ENABLE_OLD_FOOTNOTES, usual | old]
}

/// Checks that each program reads one quotation, without HTML, images, or links that run code.
fn harmless(made: &str) -> Result<(), TestCaseError> {
    prop_assert!(made.lines().all(|line| line.starts_with('>')), "{made}");
    for options in readings() {
        let (mut depth, mut blocks) = (0, 0);
        for event in Parser::new_ext(&format!("{made}\nnext\n"), options) {
            match event {
                Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. }) => {
                    prop_assert!(false, "{event:?}: {made}");
                }
                Event::Start(Tag::Link { link_type, ref dest_url, .. }) => {
                    prop_assert!(address(link_type, dest_url).is_some(), "{event:?}: {made}");
                }
                _ => {}
            }
            match event {
                Event::Start(_) => {
                    blocks += usize::from(depth == 0);
                    depth += 1;
                }
                Event::End(_) => depth -= 1,
                _ => {}
            }
        }
        prop_assert_eq!(blocks, if made.is_empty() { 1 } else { 2 }, "{}", made);
    }
    Ok(())
}

/// The words that a reader sees, HTML included. Without the addresses that are shown for links that lead nowhere.
fn words(text: &str) -> String {
    let [usual, ..] = readings();
    let mut out = String::new();
    for event in Parser::new_ext(text, usual) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                out.push_str(&text);
            }
            _ => {}
        }
    }
    out.retain(|c| !c.is_whitespace() && !"*~".contains(c));
    out
}

#[test]
fn well_formed_text_keeps_its_form() {
    for text in [
        "# a\n\n- b\n  - c\n- d\n\n1. e\n2. f\n\n***\n\n> g\n> h\n",
        "a `Vec<T>` b **c** *d* ~~e~~\nsnake_case 1.5 x - y # z\n",
        "```rust\nfn a() {}\n\n    <b>\n```\n\n- [x] a\n- [ ] b\n",
        "| a | b |\n|---|--:|\n| `c` | d |\n\n[e](https://example.org/a?b=c&d=e_f)\n",
        "- a\n\n  ```\n  b\n  ```\n\n- c\\\n  d\n",
    ] {
        let expected: String = text
            .lines()
            .map(|line| if line.is_empty() { ">\n".to_owned() } else { format!("> {line}\n") })
            .collect();
        assert_eq!(quoted(text), expected);
    }
    assert_eq!(quoted(""), "");
    assert_eq!(quoted(" \n"), "");
}

#[test]
fn html_and_script_links_become_text() {
    for (text, is) in [
        ("<img src=x onerror=alert(1)>\n", "> &lt;img src=x onerror=alert(1)>\n"),
        ("a <iframe srcdoc='b'></iframe>\n", "> a &lt;iframe srcdoc='b'>&lt;/iframe>\n"),
        ("<svg\nonload=alert(1)>\n", "> &lt;svg\n> onload=alert(1)>\n"),
        ("<!-- a\n\n```\n-->\nb\n", "> &lt;!-- a\n> &#96;&#96;&#96;\n> \\-->\n>\n> b\n"),
        ("[a](javascript:alert(1))\n", "> a (javascript:alert(1))\n"),
        ("[a](&#106;avascript:b)\n", "> a (javascript:b)\n"),
        ("[a][b]\n\n[b]: data:text/html,c\n", "> a (data:text/html,c)\n"),
        ("<vbscript:a>\n", "> vbscript:a (vbscript:a)\n"),
        ("[a](src/a.rs) [b](//c.org) [d](HTTPS:e)\n", "> a (src/a.rs) b (//c.org) d (HTTPS:e)\n"),
        ("<https://a.org> <b@c.org>\n", "> [https://a.org](https://a.org) [b@c.org](mailto:b@c.org)\n"),
        ("![a](https://b.org/c.png)\n", "> [a](https://b.org/c.png)\n"),
        ("[![a](https://b.org)](https://c.org)\n", "> [a (https://b.org)](https://c.org)\n"),
        ("\\![a](https://b.org)\n", "> \\![a](https://b.org)\n"),
        ("[a](https://b.org){onclick=c}\n", "> [a](https://b.org)\\{onclick=c}\n"),
        ("``` {=html}\na\n```\n", "> ```\n> a\n> ```\n"),
        ("[`a`](x:b)`` ` ``\n", "> `a` (x:b)`` ` ``\n"),
        ("`a`[``b`c``]()\n", "> `a` ``b`c``\n"),
        ("a&#10;&#10;# b&#x202e;c\n", "> a  # bc\n"),
    ] {
        assert_eq!(quoted(text), is, "{text}");
        assert!(harmless(&quoted(text)).is_ok(), "{text}");
    }
}

#[test]
fn unclosed_markdown_is_closed() {
    for (text, is) in [
        ("```\nls\n", "> ```\n> ls\n> ```\n"),
        ("  ~~~~ sh\nls\n```\n~~~\n", "> ````sh\n> ls\n> ```\n> ~~~\n> ````\n"),
        ("- > ```\n", "> - > ```\n>   > ```\n"),
        ("-\n", "> -\n"),
        ("a\n---\n", "> ## a\n"),
        ("1\\. a\n\\# b\n", "> 1\\. a\n> \\# b\n"),
        ("| a |\n|---|\n| b | c |\n", "> \\| a \\|\n> \\|---\\|\n> \\| b \\| c \\|\n"),
        ("[a]: https://b.org\n\nc [d]: e\n", "> c \\[d\\]: e\n"),
    ] {
        assert_eq!(quoted(text), is, "{text}");
    }
}

#[test]
fn hostile_long_texts_are_parsed() {
    const LENGTH: usize = 500_000;
    std::thread::scope(|scope| {
        for part in ["> ", "- ", "*a ", "![", "[a](b:", "<div>\n", "`a``", "|a", "~a ", "1. ", "\n- a\n\n  "]
        {
            scope.spawn(move || assert!(!quoted(&part.repeat(LENGTH / part.len())).is_empty(), "{part}"));
        }
    });
}

proptest! {
    #[test]
    fn any_text_becomes_one_harmless_quotation_that_is_not_shorter(parts in prop::collection::vec(prop::sample::select(vec![
        "```", "~~~", "````", "<!--", "-->", "<details>", "</details>", "<b>", "<img src=x onerror=y>", "<script>", "<?", "?>",
        "<![CDATA[", "]]>", "<a b=\"", "\">", "'", "> ", "- ", "1. ", "7) ", "+ ", "  ", "    ", "\n", "\n\n", "a", " ", "`", "``", "<", ">",
        "/", "[x]: <", "[x]", "[x]: javascript:y\n", "[a](javascript:b)", "![a](https://b.org)", "[a](https://b.org)", "# ", "#", "!", "[^1]: ", "[^1]", "$",
        "$$", "{=html}", "{#a}", "---", "===", "***", "*", "**", "_", "~~", "~", "\\", "&lt;", "&", "| a | b |\n|--|--|\n", "|", "- [ ] ", ": ",
        "<https://a.org>", "<x:y>", ".", ")", ":::", "+++\n",
    ]), 0..24)) {
        let text = parts.concat() + "\n";
        let made = quoted(&text);
        harmless(&made)?;
        let (before, after) = (words(&text), words(&made));
        prop_assert!(before.len() <= after.len(), "{before}\n{after}\n{made}");
    }
}
