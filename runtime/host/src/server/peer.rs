//! Who is at the other end of a connection, and what need not be worked out for each of its requests.

use std::cell::RefCell;
use std::net::SocketAddr;

use http::header::{HOST, HeaderValue};
use http::uri::Authority;
use http::{HeaderMap, Uri};
use levelfield_app::authority::{self, NoHost};
use levelfield_app::headers;

/// One connection's client.
pub struct Peer {
    /// The address as a component sees it.
    pub header: HeaderValue,
    /// The Host header of the request before, and what it means: clients rarely change it.
    host: RefCell<Option<(HeaderValue, Authority)>>,
}

impl Peer {
    pub fn new(address: SocketAddr) -> Self {
        Peer {
            header: headers::client(address),
            host: RefCell::default(),
        }
    }

    /// The one authority of a request, as [`authority::of_request`] finds it.
    pub fn authority(&self, target: &Uri, headers: &HeaderMap) -> Result<Authority, NoHost> {
        let mut sent = headers.get_all(HOST).iter();
        let (Some(host), None, None) = (sent.next(), sent.next(), target.authority()) else {
            return authority::of_request(target, headers);
        };
        let mut known = self.host.borrow_mut();
        if let Some((known, authority)) = &*known
            && known == host
        {
            return Ok(authority.clone());
        }
        let authority = authority::of_request(target, headers)?;
        *known = Some((host.clone(), authority.clone()));
        Ok(authority)
    }
}
