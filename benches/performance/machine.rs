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
    format!("{model}, {cores} cores, {memory}, {system}{kind}{}", load(cores))
}

/// What else it has to do: figures of a busy machine are worse than they could be.
fn load(cores: usize) -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let processes: f64 = load.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    if processes < 0.5 {
        return String::new();
    }
    format!(", on which {processes:.1} other processes already shared the {cores} cores")
}
