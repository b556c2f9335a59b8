//! `index` and `forget`: what was done to the stored history.

use watchbill_protocol::store::{ForgetReport, IndexReport};

use super::{plural, size};

/// What a run of the index did.
pub fn indexed(report: &IndexReport) -> String {
    let count = |n: u64, what: &str| plural(usize::try_from(n).unwrap_or(usize::MAX), what);
    let mut out = format!(
        "{} read from {} in {:.1} s, {} already stored\n",
        count(report.records, "record"),
        count(report.files.saturating_sub(report.skipped), "file"),
        report.seconds,
        count(report.skipped, "file"),
    );
    let cut = if report.cut_bytes > 0 {
        format!(", {} of long ones left out (see --cut)", size(report.cut_bytes))
    } else {
        String::new()
    };
    out.push_str(&format!(
        "{} of transcripts, {} made searchable{cut}\n",
        size(report.bytes),
        count(report.texts, "text")
    ));
    if report.problems > 0 {
        let problems = count(report.problems, "line or file");
        out.push_str(
            &format!("{problems} could not be read; `watchbill doctor` says which\n")
                .replace("line or files", "lines or files"),
        );
    }
    if report.interrupted {
        out.push_str("Ended early; the next run goes on from here.\n");
    }
    out
}

/// What was forgotten, or would be.
pub fn forgotten(report: &ForgetReport) -> String {
    let count = |n: u64, what: &str| plural(usize::try_from(n).unwrap_or(usize::MAX), what);
    let verb = if report.dry_run { "would be forgotten" } else { "forgotten" };
    let mut out = format!("{} {verb}", count(report.sessions.len() as u64, "session"));
    let parts: Vec<String> = [
        (report.prompts, "prompt"),
        (report.tool_calls, "tool call"),
        (report.texts, "searchable text"),
        (report.archived, "archived transcript"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| count(n, what))
    .collect();
    if !parts.is_empty() {
        out.push_str(&format!(": {}", parts.join(", ")));
    }
    if report.freed_bytes > 0 {
        out.push_str(&format!("; {} freed", size(report.freed_bytes)));
    }
    out.push('\n');
    if report.wiped_later {
        out.push_str(
            "Another program reads the store now: their bytes are taken out of its file by the next start of the window, or \
             by the next `watchbill index`.\n",
        );
    }
    out
}
