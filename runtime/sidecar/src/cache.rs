//! A query's own answers, kept for a short time, and one read of the store for all who ask for the
//! same at once. Off unless the query declares it.

use std::sync::Arc;

use crate::answer::Answer;
use crate::param::Value;
use crate::query::CachePolicy;
use crate::store::Failure;

pub struct Cache {
    answers: moka::future::Cache<Vec<Value>, Answer>,
}

impl Cache {
    pub fn new(policy: CachePolicy) -> Self {
        let answers = moka::future::Cache::builder()
            .max_capacity(policy.max_entries)
            .time_to_live(policy.ttl)
            .build();
        Self { answers }
    }

    /// The kept answer, or that of `read`, which runs once however many ask. A failure is shared by
    /// those who wait for it and not kept.
    pub async fn get_or_read(
        &self,
        values: &[Value],
        read: impl Future<Output = Result<Answer, Failure>>,
    ) -> Result<Answer, Arc<Failure>> {
        if let Some(answer) = self.answers.get(values).await {
            return Ok(answer);
        }
        self.answers.try_get_with(values.to_vec(), read).await
    }
}
