//! Helpers that are independent of runs: id hashing, files, limits and faults.

mod fault;
pub mod file;
mod id_hash;
pub mod limits;

pub use fault::{Fault, Faults};
pub(crate) use id_hash::IdHashing;
