//! The universe of a job, with what only some universes have: machines, grid resources, virtual machines.

use crate::format::Problem;

use super::job_builder::JobBuilder;
use super::job_kind::{CONTAINER_IMAGE, DOCKER_IMAGE, JobKind, Universe};
use super::sizes::byte_size;

/// Sets the attributes of the universe. Only the first job of a cluster decides it.
pub(super) fn set_universe(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if !job.is_first() {
        return Ok(());
    }
    let kind = job.kind;
    match job.value(&["universe", "JobUniverse"])? {
        Some(value) => job.assign_value("JobUniverse", kind.universe as i64, &value),
        None => job.assign("JobUniverse", kind.universe as i64),
    }
    for prefix in ["Remote_", "Remote_Remote_"] {
        let names = [format!("{prefix}universe"), format!("{prefix}JobUniverse")];
        if let Some(value) = job.value(&[&names[0], &names[1]])? {
            let universe = JobKind::universe_of(&value.text.to_ascii_lowercase(), Some(&value))?;
            job.assign_value(&names[1], universe as i64, &value);
        }
    }
    if job.truth(&["WantParallelScheduling"])? == Some(true) {
        job.assign("WantParallelScheduling", true);
    }
    if matches!(kind.universe, Universe::Vanilla | Universe::Local) {
        if !kind.is_docker
            && let Some(image) = job.value(&DOCKER_IMAGE)?
        {
            job.assign_value("WantDockerImage", true, &image);
        }
        for (is, name) in [(kind.is_docker, "WantDocker"), (kind.is_container, "WantContainer")] {
            if is {
                job.assign(name, true);
            }
        }
    }
    Ok(())
}

/// Sets the images of docker and container jobs.
pub(super) fn set_images(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let kind = job.kind;
    let statement = job.statement.clone();
    let missing = |what: &str| Problem::error_at(statement.clone(), 0, what);
    let docker = if kind.is_docker || kind.is_container { job.value(&DOCKER_IMAGE)? } else { None };
    if let Some(image) = &docker {
        let text = unquoted(&image.text);
        if text.is_empty() {
            return Err(image.fault("this is not an image"));
        }
        job.assign_value("DockerImage", text, image);
    } else if kind.is_docker && !job.has("DockerImage") {
        return Err(missing("a job of the docker universe needs docker_image"));
    }
    if !kind.is_container {
        return Ok(());
    }
    match job.value(&CONTAINER_IMAGE)? {
        Some(image) => {
            let text = unquoted(&image.text);
            if text.is_empty() || ["instance://", "library://", "shub://"].iter().any(|prefix| text.starts_with(prefix))
            {
                return Err(image.fault("this is not an image of a container"));
            }
            job.assign_value("ContainerImage", text, &image);
            job.assign(image_kind(text).0, true);
        }
        None if docker.is_none() && !job.has("ContainerImage") && !job.has("DockerImage") => {
            return Err(missing("a job of the container universe needs container_image or docker_image"));
        }
        None => {}
    }
    Ok(())
}

/// Returns the attribute of a job with such an image, and that of a slot which can run it.
#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "HTCondor compares so")]
pub(super) fn image_kind(image: &str) -> (&'static str, &'static str) {
    match image.trim() {
        image if image.starts_with("docker:") => ("WantDockerImage", "HasDockerURL"),
        image if image.ends_with(".sif") => ("WantSIF", "HasSIF"),
        _ => ("WantSandboxImage", "HasSandboxImage"),
    }
}

/// Sets the ports of the services of a container.
pub(super) fn set_container_services(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if !(job.kind.is_docker || job.kind.is_container) {
        return Ok(());
    }
    let Some(services) = job.value(&["container_service_names", "ContainerServiceNames"])? else { return Ok(()) };
    job.assign_value("ContainerServiceNames", services.text.as_str(), &services);
    for service in super::queue::words(&services.text) {
        match job.integer(&[&format!("{service}_container_port")])? {
            Some((port, value)) if (0..=65_535).contains(&port) => {
                job.assign_value(&format!("{service}_ContainerPort"), port, &value);
            }
            _ => {
                let help = format!("write {service}_container_port = PORT, with a port up to 65535");
                return Err(services.fault(format!("the service {service} has no port")).with_help(help));
            }
        }
    }
    Ok(())
}

