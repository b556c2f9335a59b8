//! Words for made-up histories, and a generator of numbers that is the same on every machine.

pub const NOUNS: &[&str] = &[
    "ledger", "invoice", "carrier", "parser", "socket", "journal", "lantern", "voucher", "harbour", "ticket",
    "gateway", "cursor", "segment", "replica", "bucket", "tariff", "courier", "beacon", "anchor", "ballast",
    "quota", "snapshot", "manifest", "palette", "glyph", "kernel", "vessel", "compass", "rudder", "signal",
    "tenant", "webhook", "payload", "digest", "cipher", "merchant", "refund", "coupon", "shipment", "pallet",
    "depot", "freight", "customs", "berth", "pilot", "tug", "dredger", "buoy", "sextant", "almanac", "tide",
    "current", "draught", "hull", "keel", "mast", "rigging", "galley", "bridge", "hatch",
];

pub const STYLES: &[&str] = &[
    "milliseconds",
    "integers",
    "snake",
    "uppercase",
    "base32",
    "iso",
    "cents",
    "utf16",
    "big endian",
    "nullable",
    "immutable",
    "idempotent",
    "sorted",
    "buffered",
    "streamed",
    "batched",
];

pub const TASKS: &[&str] =
    &["tidy up", "write tests for", "document", "speed up", "extend", "look into", "rename"];

/// Numbers by a linear congruence.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    pub fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}
