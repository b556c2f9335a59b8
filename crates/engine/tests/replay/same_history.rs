//! The history of states is the same however the bytes arrive.
