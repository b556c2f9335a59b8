//! The list prices that come with the program, with their dates and sources.

use watchbill_core::prices::Prices;
use watchbill_protocol::store::PriceList;

/// `list DATE SOURCE` begins a list; each other line is one of [`Prices::add`].
const LIST: &str = include_str!("prices.txt");

/// The prices with the lists that they come from. `own` are the user's, and win.
pub fn prices(own: &[String]) -> (Prices, Vec<PriceList>) {
    let mut prices = Prices::default();
    let mut lists = Vec::new();
    for line in LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["list", date, source] = words[..] {
            lists.push(PriceList { date: date.to_owned(), source: source.to_owned() });
        } else {
            prices.add(line);
        }
    }
    for line in own {
        prices.add(line);
    }
    (prices, lists)
}

#[cfg(test)]
mod tests {
    use watchbill_core::transcript::record::Usage;

    use super::*;

    #[test]
    fn every_line_of_the_list_is_a_price_or_begins_a_list() {
        let lines = LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines.filter(|line| !Prices::is_line(line)) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let ["list", date, source] = words[..] else { panic!("{line}") };
            assert!(date.parse::<jiff::civil::Date>().is_ok() && source.starts_with("https://"), "{line}");
        }
        assert_eq!(prices(&[]).1.len(), 2);
    }

    #[test]
    fn an_own_price_wins() {
        let one = Usage { output: 1_000_000, ..Usage::default() };
        let cost = |own: &[String]| prices(own).0.of("gpt-5")?.cost(&one).map(|costs| costs.sum());
        assert_eq!(cost(&[]), Some(10_000_000_000_000));
        assert_eq!(cost(&["gpt-5 0 1 0 0".to_owned()]), Some(1_000_000_000_000));
    }
}
