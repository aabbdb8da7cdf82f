//! Helpers that are independent of runs: sorting, id hashing, files, limits and faults.

mod fault;
pub mod file;
mod id_hash;
pub mod limits;
mod sort;

pub use fault::{Fault, Faults};
pub(crate) use id_hash::IdHashing;
pub(crate) use sort::{sort_by_number, total_order};
