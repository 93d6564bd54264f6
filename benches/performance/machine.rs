//! The machine at hand, in words.

use std::fs;

/// Its processors and its memory, without its name.
pub fn described() -> String {
    let field = |text: &str, name: &str| -> Option<String> {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = field(&processors, "model name").unwrap_or_else(|| "an unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = field(&memory, "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let memory = kilobytes
        .map_or("unknown memory".to_owned(), |kilobytes| format!("{} GB of memory", (kilobytes + (1 << 19)) >> 20));
    let system = std::env::consts::OS;
    let is_virtual = processors.lines().any(|line| line.starts_with("flags") && line.contains(" hypervisor"));
    let kind = if is_virtual { ", a virtual machine" } else { "" };
    format!("{model}, {cores} cores, {memory}, {system}{kind}")
}