/// Sets the number of machines of parallel jobs.
pub(super) fn set_machines(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let is_parallel = job.kind.universe == Universe::Parallel;
    if is_parallel || job.boolean("WantParallelScheduling") == Some(true) {
        match job.value(&["machine_count", "MachineCount", "node_count", "NodeCount"])? {
            Some(count) => {
                let number = leading_integer(&count.text);
                job.assign_value("MinHosts", number, &count);
                job.assign_value("MaxHosts", number, &count);
            }
            None if !job.has("MaxHosts") => {
                let problem = Problem::error_at(job.statement.clone(), 0, "a parallel job needs machine_count");
                return Err(problem.with_help("write machine_count = N"));
            }
            None => {}
        }
        job.assign("RequestCpus", 1);
    }
    if is_parallel {
        job.assign("WantIOProxy", true);
        job.assign("JobRequiresSandbox", true);
    }
    Ok(())
}

/// Returns the number at the beginning of a text, as C's `atoi` does.
pub(super) fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    text[..sign + digits].trim_start_matches('+').parse().unwrap_or(0)
}

/// Returns a text without blanks and without double quotes around it.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// Sets the attributes of virtual machines.
pub(super) fn set_virtual_machine(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if job.kind.universe != Universe::Vm {
        return Ok(());
    }
    if let Some(value) = job.value(&["vm_type", "JobVMType"])? {
        job.assign_value("JobVMType", value.text.to_ascii_lowercase().as_str(), &value);
    }
    let vm_type = job.text("JobVMType").unwrap_or_default();
    for (command, attribute) in
        [("vm_checkpoint", "JobVMCheckpoint"), ("vm_networking", "JobVMNetworking"), ("vm_vnc", "JobVMVNCConsole")]
    {
        match job.truth(&[command, attribute])? {
            Some(is) => job.assign(attribute, is),
            None if job.has(attribute) => {}
            None => job.assign(attribute, false),
        }
    }
    if job.boolean("JobVMNetworking") == Some(true)
        && let Some(value) = job.value(&["vm_networking_type", "JobVMNetworkingType"])?
    {
        job.assign_value("JobVMNetworkingType", value.text.as_str(), &value);
    }
    match job.value(&["vm_memory", "JobVMMemory"])? {
        Some(value) => match byte_size(&value.text, 1 << 20, false).filter(|size| size.number > 0) {
            Some(size) => {
                job.assign_value("JobVMMemory", size.number, &value);
                job.assign("ExecutableSize", size.number.saturating_mul(1024));
            }
            None => return Err(value.fault("this is not a size").with_help("write vm_memory = 128 for 128 MB")),
        },
        None if !job.has("JobVMMemory") => {
            return Err(Problem::error_at(job.statement.clone(), 0, "a job of the vm universe needs vm_memory"));
        }
        None => {}
    }
    match job.value(&["vm_vcpus", "JobVM_VCPUS"])? {
        Some(value) => job.assign_value("JobVM_VCPUS", leading_integer(&value.text).max(1), &value),
        None if !job.has("JobVM_VCPUS") => job.assign("JobVM_VCPUS", 1),
        None => {}
    }
    if let Some(value) = job.value(&["vm_macaddr", "JobVM_MACADDR"])? {
        job.assign_value("JobVM_MACADDR", value.text.as_str(), &value);
    }
    if let Some(is) = job.truth(&["vm_no_output_vm"])? {
        job.assign("VMPARAM_No_Output_VM", is);
    }
    if vm_type == "xen" {
        set_xen_kernel(job)?;
    }
    if matches!(vm_type.as_str(), "xen" | "kvm") {
        match job.value(&["vm_disk"])? {
            Some(value) => job.assign_value("VMPARAM_vm_Disk", value.text.as_str(), &value),
            None => return Err(Problem::error_at(job.statement.clone(), 0, "a virtual machine needs vm_disk")),
        }
    }
    Ok(())
}

