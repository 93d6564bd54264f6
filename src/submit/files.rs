//! The files of a job: its executable, its streams, and what is transferred.

use crate::format::Problem;

use super::SubmitSettings;
use super::job_builder::{JobBuilder, compressed, path_in};
use super::job_kind::Universe;
use super::sizes::byte_size;
use super::universe::{set_images, unquoted};
use super::variables::{CommandValue, SubmitVariables};

/// Whether a path is a URL.
fn is_url(path: &str) -> bool {
    url_scheme(path).is_some()
}

/// Returns the scheme of a URL; `None` for any other path.
pub(super) fn url_scheme(path: &str) -> Option<&str> {
    let (scheme, rest) = path.split_once("://")?;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(is_letter);
    (is_scheme && !rest.is_empty()).then_some(scheme)
}

/// Returns the initial directory of a job, whether it differs from job to job, and the command that sets it.
pub(super) fn initial_directory(
    variables: &SubmitVariables,
    settings: &SubmitSettings,
) -> Result<(String, bool, Option<CommandValue>), Problem> {
    let folder = &settings.working_directory;
    let (mut value, mut is_live) = variables.value(&["initialdir", "Iwd"])?;
    if value.is_none() {
        let (other, is_other_live) = variables.value(&["initial_dir", "job_iwd"])?;
        (value, is_live) = (other, is_live || is_other_live);
    }
    let path = value.as_ref().map_or_else(|| compressed(folder), |value| path_in(folder, &value.text));
    Ok((path, is_live, value))
}

/// Sets the initial directory, and names the submit file.
pub(super) fn set_initial_directory(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let (path, is_live, value) = initial_directory(job.variables, job.settings)?;
    job.trace.is_live |= is_live;
    match value {
        Some(value) => job.assign_value("Iwd", path.as_str(), &value),
        None => job.assign("Iwd", path.as_str()),
    }
    if !job.settings.file_name.is_empty() {
        job.assign("JobSubmitFile", job.settings.file_name.as_str());
    }
    Ok(())
}

/// Sets the command of the job.
pub(super) fn set_executable(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    set_images(job)?;
    if job.value(&["shell"])?.is_some() {
        job.assign("Cmd", "/bin/sh");
        job.assign("TransferExecutable", false);
        return Ok(());
    }
    let has_image = job.kind.is_docker || job.kind.is_container;
    let is_pseudo = job.kind.universe == Universe::Vm || job.kind.is_cloud();
    let executable = job.value(&["executable", "Cmd"])?;
    if executable.is_none() {
        if job.has("Cmd") {
            return Ok(());
        }
        if !has_image {
            let problem = Problem::error_at(job.statement.clone(), 0, "this job has no executable");
            return Err(problem.with_help("write executable = PROGRAM before the queue statement"));
        }
    }
    let mut transfers = true;
    match job.value(&["transfer_executable", "TransferExecutable"])? {
        Some(value) if value.text.starts_with(['F', 'f']) => {
            job.assign_value("TransferExecutable", false, &value);
            transfers = false;
        }
        Some(_) => {}
        None => {
            let never = job.settings.truth("SUBMIT_CONTAINER_NEVER_XFER_ABSOLUTE_CMD", false);
            if never && has_image && executable.as_ref().is_some_and(|value| value.text.starts_with('/')) {
                job.assign("TransferExecutable", false);
                transfers = false;
            }
        }
    }
    if (is_pseudo || executable.is_none()) && transfers {
        job.assign("TransferExecutable", false);
        transfers = false;
    }
    match executable {
        Some(value) => {
            let folder = job.settings.working_directory.clone();
            let path = if transfers { path_in(&folder, &value.text) } else { value.text.clone() };
            job.assign_value("Cmd", path.as_str(), &value);
        }
        None => job.assign("Cmd", ""),
    }
    Ok(())
}

/// Splits a list of files at commas.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|file| !file.is_empty()).map(str::to_owned).collect()
}

/// When files are transferred: the words that mean it, and the word that HTCondor writes.
const SHOULD_TRANSFER: [(&str, &str); 8] = [
    ("YES", "YES"),
    ("TRUE", "YES"),
    ("ALWAYS", "YES"),
    ("NO", "NO"),
    ("FALSE", "NO"),
    ("NEVER", "NO"),
    ("IF_NEEDED", "IF_NEEDED"),
    ("AUTO", "IF_NEEDED"),
];

