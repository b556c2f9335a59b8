//! Replaces the items of a list in the file and keeps the comments between them.

use toml_edit::{Array, RawString, Value};

/// The list `before` with exactly these items. Items that stay keep their places and their comments.
pub(crate) fn with_items(before: &Array, items: &[String]) -> Array {
    let mut list = before.clone();
    let mut at = 0;
    while at < list.len() {
        let stays = list.get(at).and_then(Value::as_str).is_some_and(|item| items.iter().any(|i| i == item));
        if stays { at += 1 } else { remove_item(&mut list, at) }
    }
    let kept: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
    if !items.starts_with(&kept.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>()) {
        return items.iter().collect();
    }
    for item in &items[kept.len()..] {
        append(&mut list, item);
    }
    list
}

/// Splits the text between two items: up to the end of the line it belongs to the item before, the rest to the item
/// after.
fn parts(between: &str) -> (&str, &str) {
    between.split_at(between.find('\n').unwrap_or(if between.trim().is_empty() { 0 } else { between.len() }))
}

fn text(raw: Option<&RawString>) -> String {
    raw.and_then(RawString::as_str).unwrap_or_default().to_owned()
}

fn prefix(value: &Value) -> String {
    text(value.decor().prefix())
}

fn remove_item(list: &mut Array, at: usize) {
    let gone = list.remove(at);
    let gone = prefix(&gone);
    let (of_before, _) = parts(&gone);
    if let Some(next) = list.get_mut(at) {
        let between = prefix(next);
        let own = if at == 0 && !between.contains('\n') { &gone } else { parts(&between).1 };
        next.decor_mut().set_prefix(format!("{of_before}{}", own.trim_start_matches(of_before)));
    } else {
        let end = text(Some(list.trailing()));
        let rest = parts(&end).1.to_owned();
        list.set_trailing(format!("{of_before}{rest}"));
    }
}

fn append(list: &mut Array, item: &str) {
    let indent = list.iter().last().map(prefix).unwrap_or_default();
    // Without a trailing comma, the text before the bracket belongs to the last item.
    let comma = list.trailing_comma() || list.is_empty();
    let end = match list.len().checked_sub(1).and_then(|last| list.get_mut(last)).filter(|_| !comma) {
        Some(last) => {
            let end = text(last.decor().suffix());
            last.decor_mut().set_suffix("");
            end
        }
        None => text(Some(list.trailing())),
    };
    let (of_before, rest) = parts(&end);
    let mut value = Value::from(item);
    // One item per line: the new item is indented like the last one.
    let gap = match indent.rfind('\n') {
        Some(line) => format!("{of_before}{}", &indent[line..]),
        None if list.is_empty() => String::new(),
        // On the line of a comment, the item would become part of the comment.
        None if of_before.contains('#') => format!("{of_before}\n  "),
        None => format!("{of_before} "),
    };
    value.decor_mut().set_prefix(gap);
    if comma {
        list.set_trailing(rest.to_owned());
    } else {
        value.decor_mut().set_suffix(rest.to_owned());
    }
    list.push_formatted(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: &str, items: &[&str]) -> String {
        let Value::Array(list) = before.parse().unwrap() else { panic!("a list") };
        let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
        let after = with_items(&list, &items).to_string().trim().to_owned();
        let Value::Array(read) = after.parse().unwrap() else { panic!("a list") };
        assert_eq!(read.iter().filter_map(Value::as_str).collect::<Vec<_>>(), items, "{after}");
        after
    }

    #[test]
    fn items_come_and_go_and_comments_stay() {
        let lines = "[\n  'a', # first\n  # the second\n  'b', # second\n  'c', # third\n]";
        insta::assert_snapshot!(
            [
                change(lines, &["a", "c"]),
                change(lines, &["a", "b"]),
                change(lines, &["b", "c"]),
                change(lines, &["a", "b", "c", "d"]),
                change(lines, &["a", "b", "d"]),
                change(lines, &["c", "a"]),
                change("['a','b']", &["a"]),
                change("['a','b']", &["b"]),
                change("['a', 'b']", &["a", "b", "it's \"d\""]),
                change("[ 'a', 'b', ]", &["b", "c"]),
                change("[]", &["x", "y"]),
                change("['x']", &[]),
                change("[\n  'a'\n]", &["a", "b"]),
                change("['a'\n  , 'b' # x\n]", &["a", "b", "c"]),
                change("['a', 'a']", &["a", "a"]),
            ]
            .join("\n")
        );
    }
}