/// Sets the kernel of a virtual machine of Xen.
fn set_xen_kernel(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let kernel = job.value(&["xen_kernel", "VMPARAM_Xen_Kernel"])?;
    match &kernel {
        Some(value) => job.assign_value("VMPARAM_Xen_Kernel", value.text.as_str(), value),
        None if job.has("VMPARAM_Xen_Kernel") => {}
        None => {
            let problem = Problem::error_at(job.statement.clone(), 0, "a virtual machine of Xen needs xen_kernel");
            return Err(problem.with_help("write xen_kernel = included, vmx or a file"));
        }
    }
    let kernel = job.text("VMPARAM_Xen_Kernel").unwrap_or_default().to_ascii_lowercase();
    let is_file = !matches!(kernel.as_str(), "included" | "vmx");
    if kernel == "vmx" {
        job.assign("JobVMHardwareVT", true);
    }
    if let Some(value) = job.value(&["xen_initrd"])? {
        if !is_file {
            return Err(value.fault("xen_initrd needs a file as xen_kernel"));
        }
        job.assign_value("VMPARAM_Xen_Initrd", value.text.as_str(), &value);
    }
    if is_file {
        let root = job.value(&["xen_root"])?;
        let message = "a virtual machine with a kernel of its own needs xen_root";
        let root = root.ok_or_else(|| Problem::error_at(job.statement.clone(), 0, message))?;
        job.assign_value("VMPARAM_Xen_Root", root.text.as_str(), &root);
    }
    if let Some(value) = job.value(&["xen_kernel_params", "VMPARAM_Xen_Kernel_Params"])? {
        job.assign_value("VMPARAM_Xen_Kernel_Params", value.text.trim_matches(['"', '\'']), &value);
    }
    Ok(())
}

/// Commands of grid jobs whose values are texts, with their attributes.
const GRID_TEXTS: &[(&str, &str)] = &[
    ("arc_rte", "ArcRte"),
    ("arc_resources", "ArcResources"),
    ("arc_application", "ArcApplication"),
    ("arc_data_staging", "ArcDataStaging"),
    ("batch_extra_submit_args", "BatchExtraSubmitArgs"),
    ("batch_project", "BatchProject"),
    ("batch_queue", "BatchQueue"),
    ("ec2_keypair", "EC2KeyPair"),
    ("ec2_security_groups", "EC2SecurityGroups"),
    ("ec2_security_ids", "EC2SecurityIDs"),
    ("ec2_ami_id", "EC2AmiID"),
    ("ec2_instance_type", "EC2InstanceType"),
    ("ec2_vpc_subnet", "EC2VpcSubnet"),
    ("ec2_vpc_ip", "EC2VpcIp"),
    ("ec2_elastic_ip", "EC2ElasticIp"),
    ("ec2_availability_zone", "EC2AvailabilityZone"),
    ("ec2_spot_price", "EC2SpotPrice"),
    ("ec2_block_device_mapping", "EC2BlockDeviceMapping"),
    ("ec2_user_data", "EC2UserData"),
    ("gce_account", "GceAccount"),
    ("gce_image", "GceImage"),
    ("gce_machine_type", "GceMachineType"),
    ("azure_image", "AzureImage"),
    ("azure_location", "AzureLocation"),
    ("azure_size", "AzureSize"),
    ("azure_admin_username", "AzureAdminUsername"),
    ("azure_admin_key", "AzureAdminKey"),
];

/// Commands that grid jobs of a type need.
const GRID_NEEDS: &[(&str, &str, &str)] = &[
    ("ec2", "ec2_access_key_id", "EC2AccessKeyId"),
    ("ec2", "ec2_secret_access_key", "EC2SecretAccessKey"),
    ("ec2", "ec2_ami_id", "EC2AmiID"),
    ("gce", "gce_image", "GceImage"),
    ("gce", "gce_machine_type", "GceMachineType"),
    ("azure", "azure_image", "AzureImage"),
    ("azure", "azure_location", "AzureLocation"),
    ("azure", "azure_size", "AzureSize"),
    ("azure", "azure_admin_username", "AzureAdminUsername"),
    ("azure", "azure_admin_key", "AzureAdminKey"),
];