/// HTCondor 25.14 takes the words of no for `ON_EXIT`.
const WHEN_TO_TRANSFER: [(&str, &str); 13] = [
    ("ON_EXIT_OR_EVICT", "ON_EXIT_OR_EVICT"),
    ("ALWAYS", "ON_EXIT_OR_EVICT"),
    ("YES", "ON_EXIT_OR_EVICT"),
    ("TRUE", "ON_EXIT_OR_EVICT"),
    ("ON_EXIT", "ON_EXIT"),
    ("ONEXIT", "ON_EXIT"),
    ("NO", "ON_EXIT"),
    ("FALSE", "ON_EXIT"),
    ("NEVER", "ON_EXIT"),
    ("NONE", "NONE"),
    ("NULL", "NONE"),
    ("ON_SUCCESS", "ON_SUCCESS"),
    ("ONSUCCESS", "ON_SUCCESS"),
];

/// Returns what a word of a table means.
fn meaning(table: &[(&str, &'static str)], value: &CommandValue) -> Result<&'static str, Problem> {
    let found = table.iter().find(|(word, _)| word.eq_ignore_ascii_case(&value.text));
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let mut words: Vec<&str> = table.iter().map(|(_, meaning)| *meaning).collect();
        words.sort_unstable();
        words.dedup();
        let near = crate::ad::closest_names(&value.text, words.iter().copied());
        let help = near
            .first()
            .map_or_else(|| format!("write {}", words.join(" or ")), |near| format!("did you mean {near}?"));
        value.fault(format!("{} cannot be `{}`", value.name, value.text)).with_help(help)
    })
}

/// Sets whether and when files are transferred. Returns whether they may be.
fn set_transfer_mode(job: &mut JobBuilder<'_>, lists: [Option<&CommandValue>; 2]) -> Result<bool, Problem> {
    let is_vm = job.kind.universe == Universe::Vm;
    let should_value = job.value(&["ShouldTransferFiles", "should_transfer_files"])?;
    let when_value = job.value(&["WhenToTransferOutput", "when_to_transfer_output"])?;
    let own_should = job.text("ShouldTransferFiles");
    let is_default = should_value.is_none() && own_should.is_none() && !is_vm;
    let mut should = match &should_value {
        Some(value) => meaning(&SHOULD_TRANSFER, value)?.to_owned(),
        None if is_vm => "YES".to_owned(),
        None => {
            own_should.or_else(|| job.setting("SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES")).unwrap_or("IF_NEEDED".to_owned())
        }
    };
    if should == "NO"
        && let Some(value) = lists.into_iter().flatten().next()
    {
        let problem = value.fault("should_transfer_files = NO transfers no files");
        return Err(problem.with_help("write should_transfer_files = YES, or leave out the list"));
    }
    let own_when = job.text("WhenToTransferOutput");
    let mut when = match &when_value {
        Some(value) => meaning(&WHEN_TO_TRANSFER, value)?.to_owned(),
        None if is_vm && job.boolean("JobVMCheckpoint") == Some(true) => "ON_EXIT_OR_EVICT".to_owned(),
        None => own_when.clone().unwrap_or("ON_EXIT".to_owned()),
    };
    if !is_default && when_value.is_none() && own_when.is_none() && should == "NO" {
        "NONE".clone_into(&mut when);
    }
    if is_default && when == "ON_EXIT_OR_EVICT" && should == "IF_NEEDED" {
        "YES".clone_into(&mut should);
    }
    refuse_contradiction(job, [&should, &when], [should_value.as_ref(), when_value.as_ref()])?;
    let assign = |job: &mut JobBuilder<'_>, name: &str, text: &str, value: Option<&CommandValue>| match value {
        Some(value) => job.assign_value(name, text, value),
        None => job.assign(name, text),
    };
    assign(job, "ShouldTransferFiles", &should, should_value.as_ref());
    if should != "NO" {
        assign(job, "WhenToTransferOutput", &when, when_value.as_ref());
    }
    if should != "YES"
        && !job.has("FileSystemDomain")
        && let Some(domain) = job.setting("FILESYSTEM_DOMAIN")
    {
        job.assign("FileSystemDomain", domain.as_str());
    }
    Ok(should != "NO")
}

