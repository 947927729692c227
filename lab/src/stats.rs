//! The statistics of a run: quantiles, seeded bootstrap intervals, Holm's correction, verdicts.
//!
//! Pure functions over numbers; what is a trial, a block or a metric is [`analysis`](crate::analysis)'s business.
//! Requests inside a trial depend on each other, so nothing here ever resamples requests: the unit is the block.

pub mod holm;
pub mod interval;
pub mod pooled;
pub mod quantile;
pub mod random;
pub mod student;
pub mod verdict;
