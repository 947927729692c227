//! A set of CPUs, written as the kernel writes it: "0", "2-3", "0,2-3".

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuSet(Vec<u32>);

impl CpuSet {
    pub fn new(cpus: impl IntoIterator<Item = u32>) -> Self {
        let mut cpus: Vec<u32> = cpus.into_iter().collect();
        cpus.sort_unstable();
        cpus.dedup();
        Self(cpus)
    }

    /// Every CPU of this machine.
    pub fn online() -> Self {
        let list = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        list.trim().parse().unwrap_or_else(|_| Self::allowed())
    }

    /// The CPUs that this process may run on.
    pub fn allowed() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
            .and_then(|list| list.trim().parse().ok())
            .unwrap_or_else(|| Self(vec![0]))
    }

    /// The last `count` for the server and the others for the generator; all for both where there are too few.
    pub fn split(&self, count: usize) -> (Self, Self) {
        if self.0.len() <= count {
            return (self.clone(), self.clone());
        }
        let (generator, server) = self.0.split_at(self.0.len() - count);
        (Self(server.to_vec()), Self(generator.to_vec()))
    }

    pub fn cpus(&self) -> &[u32] {
        &self.0
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut separator = "";
        while let [first, ..] = rest {
            let run = rest
                .iter()
                .enumerate()
                .take_while(|(offset, cpu)| **cpu == first + *offset as u32)
                .count();
            match run {
                1 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{}", rest[run - 1])?,
            }
            separator = ",";
            rest = &rest[run..];
        }
        Ok(())
    }
}

impl FromStr for CpuSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("{text:?} is no set of CPUs: write it as 0 or 2-3 or 0,2-3");
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.parse().map_err(|_| invalid())?;
            let last: u32 = last.parse().map_err(|_| invalid())?;
            if first > last || last > 4095 {
                return Err(invalid());
            }
            cpus.extend(first..=last);
        }
        Ok(Self::new(cpus))
    }
}

#[cfg(test)]
mod tests {
    use super::CpuSet;

    #[test]
    fn a_set_is_written_as_the_kernel_writes_it() {
        for text in ["0", "2-3", "0,2-3", "0-7", "1,3,5"] {
            assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), text);
        }
        for bad in ["", "a", "3-2", "1,", "-1", "0-99999"] {
            assert!(bad.parse::<CpuSet>().is_err(), "{bad}");
        }
    }

    #[test]
    fn server_and_generator_do_not_share_a_core_where_there_are_enough() {
        let (server, generator) = CpuSet::new(0..4).split(1);
        assert_eq!(
            (server.to_string(), generator.to_string()),
            ("3".into(), "0-2".into())
        );
        let (server, generator) = CpuSet::new(0..1).split(1);
        assert_eq!(server, generator);
    }
}