/// Refuses a pair of modes, whether and when to transfer files, of which one excludes the other.
fn refuse_contradiction(
    job: &JobBuilder<'_>,
    [should, when]: [&str; 2],
    [should_value, when_value]: [Option<&CommandValue>; 2],
) -> Result<(), Problem> {
    let place_of =
        |value: Option<&CommandValue>| value.map_or(job.statement.clone(), |value| value.place.value.clone());
    if (should == "NO") != (when == "NONE") {
        let message = format!("when_to_transfer_output = {when} contradicts should_transfer_files = {should}");
        let problem = Problem::error_at(place_of(when_value.or(should_value)), 0, message);
        return Err(problem.with_help("leave out one of the two commands"));
    }
    if when == "ON_EXIT_OR_EVICT" && should == "IF_NEEDED" {
        let message = "ON_EXIT_OR_EVICT and should_transfer_files = IF_NEEDED exclude each other";
        let problem = Problem::error_at(place_of(when_value), 0, message);
        return Err(problem.with_help("write should_transfer_files = YES, or ON_EXIT"));
    }
    Ok(())
}

/// Sets which files are transferred, whether and when.
pub(super) fn set_transfer(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let input = job.value(&["transfer_input_files", "TransferInputFiles"])?;
    let mut inputs = input.as_ref().map_or_else(Vec::new, |value| list(unquoted(&value.text)));
    let mut has_inputs = !inputs.is_empty();
    if let Some(value) = job.value(&["transfer_common_input", "CommonInputFiles"])? {
        job.assign_value("CommonInputFiles", list(unquoted(&value.text)).join(",").as_str(), &value);
    }
    if job.kind.is_container {
        has_inputs |= add_container_image(job, &mut inputs)?;
    }
    let output = job.value(&["transfer_output_files", "TransferOutputFiles"])?;
    let lists = [input.as_ref().filter(|_| has_inputs), output.as_ref()];
    let transfers = set_transfer_mode(job, lists)?;
    if transfers && let Some(tool) = job.text("ToolDaemonCmd") {
        let files = [Some(tool), job.text("ToolDaemonInput")];
        for file in files.into_iter().flatten().filter(|file| !inputs.contains(file)).collect::<Vec<_>>() {
            inputs.push(file);
        }
    }
    if transfers && job.kind.universe == Universe::Java {
        inputs.extend(job.text("Cmd").filter(|command| command != "java" && !inputs.contains(command)));
        inputs.extend(job.text("JarFiles").map_or_else(Vec::new, |files| list(&files)));
        job.assign("Cmd", "java");
        job.assign("TransferExecutable", false);
    }
    set_disk_usage(job)?;
    if transfers {
        if has_inputs {
            let files = inputs.join(",");
            match &input {
                Some(value) => job.assign_value("TransferInput", files.as_str(), value),
                None => job.assign("TransferInput", files.as_str()),
            }
        }
        if let Some(value) = &output {
            job.assign_value("TransferOutput", list(unquoted(&value.text)).join(",").as_str(), value);
        }
    } else if !matches!(job.kind.universe, Universe::Grid | Universe::Java | Universe::Vm)
        && let Some(value) = job.value(&["transfer_executable", "TransferExecutable"])?
        && job.truth(&["transfer_executable", "TransferExecutable"])? == Some(true)
    {
        let problem = value.fault("should_transfer_files = NO does not transfer the executable");
        return Err(problem.with_help("write should_transfer_files = YES, or transfer_executable = false"));
    }
    if transfers && let Some(value) = job.value(&["public_input_files", "PublicInputFiles"])? {
        let files = list(&value.text);
        if !files.is_empty() {
            job.assign_value("PublicInputFiles", files.join(",").as_str(), &value);
        }
    }
    if let Some(value) = job.value(&["transfer_output_remaps", "TransferOutputRemaps"])? {
        job.assign_value("TransferOutputRemaps", unquoted(&value.text), &value);
    }
    Ok(())
}

