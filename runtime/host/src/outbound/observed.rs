//! An outbound request as those see it who run the host: counted by what became of it.

use std::sync::Arc;

use super::send::deliver;
use super::{Outbound, Permission, SendError};
use crate::message::Response;
use crate::metrics::{self, Outcome};

/// Sends `request` if the component may, and waits for the response's head.
pub async fn send(permission: Arc<Permission>, request: Outbound) -> Result<Response, SendError> {
    let mut observed = Observed {
        component: permission.index,
        outcome: Outcome::Cancelled,
    };
    let sent = deliver(permission, request).await;
    observed.outcome = match &sent {
        Ok(_) => Outcome::Response,
        Err(error) => error.into(),
    };
    sent
}

/// Tells of an outbound request when it is over, however it ends.
struct Observed {
    component: usize,
    outcome: Outcome,
}

impl Drop for Observed {
    fn drop(&mut self) {
        metrics::component(self.component, |counters| {
            counters.outbound.of(self.outcome).one();
        });
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