/// Sets the attributes of grid jobs.
pub(super) fn set_grid(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if job.kind.universe != Universe::Grid {
        return Ok(());
    }
    if let Some(value) = job.value(&["grid_resource", "GridResource"])? {
        job.assign_value("GridResource", value.text.as_str(), &value);
    }
    for (command, attribute) in GRID_TEXTS {
        if let Some(value) = job.value(&[command, attribute])? {
            job.assign_value(attribute, value.text.as_str(), &value);
        }
    }
    for (command, attribute) in [
        ("ec2_access_key_id", "EC2AccessKeyId"),
        ("ec2_secret_access_key", "EC2SecretAccessKey"),
        ("ec2_keypair_file", "EC2KeyPairFile"),
        ("ec2_user_data_file", "EC2UserDataFile"),
        ("gce_auth_file", "GceAuthFile"),
        ("gce_metadata_file", "GceMetadataFile"),
        ("gce_json_file", "GceJsonFile"),
        ("azure_auth_file", "AzureAuthFile"),
    ] {
        if let Some(value) = job.value(&[command, attribute])? {
            let path = job.full_path(&value.text);
            job.assign_value(attribute, path.as_str(), &value);
        }
    }
    if let Some(value) = job.value(&["batch_runtime", "BatchRuntime"])? {
        job.assign_expression("BatchRuntime", &value)?;
    }
    if let Some(is) = job.truth(&["gce_preemptible", "GcePreemptible"])? {
        job.assign("GcePreemptible", is);
    }
    set_labels(job, &["ec2_tag_", "EC2Tag"])?;
    set_labels(job, &["cloud_label_", "CloudLabel"])?;
    for (grid, command, attribute) in GRID_NEEDS {
        if job.kind.grid_type == *grid && !job.has(attribute) {
            let message = format!("a grid job of the type {grid} needs {command}");
            return Err(Problem::error_at(job.source_of("GridResource"), 0, message));
        }
    }
    Ok(())
}

/// Sets the labels of a machine in a cloud: `ec2_tag_X = ...`. The names begin with these prefixes of commands and attributes.
fn set_labels(job: &mut JobBuilder<'_>, prefixes: &[&str; 2]) -> Result<(), Problem> {
    let [of_command, of_attribute] = prefixes;
    let listed = job.value(&[&format!("{of_command}names"), &format!("{of_attribute}Names")])?;
    let mut labels = listed.map(|names| super::queue::words(&names.text)).unwrap_or_default();
    for name in job.variables.names() {
        let behind = |prefix: &str| {
            let (start, label) = name.as_str().split_at_checked(prefix.len())?;
            (start.eq_ignore_ascii_case(prefix) && !label.is_empty()).then_some(label)
        };
        let Some(label) = behind(of_command).or_else(|| behind(of_attribute)) else { continue };
        let is_list = label.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("names"));
        if !is_list && !labels.iter().any(|known| known.eq_ignore_ascii_case(label)) {
            labels.push(label.to_owned());
        }
    }
    if !labels.is_empty() {
        job.assign(&format!("{of_attribute}Names"), labels.join(",").as_str());
    }
    for label in &labels {
        let attribute = format!("{of_attribute}{label}");
        if let Some(value) = job.value(&[&format!("{of_command}{label}"), &attribute])? {
            job.assign_value(&attribute, value.text.as_str(), &value);
        }
    }
    let has_name = labels.iter().any(|label| label.eq_ignore_ascii_case("Name"));
    if job.kind.grid_type == "ec2"
        && !has_name
        && job.truth(&["WantNameTag"])? != Some(false)
        && let Some(command) = job.text("Cmd")
    {
        job.assign(&format!("{of_attribute}Name"), command.as_str());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{image_kind, leading_integer, unquoted};

    #[test]
    fn a_number_at_the_beginning_counts_as_in_c() {
        for (text, expected) in [
            ("", 0),
            ("x", 0),
            ("5", 5),
            ("  42x", 42),
            ("-7", -7),
            ("+8 9", 8),
            ("- 7", 0),
            ("+-7", 0),
            ("-", 0),
            ("0x10", 0),
            ("99999999999999999999", 0),
        ] {
            assert_eq!(leading_integer(text), expected, "{text}");
        }
    }

    #[test]
    fn quotes_around_a_text_are_left_out() {
        for (text, expected) in
            [("", ""), (" a ", "a"), ("\"a b\"", "a b"), (" \"\" ", ""), ("\"", "\""), ("\"a", "\"a"), ("a\"", "a\"")]
        {
            assert_eq!(unquoted(text), expected, "{text}");
        }
    }

    #[test]
    fn images_are_told_by_their_names() {
        for (image, expected) in [
            ("docker://a", ["WantDockerImage", "HasDockerURL"]),
            (" docker:a.sif", ["WantDockerImage", "HasDockerURL"]),
            ("a.sif ", ["WantSIF", "HasSIF"]),
            ("a.SIF", ["WantSandboxImage", "HasSandboxImage"]),
            ("oras://a", ["WantSandboxImage", "HasSandboxImage"]),
        ] {
            assert_eq!(<[&str; 2]>::from(image_kind(image)), expected, "{image}");
        }
    }
}
