//! Restore: recorded traces against what is known about them, and traces made by hand for each rule.

mod damage;
mod errors;
mod fixtures;
mod old_traces;
mod order;
mod own_traces;
mod property;
mod shapes;
mod support;
mod tree;
