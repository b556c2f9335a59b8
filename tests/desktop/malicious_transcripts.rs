//! Malicious transcripts, and the search over the real store, in the real window.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use watchbill_testkit::fantoccini::key::Key;
use watchbill_testkit::fantoccini::{Client, Locator};
use watchbill_testkit::{Desktop, until};

use crate::agent::Agent;
use crate::roster::{open, row_with, shows};

const EVIL: &str = "44444444-4444-4444-8444-444444444444";
const GOOD: &str = "55555555-5555-4555-8555-555555555555";

/// Violations of the policy from now on, and all network requests of the page so far.
const LISTEN: &str = "window.violations = []; document.addEventListener('securitypolicyviolation', (event) => \
    window.violations.push(event.violatedDirective + ' ' + event.blockedURI));";
const FOUND: &str = "return { ran: window.pwned ?? null, violations: window.violations, \
    asked: performance.getEntriesByType('resource').map((one) => one.name).filter((name) => name.includes('evil')), \
    active: document.querySelectorAll('#app :is(img, iframe, script, style, a, object, embed, form, base, meta, link)').length, \
    text: Math.max(0, ...[...document.querySelectorAll('#app *')].flatMap((one) => [...one.childNodes]) \
        .filter((node) => node.nodeType === 3).map((node) => node.length)) };";

const ANSWER: &str = "<img src=\"https://evil.example/x.png\" onerror=\"window.pwned=1\">\n\n\
    ![pixel](https://evil.example/p.png) [click](javascript:window.pwned=1) [file](file:///etc/passwd)\n\n\
    <iframe src=\"https://evil.example\"></iframe><svg onload=\"window.pwned=1\"></svg>\n\n\
    <style>@import 'https://evil.example/s';</style> \u{202e}turned\u{202c} The end of the harm.";

#[tokio::test(flavor = "multi_thread")]
async fn a_malicious_transcript_is_shown_as_text() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut evil = Agent::start(desktop.home(), "evil", EVIL)?;
    let markup = "<script>window.pwned=1</script><img src=x onerror=\"window.pwned=1\">";
    evil.is_asked(&format!("{markup} {}", "a megabyte of title ".repeat(50_000)))?;
    evil.has_run("echo safe \u{202e}; rm -rf", &"\u{1b}[31mred\u{1b}[0m line\n".repeat(400_000))?;
    evil.answers(ANSWER)?;
    let window = open(&desktop, &["--session", EVIL]).await?;
    window.page.execute(LISTEN, Vec::new()).await?;
    shows(&window.page, "The end of the harm.").await?;
    row_with(&window.page, &["<script>window.pwned=1</script>"]).await?;

    // Every part is shown, the output of the tool too.
    for line in window.page.find_all(Locator::Css(".tool .line")).await? {
        line.click().await?;
    }
    shows(&window.page, "red line").await?;
    evil.wants_to_run("curl https://evil.example \u{202e}; true")?;
    shows(&window.page, "⟨202E⟩").await?;

    let found = window.page.execute(FOUND, Vec::new()).await?;
    ensure!(found["ran"].is_null(), "something ran: {found}");
    assert_eq!(found["violations"], json!([]), "nothing is tried that the policy forbids");
    assert_eq!(found["asked"], json!([]), "nothing is asked for");
    assert_eq!(found["active"], json!(0), "the transcript's markup is text");
    let longest = found["text"].as_u64().unwrap_or(u64::MAX);
    assert!(longest <= 22_000, "a text of {longest} characters reached the page");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_hit_in_the_real_store_opens_at_its_place() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut good = Agent::start(desktop.home(), "web-app", GOOD)?;
    good.is_asked("Paint the button")?;
    good.has_run("npm run paint", "the quicksilver button was painted")?;
    for turn in 0..40 {
        good.is_asked(&format!("And then number {turn}?"))?;
        good.answers(&format!("Number {turn} is done."))?;
    }
    let window = open(&desktop, &[]).await?;
    row_with(&window.page, &["Paint the button"]).await?;

    // By keyboard alone. The history is stored a moment after the window opens, so the words are typed again.
    until("the words to be found", 60, async || {
        ask(&window.page, "quicksilver tool:Bash").await.ok()?;
        let marked = Locator::Css("[role=option] mark");
        tokio::time::timeout(std::time::Duration::from_secs(3), window.page.wait().for_element(marked))
            .await
            .ok()?
            .ok()
    })
    .await?;
    keys(&window.page, &[Key::Enter]).await?;
    let found = until("the place to be marked", 60, async || {
        let seen = "const mark = document.querySelector('[data-found]'); return mark?.innerText ?? null;";
        let text = window.page.execute(seen, Vec::new()).await.ok()?;
        text.as_str().filter(|text| text.contains("quicksilver")).map(str::to_owned)
    })
    .await?;
    assert!(found.contains("npm run paint"), "{found}");
    Ok(())
}

/// Opens the palette anew and types these words.
async fn ask(page: &Client, words: &str) -> Result<()> {
    keys(page, &[Key::Escape]).await?;
    let open =
        "window.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }));";
    page.execute(open, Vec::new()).await?;
    let field = page.wait().for_element(Locator::Css("[role=combobox]")).await?;
    field.send_keys(words).await?;
    Ok(())
}

/// Sends keys to the focus.
async fn keys(page: &Client, keys: &[Key]) -> Result<()> {
    let active: Value = page.execute("return document.activeElement === document.body;", Vec::new()).await?;
    let focused = if active == json!(true) { "body" } else { ":focus" };
    let element = page.find(Locator::Css(focused)).await?;
    for key in keys {
        element.send_keys(&char::from(*key).to_string()).await?;
    }
    Ok(())
}
