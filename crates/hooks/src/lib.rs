//! Hooks of the agent: the sender that never holds the agent up, the receiver, the installer that can be undone.

#![forbid(unsafe_code)]
