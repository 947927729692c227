//! The processes of this machine and their groups, as /proc lists them.

use std::fs;

/// Every process of this machine.
pub fn all() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The processes of a process group.
pub fn members(group: u32) -> Vec<u32> {
    all()
        .filter(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The name is in parentheses and may hold anything; then come state, parent and group.
            let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            after_name.split_whitespace().nth(2) == Some(&group.to_string())
        })
        .collect()
}