/// Adds the image of a container to the files that are transferred, and says where the image is from. Returns whether it
/// is transferred.
fn add_container_image(job: &mut JobBuilder<'_>, inputs: &mut Vec<String>) -> Result<bool, Problem> {
    if job.boolean("TransferContainer") == Some(false) {
        job.assign("ContainerImageSource", "local");
        return Ok(false);
    }
    let Some(value) = job.value(&["container_image", "ContainerImage"])? else { return Ok(false) };
    let image = value.text.as_str();
    let shared = job.setting("CONTAINER_SHARED_FS").unwrap_or_default();
    if shared.split(',').map(str::trim).any(|folder| !folder.is_empty() && image.starts_with(folder)) {
        job.assign("ContainerImageSource", "local");
        return Ok(false);
    }
    for prefix in ["docker", "oras"] {
        if image.strip_prefix(prefix).is_some_and(|rest| rest.starts_with("://")) {
            job.assign("ContainerImageSource", prefix);
            return Ok(false);
        }
    }
    inputs.push(image.to_owned());
    let path = image.strip_suffix('/').unwrap_or(image);
    let name = path.rsplit('/').next().unwrap_or(path);
    job.assign_value("ContainerImage", name, &value);
    job.assign("ContainerImageFullPath", image);
    job.assign("ContainerImageSource", path.split_once(':').map_or("cedar", |(scheme, _)| scheme));
    Ok(true)
}

/// Sets the sizes of a job's files. No file is looked at.
fn set_disk_usage(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if let Some(value) = job.value(&["disk_usage", "DiskUsage"])? {
        let size = byte_size(&value.text, 1024, false).filter(|size| size.number > 0);
        let size = size.ok_or_else(|| value.fault("disk_usage must be a size of at least 1 KB"))?;
        job.assign_value("DiskUsage", size.number, &value);
    } else if job.is_first() {
        let executable = job.attribute("ExecutableSize").and_then(|size| size.as_literal()?.as_integer()).unwrap_or(0);
        job.assign("TransferInputSizeMB", (executable + 1023) / 1024);
        job.assign("DiskUsage", executable);
    }
    Ok(())
}

/// Sets the sizes of the executable and of the job in memory.
pub(super) fn set_image_size(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if job.kind.universe != Universe::Vm && job.process < 1 {
        job.assign("ExecutableSize", 0);
    }
    if let Some(value) = job.value(&["image_size", "ImageSize"])? {
        let size = byte_size(&value.text, 1024, false).filter(|size| size.number > 0);
        let size = size.ok_or_else(|| value.fault("image_size must be a size of at least 1 KB"))?;
        job.assign_value("ImageSize", size.number, &value);
    } else if !job.has("ImageSize") {
        let executable = job.attribute("ExecutableSize").and_then(|size| size.as_literal()?.as_integer()).unwrap_or(0);
        job.assign("ImageSize", executable);
    }
    Ok(())
}

/// Returns the schemes of the URLs that a job transfers, without those that its own plugins know, sorted.
pub(super) fn transfer_schemes(job: &mut JobBuilder<'_>) -> Vec<String> {
    let plugins = job.text("TransferPlugins").unwrap_or_default();
    let own: Vec<String> = plugins
        .split(';')
        .filter_map(|plugin| plugin.split_once('='))
        .flat_map(|(schemes, _)| super::queue::words(schemes))
        .collect();
    let mut paths = job.text("TransferInput").map_or_else(Vec::new, |files| list(&files));
    paths.extend(job.text("OutputDestination"));
    let remaps = job.text("TransferOutputRemaps").unwrap_or_default();
    paths.extend(remaps.split(';').filter_map(|remap| Some(remap.split_once('=')?.1.trim().to_owned())));
    let scheme = |path: &String| is_url(path).then(|| url_scheme(path).unwrap_or_default().to_owned());
    let mut schemes: Vec<String> = paths.iter().filter_map(scheme).collect();
    schemes.retain(|scheme| !own.iter().any(|known| known.eq_ignore_ascii_case(scheme)));
    schemes.sort_by_key(|scheme| scheme.to_ascii_lowercase());
    schemes.dedup_by(|one, other| one.eq_ignore_ascii_case(other));
    schemes
}

#[cfg(test)]
mod tests {
    use super::url_scheme;

    #[test]
    fn schemes_of_urls() {
        for (path, expected) in [
            ("http://a", Some("http")),
            ("a+b-c.1://x", Some("a+b-c.1")),
            ("a://b://c", Some("a")),
            ("1a://b", None),
            ("+a://b", None),
            ("a_b://c", None),
            ("://b", None),
            ("a://", None),
            ("a:/b", None),
            ("/a/b", None),
            ("", None),
        ] {
            assert_eq!(url_scheme(path), expected, "{path}");
        }
    }
}
