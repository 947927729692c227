//! Whose listening socket answers on a port: a leftover of another run must never be measured in a target's name.

use std::collections::BTreeSet;
use std::fs;

use crate::processes::members;

#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    #[error(
        "nothing of process group {group} listens on port {port}: another program answers there"
    )]
    Foreign { port: u16, group: u32 },
    #[error("cannot read who listens on port {port}: {source}")]
    Read { port: u16, source: std::io::Error },
}

/// Checks that a process of `group` (or below its leader) holds the listening socket on `port`.
pub fn check_owner(port: u16, group: u32) -> Result<(), OwnerError> {
    let inodes = listening(port).map_err(|source| OwnerError::Read { port, source })?;
    let held = members(group).into_iter().any(|pid| {
        fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .any(|link| {
                let link = link.to_string_lossy();
                let inode = link
                    .strip_prefix("socket:[")
                    .and_then(|rest| rest.strip_suffix(']'));
                inode.is_some_and(|inode| inodes.contains(inode))
            })
    });
    match held {
        true => Ok(()),
        false => Err(OwnerError::Foreign { port, group }),
    }
}

/// The inodes of the sockets that listen on a port, on any address.
fn listening(port: u16) -> std::io::Result<BTreeSet<String>> {
    const LISTEN: &str = "0A";
    let mut inodes = BTreeSet::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = match fs::read_to_string(table) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split_whitespace().collect();
            if let [_, local, _, LISTEN, _, _, _, _, _, inode, ..] = columns[..]
                && local.ends_with(&format!(":{port:04X}"))
            {
                inodes.insert(inode.to_owned());
            }
        }
    }
    Ok(inodes)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::Command;
    use std::time::Duration;

    use testbed::{Process, Ready};

    use super::{OwnerError, check_owner};
    use crate::processes::members;

    #[test]
    fn a_socket_of_another_process_is_not_the_targets() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let other = Process::start(
            Command::new("sleep").arg("60"),
            Ready::AtOnce,
            Duration::from_secs(5),
        )
        .unwrap();
        assert_eq!(members(other.pid()), [other.pid()]);
        assert!(matches!(
            check_owner(port, other.pid()),
            Err(OwnerError::Foreign { .. })
        ));
    }

    #[test]
    fn a_socket_of_the_group_is_found() {
        let port = testbed::free_port();
        let script = format!(
            "import socket,time\ns=socket.create_server(('127.0.0.1',{port}))\ntime.sleep(60)"
        );
        let server = Process::start(
            Command::new("python3").args(["-c", &script]),
            Ready::Port(([127, 0, 0, 1], port).into()),
            Duration::from_secs(20),
        )
        .unwrap();
        check_owner(port, server.pid()).unwrap();
    }
}
