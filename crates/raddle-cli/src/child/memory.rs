//! Memory: of the machine, and of a process with all its descendants.
//!
//! Resident memory of processes counts what forked worker processes share several times. It is cheap to read, so only if it
//! exceeds a limit the proportional share of each process (PSS) is read, which counts shared pages once.

use std::fs;
use std::path::{Path, PathBuf};

/// How much memory explorations may use together: three quarters of what the machine and the control groups of this process
/// allow, in bytes. `None` if that is unknown.
pub(crate) fn default_limit() -> Option<u64> {
    let machine = kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:");
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(group_limits);
    machine.into_iter().chain(limits).min().map(|bytes| bytes / 4 * 3)
}

/// The memory limits of a control group and of those above it; `line` is a line of `/proc/self/cgroup`.
fn group_limits(line: &str) -> Vec<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { return vec![] };
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        _ if controllers.split(',').any(|it| it == "memory") => {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return vec![],
    };
    let group = Path::new(path.trim_start_matches('/'));
    let files = group.ancestors().map(|group| Path::new(root).join(group).join(file));
    files.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).collect()
}

/// Returns `true` if a process and its descendants use more than `limit` bytes.
pub(super) fn exceeds(process: u32, limit: u64) -> bool {
    let processes = with_descendants(process);
    let total = |memory: fn(u32) -> u64| processes.iter().map(|&it| memory(it)).sum::<u64>();
    total(resident) > limit && total(proportional) > limit
}

/// The process and its descendants. Without `CONFIG_PROC_CHILDREN` only the process.
fn with_descendants(process: u32) -> Vec<u32> {
    let mut processes = vec![process];
    let mut next = 0;
    while let Some(process) = processes.get(next) {
        processes.extend(children(*process));
        next += 1;
    }
    processes
}

/// The children of all threads of a process.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists: Vec<PathBuf> = threads.map(|thread| thread.path().join("children")).collect();
    let texts = lists.iter().filter_map(|list| fs::read_to_string(list).ok());
    texts.flat_map(|text| numbers(&text)).collect()
}

fn numbers(text: &str) -> Vec<u32> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Resident memory of a process in bytes. It has none if it has ended.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    kilobytes(&status, "VmRSS:").unwrap_or_default()
}

/// Like [`resident`], but pages that several processes share count in parts. Some systems do not permit to read it.
fn proportional(process: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup"));
    let proportional = rollup.ok().and_then(|rollup| kilobytes(&rollup, "Pss:"));
    proportional.unwrap_or_else(|| resident(process))
}

/// The bytes after a label, in a file that has a label and a number of kilobytes per line.
fn kilobytes(text: &str, label: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(label))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|number| number * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_proc() {
        let status = "Name:\traddle\nVmHWM:\t  900 kB\nVmRSS:\t  512 kB\n";
        assert_eq!(kilobytes(status, "VmRSS:"), Some(512 * 1024));
        assert_eq!(kilobytes("Name:\tVmRSS:\n", "VmRSS:"), None);
        assert_eq!(numbers("12 345 \n"), [12, 345]);
    }

    #[test]
    fn this_process_uses_more_than_a_megabyte_and_less_than_a_terabyte() {
        let process = std::process::id();
        assert!(exceeds(process, 1 << 20));
        assert!(!exceeds(process, 1 << 40));
    }

    #[test]
    fn descendants_are_found() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let is_found = with_descendants(std::process::id()).contains(&child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_found);
    }

    #[test]
    fn the_machine_has_memory() {
        let limit = default_limit().expect("Linux tells");
        assert!((1 << 26..1 << 50).contains(&limit), "{limit} bytes");
        assert!(group_limits("9:cpu,cpuacct:/").is_empty());
    }
}
