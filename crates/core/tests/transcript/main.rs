//! The reading of transcripts, over what real clients wrote and over what nobody should write.

mod fixtures;
mod recordings;
mod shapes;
mod timeline;
