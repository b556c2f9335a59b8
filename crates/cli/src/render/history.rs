//! `index` and `forget`: reports of what they did.

use watchbill_history::query::process_label;
use watchbill_protocol::store::{ForgetReport, IndexReport};

use super::{plural, short, size};

/// What the other program did while `index` waited.
pub fn index_by_holder(report: &IndexReport) -> String {
    let who = process_label(report.kept_by);
    let files = plural(usize::try_from(report.files).unwrap_or(usize::MAX), "file");
    let mut out = format!("everything in {files} is stored; {who} keeps the history up to date");
    if report.bytes > 0 {
        out.push_str(&format!(", and has read {} in {:.1} s", size(report.bytes), report.seconds));
    }
    out.push('\n');
    unread(&mut out, report);
    out
}

fn unread(out: &mut String, report: &IndexReport) {
    if report.unknown_records > 0 {
        let records = match report.unknown_records {
            1 => "1 record is of a type".to_owned(),
            n => format!("{n} records are of types"),
        };
        out.push_str(&format!("{records} that this version does not know; `watchbill doctor` says which\n"));
    }
    if report.problems > 0 {
        let problems = plural(usize::try_from(report.problems).unwrap_or(usize::MAX), "line or file")
            .replace("line or files", "lines or files");
        out.push_str(&format!("{problems} could not be read; `watchbill doctor` says which\n"));
    }
}

/// The report of a run of the index.
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
        format!(", {} of long ones left out (`watchbill index --cut N` changes this)", size(report.cut_bytes))
    } else {
        String::new()
    };
    out.push_str(&format!(
        "{} of transcripts, {} made searchable{cut}\n",
        size(report.bytes),
        count(report.texts, "text")
    ));
    if let Some(archived) = report.archived {
        out.push_str(&format!("{} archived\n", count(archived, "transcript")));
    }
    unread(&mut out, report);
    if report.interrupted {
        out.push_str("Ended early; the next run goes on from here.\n");
    }
    out
}

/// What was forgotten, or would be.
pub fn forgotten(report: &ForgetReport) -> String {
    if report.sessions.is_empty() {
        return "Nothing to forget.\n".to_owned();
    }
    let count = |n: u64, what: &str| plural(usize::try_from(n).unwrap_or(usize::MAX), what);
    let verb = if report.dry_run { "would be forgotten" } else { "forgotten" };
    let sessions = count(report.sessions.len() as u64, "session");
    let of_chain = report.work_chain_id.as_deref();
    let of_chain = of_chain.map(|chain| format!(" of the work chain {}", short(chain))).unwrap_or_default();
    let mut out = format!("{sessions}{of_chain} {verb}");
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
            "Another program reads the store now. The next start of the window, or the next `watchbill index`, removes their \
             bytes from its file.\n",
        );
    }
    out
}
