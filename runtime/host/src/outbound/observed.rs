//! An outbound request as those see it who run the host: counted by what became of it, and traced.

use std::sync::Arc;

use super::send::deliver;
use super::{Outbound, Permission, SendError};
use crate::message::Response;
use crate::metrics::{self, Outcome};
use crate::trace::OutboundSpan;

/// Sends `request` if the component may, and waits for the response's head.
pub async fn send(
    permission: Arc<Permission>,
    mut request: Outbound,
) -> Result<Response, SendError> {
    let mut observed = Observed {
        component: permission.index,
        outcome: Outcome::Cancelled,
        span: OutboundSpan::begin(&mut request),
    };
    let sent = deliver(permission, request).await;
    observed.outcome = match &sent {
        Ok(_) => Outcome::Response,
        Err(error) => error.into(),
    };
    if let Some(span) = observed.span.take() {
        span.end(sent.as_ref().map(|response| response.status));
    }
    sent
}

/// Tells of an outbound request when it is over, however it ends.
struct Observed {
    component: usize,
    outcome: Outcome,
    span: Option<OutboundSpan>,
}

impl Drop for Observed {
    fn drop(&mut self) {
        metrics::component(self.component, |counters| {
            counters.outbound.of(self.outcome).one();
        });
        if let Some(span) = self.span.take() {
            span.cancelled();
        }
    }
}

impl From<&SendError> for Outcome {
    fn from(error: &SendError) -> Self {
        match error {
            SendError::Denied => Outcome::Denied,
            SendError::Prohibited => Outcome::Prohibited,
            SendError::UriInvalid | SendError::Protocol(_) => Outcome::Invalid,
            SendError::Dns(_) => Outcome::Dns,
            SendError::Refused => Outcome::Refused,
            SendError::Unreachable(_) => Outcome::Unreachable,
            SendError::ConnectTimeout => Outcome::ConnectTimeout,
            SendError::ResponseTimeout => Outcome::ResponseTimeout,
            SendError::Terminated => Outcome::Terminated,
            SendError::LimitReached => Outcome::LimitReached,
            SendError::Tls(_) | SendError::Certificate(_) => Outcome::Tls,
            SendError::Body(_) => Outcome::Body,
        }
    }
}
