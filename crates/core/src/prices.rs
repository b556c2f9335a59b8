//! List prices of models: what requests would cost without a plan.

use std::collections::HashMap;

use crate::transcript::record::Usage;

/// Trillionths of a dollar. Sums of them are exact.
pub type PicoUsd = u128;

/// What tokens of each kind cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Costs {
    /// What was sent.
    pub input: PicoUsd,
    /// What was answered.
    pub output: PicoUsd,
    /// What was written into the cache.
    pub cache_write: PicoUsd,
    /// What was read from it.
    pub cache_read: PicoUsd,
}

impl Costs {
    /// All of it.
    pub const fn sum(&self) -> PicoUsd {
        self.input + self.output + self.cache_write + self.cache_read
    }

    /// Adds the costs of other tokens.
    pub const fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_write += other.cache_write;
        self.cache_read += other.cache_read;
    }
}

/// The price of a token of each kind, in trillionths of a dollar. A dollar for a million tokens is a million of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Price {
    input: u64,
    output: u64,
    cache_write: u64,
    cache_read: u64,
}

/// The greatest price of a million tokens that is no mistake, in dollars.
const MOST: f64 = 1_000_000.0;

/// Prices by model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices(HashMap<String, Vec<(u64, Price)>>);

impl Prices {
    /// Adds a line: the model and the dollars for a million tokens of input, output, cache write and cache read. `MODEL>N` is the
    /// price of requests with a prompt of more than N tokens. A later line replaces an earlier one. `false`: it is no such line.
    pub fn add(&mut self, line: &str) -> bool {
        let Some((name, above, price)) = parse(line) else { return false };
        let steps = self.0.entry(name).or_default();
        if above == 0 {
            // A price of one's own has no steps but its own.
            steps.clear();
        }
        steps.retain(|(at, _)| *at != above);
        steps.push((above, price));
        steps.sort_unstable_by_key(|(at, _)| *at);
        true
    }

    /// Whether [`Prices::add`] takes the line.
    pub fn is_line(line: &str) -> bool {
        parse(line).is_some()
    }

    /// The prices of a model; `None` if it has none.
    pub fn of(&self, model: &str) -> Option<ModelPrice<'_>> {
        self.0.get(&plain(model)).map(|steps| ModelPrice(steps))
    }
}

/// The prices of one model, by the size of the prompt.
#[derive(Debug, Clone, Copy)]
pub struct ModelPrice<'p>(&'p [(u64, Price)]);

impl ModelPrice<'_> {
    /// The cost of one request; `None` if only longer prompts have a price.
    pub fn cost(&self, usage: &Usage) -> Option<Costs> {
        let prompt = usage.input.saturating_add(usage.cache_write).saturating_add(usage.cache_read);
        let (_, price) = self.0.iter().rfind(|(above, _)| *above == 0 || prompt > *above)?;
        let cost = |tokens, price| u128::from(tokens) * u128::from(price);
        Some(Costs {
            input: cost(usage.input, price.input),
            output: cost(usage.output, price.output),
            cache_write: cost(usage.cache_write, price.cache_write),
            cache_read: cost(usage.cache_read, price.cache_read),
        })
    }
}

/// Trillionths of a dollar as dollars.
#[allow(clippy::cast_precision_loss, reason = "fifteen digits of a sum of money are enough")]
pub fn dollars(pico: PicoUsd) -> f64 {
    pico as f64 / 1e12
}

fn parse(line: &str) -> Option<(String, u64, Price)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let (name, above) = match name.split_once('>') {
        Some((name, above)) => (name, above.parse().ok().filter(|above| *above > 0)?),
        None => (name, 0),
    };
    let prices: Vec<u64> = words.map(price).collect::<Option<_>>()?;
    let [input, output, cache_write, cache_read] = prices[..] else { return None };
    (!name.is_empty()).then(|| (plain(name), above, Price { input, output, cache_write, cache_read }))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn price(word: &str) -> Option<u64> {
    let dollars: f64 = word.parse().ok()?;
    (0.0..=MOST).contains(&dollars).then(|| (dollars * 1e6).round() as u64)
}

/// The name without what does not change the price: who passes the model on, its date, and the mode in brackets. Some agents
/// write a dot where others write a dash.
fn plain(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.split('[').next().unwrap_or(name).replace('.', "-");
    let is_date = |digits: &str| {
        digits.len() == 8 && digits.starts_with("20") && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    match name.rsplit_once('-') {
        Some((before, date)) if is_date(date) => before.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn usage(input: u64, output: u64, cache_write: u64, cache_read: u64) -> Usage {
        Usage { input, output, cache_write, cache_read }
    }

    fn prices(lines: &[&str]) -> Prices {
        let mut prices = Prices::default();
        assert!(lines.iter().all(|line| prices.add(line)));
        prices
    }

    #[test]
    fn a_request_costs_its_tokens_by_kind() {
        let prices = prices(&["m-4-5 3 15 3.75 0.3"]);
        let million = 1_000_000;
        let cost = |model, usage| prices.of(model)?.cost(&usage).map(|costs| dollars(costs.sum()));
        for name in ["m-4-5", "m-4.5", "m-4-5-20251101", "m-4-5[1m]", "passed-on/m-4.5"] {
            assert_eq!(cost(name, usage(million, million, million, million)), Some(22.05), "{name}");
        }
        assert_eq!(cost("m-4-5", usage(1, 0, 0, 0)), Some(0.000_003));
        assert_eq!(cost("m-4", usage(1, 0, 0, 0)), None);
    }

    #[test]
    fn a_long_prompt_has_a_price_of_its_own() {
        let mut prices = prices(&["m>100 2 0 2 2", "m 1 0 1 1", "m>100 3 0 3 3"]);
        let cost =
            |prices: &Prices, input| prices.of("m")?.cost(&usage(input, 7, 1, 1)).map(|costs| costs.sum());
        assert_eq!(cost(&prices, 98), Some(100_000_000));
        assert_eq!(cost(&prices, 99), Some(303_000_000), "the cache belongs to the prompt");
        assert!(prices.add("m 5 0 5 5"));
        assert_eq!(cost(&prices, 99), Some(505_000_000), "an own price replaces all");
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "",
            "m",
            "m 1 2 3",
            "m 1 2 3 4 5",
            "m -1 2 3 4",
            "m 1 2 3 x",
            "m NaN 0 0 0",
            ">5 1 1 1 1",
            "m>0 1 1 1 1",
        ] {
            assert!(!Prices::is_line(line), "{line}");
        }
    }

    proptest! {
        #[test]
        fn costs_of_parts_add_up_to_the_whole(
            parts in prop::collection::vec((0..1_000_000_u64, 0..1_000_000_u64, 0..1_000_000_u64, 0..1_000_000_u64), 1..20),
        ) {
            let prices = prices(&["m 0.1 0.5 0.125 0.01"]);
            let mut all = Usage::default();
            let mut sum = Costs::default();
            for (input, output, write, read) in parts {
                let part = usage(input, output, write, read);
                all.add(part);
                sum.add(&prices.of("m").unwrap().cost(&part).unwrap());
            }
            prop_assert_eq!(prices.of("m").unwrap().cost(&all), Some(sum));
        }
    }
}
