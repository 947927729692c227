//! Everything that a counter is split by: each kind has a name, which is its label, and a place among its siblings.

use std::marker::PhantomData;

use super::Count;

/// Something that a counter can be split by.
pub trait Kind: Copy + 'static {
    /// The labels, in the order of [`index`](Kind::index).
    const NAMES: &'static [&'static str];

    fn index(self) -> usize;

    fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }
}

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $label:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl Kind for $name {
            const NAMES: &'static [&'static str] = &[$($label,)*];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

kinds! {
    /// The class of an answer's status.
    Status {
        Informational = "1xx",
        Success = "2xx",
        Redirection = "3xx",
        ClientError = "4xx",
        ServerError = "5xx",
        /// The client left before there was an answer.
        Aborted = "aborted",
    }
}

kinds! {
    /// Why a component gave no answer.
    Failure {
        Trap = "trap",
        Guest = "guest_error",
        NoResponse = "no_response",
        Timeout = "timeout",
        Overloaded = "overloaded",
    }
}

kinds! {
    /// Why an instance ended.
    Retirement {
        Reused = "reused_up",
        Idle = "idle",
        Trap = "trap",
        Timeout = "timeout",
        Memory = "memory",
        HandleLimit = "handle_limit",
        Shutdown = "shutdown",
    }
}

kinds! {
    /// What stopped a guest.
    TrapKind {
        Unreachable = "unreachable",
        StackOverflow = "stack_overflow",
        OutOfBounds = "out_of_bounds",
        Arithmetic = "arithmetic",
        IndirectCall = "indirect_call",
        Memory = "memory",
        HandleLimit = "handle_limit",
        Other = "other",
    }
}

kinds! {
    /// What became of an outbound request.
    Outcome {
        Response = "response",
        Denied = "denied",
        Prohibited = "prohibited",
        Invalid = "invalid",
        Dns = "dns",
        Refused = "refused",
        Unreachable = "unreachable",
        ConnectTimeout = "connect_timeout",
        ResponseTimeout = "response_timeout",
        Terminated = "terminated",
        LimitReached = "limit_reached",
        Tls = "tls",
        Body = "body",
        /// The guest did not wait for it.
        Cancelled = "cancelled",
    }
}

impl Status {
    pub fn of(status: http::StatusCode) -> Self {
        match status.as_u16() / 100 {
            1 => Status::Informational,
            2 => Status::Success,
            3 => Status::Redirection,
            4 => Status::ClientError,
            _ => Status::ServerError,
        }
    }
}

/// One count for each kind.
pub struct ByKind<K> {
    counts: Box<[Count]>,
    kind: PhantomData<K>,
}

impl<K: Kind> Default for ByKind<K> {
    fn default() -> Self {
        ByKind {
            counts: K::NAMES.iter().map(|_| Count::default()).collect(),
            kind: PhantomData,
        }
    }
}

impl<K: Kind> ByKind<K> {
    pub fn of(&self, kind: K) -> &Count {
        &self.counts[kind.index()]
    }

    /// The count of the kind with this index.
    pub fn at(&self, index: usize) -> u64 {
        self.counts[index].get()
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().map(Count::get).sum()
    }
}
