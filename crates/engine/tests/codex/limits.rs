//! The limits of the plan, as rollouts tell them.

use serde_json::json;
use watchbill_core::time::Timestamp;

use crate::house::House;
use crate::locks::{A, B, append, house};
use crate::subagents::{meta, started};

/// The known limits: span in minutes, hundredths of a percent, session.
fn limits(house: &House) -> Vec<(u32, u32, String)> {
    let limits = house.engine.current(true).limits.iter();
    limits.map(|known| (known.limit.minutes, known.limit.used, known.session.to_string())).collect()
}

#[test]
fn the_newest_rollouts_say_the_limits_until_their_spans_end() {
    let mut house = house();
    let end = house.now.as_millis() / 1_000 + 600;
    let tokens = |five_hours: f64| {
        let usage = json!({"input_tokens": 10, "output_tokens": 1});
        let limit = |percent: f64, minutes: u64, after: i64| json!({"used_percent": percent, "window_minutes": minutes, "resets_at": end + after});
        let limits = json!({"primary": limit(five_hours, 300, 0), "secondary": limit(61.5, 10_080, 90_000)});
        let info = json!({"total_token_usage": usage, "last_token_usage": usage});
        ("event_msg", json!({"type": "token_count", "info": info, "rate_limits": limits}))
    };
    // Before its first answer a session has no numbers of its own.
    let mut early = tokens(39.0);
    early.1["info"] = serde_json::Value::Null;
    append(&mut house, A, &[meta(A, None), started(), early]);
    assert_eq!(limits(&house), [(300, 3_900, A.to_owned()), (10_080, 6_150, A.to_owned())]);
    append(&mut house, A, &[tokens(40.0)]);
    assert_eq!(limits(&house), [(300, 4_000, A.to_owned()), (10_080, 6_150, A.to_owned())]);
    append(&mut house, B, &[meta(B, None), started(), tokens(44.0)]);
    assert_eq!(limits(&house)[0], (300, 4_400, B.to_owned()));
    house.run_to(Timestamp::from_millis((end + 1) * 1_000));
    house.step(watchbill_engine::input::Input::Deadline);
    assert_eq!(limits(&house).iter().map(|limit| limit.0).collect::<Vec<_>>(), [10_080]);
}
