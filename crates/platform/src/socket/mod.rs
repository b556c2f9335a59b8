//! Local sockets of one user: their place, lines of JSON, who is at the other end.

mod address;
mod lines;

#[cfg(unix)]
pub use address::with_short_path;
pub use address::{Address, SocketIdentity, is_ours, peer};
pub use interprocess::local_socket::traits::{ListenerExt, Stream as StreamExt};
pub use interprocess::local_socket::{Listener, Stream};
pub use lines::{Reader, SharedStream, Writer, halves};
