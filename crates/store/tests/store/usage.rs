//! The usage of some days, compared with the view that tells each request once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rusqlite::Connection;
use watchbill_core::history::rows::Request;
use watchbill_core::prices::Prices;
use watchbill_core::session::RequestKey;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;

use crate::rig::{Rig, session};

const DAY: i64 = 86_400_000;

const PLAIN: &str = "SELECT at / 86400000, session_id, coalesce(model, ''), subagent IS NOT NULL, count(*), sum(input), sum(output)
    FROM v_usage WHERE at >= ?1 GROUP BY 1, 2, 3, 4";

type Sums = BTreeMap<(i64, String, String, bool), (u64, u64, u64)>;

fn requests() -> impl Strategy<Value = Vec<(usize, u64, Request)>> {
    let one = (0..4_usize, 0..12_u64, 0..4 * DAY, 0..3_usize, any::<bool>(), any::<bool>(), 1..100_u64);
    prop::collection::vec(one, 0..40).prop_map(|all| {
        let request =
            |(session, key, at, model, copied, agent, tokens): (usize, u64, i64, usize, bool, bool, u64)| {
                let request = Request {
                    key: RequestKey(key),
                    at: Some(Timestamp::from_millis(at)),
                    model: ["opus", "haiku"].get(model).map(|name| (*name).into()),
                    agent: agent.then(|| "a1".into()),
                    copied,
                    usage: Usage { input: tokens, output: tokens * 2, ..Usage::default() },
                };
                (session, key, request)
            };
        all.into_iter().map(request).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn each_request_counts_once_on_its_day(requests in requests()) {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        for (number, _, request) in &requests {
            let (_, file) = session(&mut step, &format!("s{number}"));
            step.merge_request(file, request).unwrap();
        }
        step.commit().unwrap();
        // The first day is before what is asked for.
        let days: Vec<Timestamp> = (1..4).map(|day| Timestamp::from_millis(day * DAY)).collect();
        let mut prices = Prices::default();
        prop_assert!(prices.add("opus 1 0 0 0") && prices.add("haiku 1 0 0 0"));
        let mut day_of = |at| days.partition_point(|day| *day <= at);
        let rows = store.usage(days.first().copied(), &mut day_of, Some(&prices)).unwrap();
        let told: Sums = rows
            .iter()
            .map(|row| {
                let cost = row.model.as_ref().map(|_| u128::from(row.tokens.input) * 1_000_000);
                assert_eq!(row.cost.map(|cost| cost.sum()), cost, "a cost is a sum too");
                let model = row.model.as_deref().unwrap_or_default().to_owned();
                let key = (row.day.unwrap() as i64, row.session.to_string(), model, row.of_subagent);
                (key, (row.requests, row.tokens.input, row.tokens.output))
            })
            .collect();
        let sql = Connection::open(rig.folder.path().join(watchbill_store::DATABASE)).unwrap();
        let mut statement = sql.prepare(PLAIN).unwrap();
        let plain = statement.query_map([DAY], |row| {
            let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
            Ok(((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?), (count(4)?, count(5)?, count(6)?)))
        });
        prop_assert_eq!(told, plain.unwrap().collect::<rusqlite::Result<Sums>>().unwrap());
    }
}
