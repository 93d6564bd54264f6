//! The requirements of a job: those of the submit file, and those that `condor_submit` adds.

use std::ops::Range;

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, Type};
use crate::eval::FreeNames;
use crate::format::Problem;

use super::files::transfer_schemes;
use super::job_builder::{ComposedText, JobBuilder, literal_number, read_expression};
use super::job_kind::Universe;
use super::universe::image_kind;

/// Whether an expression needs parentheses as an operand of `&&`.
pub(super) fn is_weaker_than_and(expression: Option<&Expression>) -> bool {
    match expression.map(Expression::kind) {
        Some(ExpressionKind::Binary(operator, ..)) => operator.precedence() < BinaryOperator::And.precedence(),
        Some(_) => expression.is_some_and(|expression| expression.conditional().is_some()),
        None => false,
    }
}

/// Constraint that grows by clauses.
struct GrowingConstraint {
    composed: ComposedText,
    /// Names of the attributes of slots that the submit file's own requirements read.
    mentioned: Vec<Name>,
}

impl GrowingConstraint {
    fn mentions(&self, name: &str) -> bool {
        self.mentioned.contains(&Name::new(name))
    }

    /// Adds a clause because of what stands in this range of the file.
    fn add(&mut self, clause: &str, source: &Range<usize>) {
        if !self.composed.text.is_empty() {
            self.composed.push(" && ", source);
        }
        self.composed.push(clause, source);
    }

    /// Notes which attributes of offers the requirements mention so far. `place` is where they are written.
    fn note_mentioned(&mut self, place: &Range<usize>) -> Result<(), Problem> {
        let Ok(expression) = read_expression(&self.composed.text) else { return Ok(()) };
        let names = FreeNames::of(&expression, Dialect::Condor);
        let is_own = |name: &Name| ["RequestMemory", "VM_CkptMac"].iter().any(|own| *name == Name::new(own));
        let circle = Name::new("Requirements");
        if names.unqualified.contains(&circle) || names.mine.contains(&circle) || names.theirs.contains(&circle) {
            let problem = Problem::error_at(place.clone(), 0, "the requirements name themselves");
            return Err(problem.with_help("did you mean $(requirements)?"));
        }
        self.mentioned = names.theirs;
        self.mentioned.extend(names.unqualified.into_iter().filter(|name| !is_own(name)));
        Ok(())
    }
}

/// Sets the requirements.
pub(super) fn set_requirements(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let own = job.value(&["requirements"])?;
    if let Some(forced) = job.value(&["MY.Requirements"])? {
        if own.is_some() {
            let problem = Problem::error_at(forced.place.name.clone(), 0, "this replaces the requirements");
            job.variables.warn(problem.with_help("leave out one of the two commands"));
        }
        return Ok(());
    }
    let mut constraint = GrowingConstraint { composed: ComposedText::default(), mentioned: Vec::new() };
    let place = own.as_ref().map_or(job.statement.clone(), |own| own.place.name.clone());
    if let Some(own) = &own {
        constraint.composed.push("(", &own.place.value);
        constraint.composed.push_value(own);
        constraint.composed.push(")", &own.place.value);
    }
    let statement = job.statement.clone();
    let appended = match job.kind.universe {
        Universe::Vanilla => job.setting("APPEND_REQ_VANILLA"),
        Universe::Vm => job.setting("APPEND_REQ_VM"),
        _ => None,
    };
    if let Some(appended) = appended.or_else(|| job.setting("APPEND_REQUIREMENTS")) {
        constraint.add(&format!("({appended})"), &statement);
    }
    let is_remote_condor =
        job.kind.grid_type == "condor" && job.settings.truth("SUBMIT_GENERATE_CONDOR_C_REQUIREMENTS", true);
    if job.kind.universe == Universe::Grid && !is_remote_condor {
        if constraint.composed.text.is_empty() {
            constraint.add("TRUE", &statement);
        }
        return job.assign_composed("Requirements", constraint.composed, &place);
    }
    let own_place = own.map_or(statement, |own| own.place.value);
    constraint.note_mentioned(&own_place)?;
    add_machine(job, &mut constraint);
    add_resources(job, &mut constraint);
    add_custom_resources(job, &mut constraint);
    if !constraint.mentions("HasTDP") && job.has("ToolDaemonCmd") {
        constraint.add("TARGET.HasTDP", &job.source_of("ToolDaemonCmd"));
    }
    if !constraint.mentions("EncryptExecuteDirectory") && job.boolean("EncryptExecuteDirectory") == Some(true) {
        constraint.add("TARGET.HasEncryptExecuteDirectory", &job.source_of("EncryptExecuteDirectory"));
    }
    if job.kind.may_transfer() {
        add_file_transfer(job, &mut constraint)?;
    }
    add_deferral(job, &mut constraint)?;
    if job.boolean("WantFTOnCheckpoint") == Some(true) && !constraint.mentions("HasSelfCheckpointTransfers") {
        constraint.add("TARGET.HasSelfCheckpointTransfers", &job.source_of("SuccessCheckpointExitCode"));
    }
    add_cuda_version(job, &mut constraint)?;
    if job.boolean("OCUWanted") == Some(true) {
        constraint.add("TARGET.OCU =?= true", &job.source_of("OCUWanted"));
    }
    job.assign_composed("Requirements", constraint.composed, &place)
}

/// Adds the clauses about the platform, or about what runs the job.
fn add_machine(job: &mut JobBuilder<'_>, constraint: &mut GrowingConstraint) {
    let statement = job.statement.clone();
    let of_universe = job.source_of("JobUniverse");
    let arch = job.setting("ARCH").unwrap_or_default();
    let kind = job.kind;
    if kind.universe == Universe::Java {
        constraint.add("TARGET.HasJava", &of_universe);
        return;
    }
    if !constraint.mentions("Arch") {
        constraint.add(&format!("(TARGET.Arch == \"{arch}\")"), &statement);
    }
    if kind.universe == Universe::Vm {
        add_virtual_machine(job, constraint);
    } else if kind.is_docker {
        let image = job.source_of("DockerImage");
        constraint.add("TARGET.HasDocker", &image);
        let network = job.text("DockerNetworkType").unwrap_or_default();
        if !matches!(network.as_str(), "" | "host" | "none" | "nat") {
            let source = job.source_of("DockerNetworkType");
            constraint.add("StringListMember(My.DockerNetworkType, TARGET.DockerNetworks)", &source);
        }
    } else if kind.is_container {
        let (docker, image) = (job.has("DockerImage"), job.text("ContainerImage"));
        let source = job.source_of(if docker { "DockerImage" } else { "ContainerImage" });
        constraint.add("TARGET.HasContainer", &source);
        if docker {
            constraint.add("TARGET.HasDockerURL", &source);
        } else if let Some(image) = image {
            constraint.add(&format!("TARGET.{}", image_kind(&image).1), &source);
        }
    } else {
        let names = ["OpSys", "OpSysAndVer", "OpSysLongName", "OpSysShortName", "OpSysName", "OpSysLegacy"];
        if !names.iter().any(|name| constraint.mentions(name)) {
            let system = job.setting("OPSYS").unwrap_or_default();
            constraint.add(&format!("(TARGET.OpSys == \"{system}\")"), &statement);
        }
    }
}

fn add_virtual_machine(job: &mut JobBuilder<'_>, constraint: &mut GrowingConstraint) {
    let source = job.source_of("JobVMType");
    for (name, clause) in [
        ("HasVM", "(TARGET.HasVM =?= true)"),
        ("VM_Type", "(TARGET.VM_Type == MY.JobVMType)"),
        ("VM_AvailNum", "(TARGET.VM_AvailNum > 0)"),
    ] {
        if !constraint.mentions(name) {
            constraint.add(clause, &source);
        }
    }
    if job.boolean("JobVMCheckpoint") == Some(true) {
        let clause = "((MY.VM_CkptMac =?= UNDEFINED) || (TARGET.VM_All_Guest_Macs =?= UNDEFINED) || \
                      (stringListIMember(MY.VM_CkptMac, TARGET.VM_All_Guest_Macs, \",\") == FALSE))";
        constraint.add(clause, &job.source_of("JobVMCheckpoint"));
    }
}

/// Adds the clauses about disk, memory and processors.
fn add_resources(job: &mut JobBuilder<'_>, constraint: &mut GrowingConstraint) {
    let is_vm = job.kind.universe == Universe::Vm;
    let exceeds = |job: &JobBuilder<'_>, request: &Expression, least: f64| {
        literal_number(request, job.context()).is_none_or(|number| number > least)
    };
    let (disk, source) = (job.attribute("RequestDisk"), job.source_of("RequestDisk"));
    if constraint.mentions("Disk") {
        if !is_vm && disk.is_some() {
            constraint.add("(TARGET.Disk >= RequestDisk)", &source);
        }
        warn_obsolete(job, "Disk", "request_disk");
    } else if let Some(disk) = disk {
        if exceeds(job, &disk, 0.0) {
            constraint.add(
                if job.kind.universe == Universe::Vanilla {
                    "(versionGE(split(TARGET.CondorVersion)[1], \"25.12.0\") || (TARGET.Disk >= RequestDisk))"
                } else {
                    "(TARGET.Disk >= RequestDisk)"
                },
                &source,
            );
        }
    } else {
        constraint.add(if is_vm { "(TARGET.TotalDisk >= DiskUsage)" } else { "(TARGET.Disk >= DiskUsage)" }, &source);
    }
    if is_vm {
        add_vm_resources(job, constraint);
    } else {
        if let Some(memory) = job.attribute("RequestMemory")
            && exceeds(job, &memory, 1.0)
        {
            constraint.add("(TARGET.Memory >= RequestMemory)", &job.source_of("RequestMemory"));
        }
        if constraint.mentions("Memory") {
            warn_obsolete(job, "Memory", "request_memory");
        }
    }
    if job.kind.universe != Universe::Grid
        && !constraint.mentions("Cpus")
        && let Some(cpus) = job.attribute("RequestCpus")
        && exceeds(job, &cpus, 1.0)
    {
        constraint.add("(TARGET.Cpus >= RequestCpus)", &job.source_of("RequestCpus"));
    }
}

/// Adds the clauses about what a virtual machine needs.
fn add_vm_resources(job: &mut JobBuilder<'_>, constraint: &mut GrowingConstraint) {
    let source = job.source_of("JobVMMemory");
    if job.text("JobVMType").as_deref() != Some("xen") {
        constraint.add("(TARGET.TotalMemory >= MY.JobVMMemory)", &source);
    }
    if !constraint.mentions("VM_Memory") {
        constraint.add("(TARGET.VM_Memory >= MY.JobVMMemory)", &source);
    }
    if job.boolean("JobVMHardwareVT") == Some(true) && !constraint.mentions("VM_HardwareVT") {
        constraint.add("TARGET.VM_HardwareVT", &source);
    }
    if job.boolean("JobVMNetworking") == Some(true) {
        let source = job.source_of("JobVMNetworking");
        if !constraint.mentions("VM_Networking") {
            constraint.add("TARGET.VM_Networking", &source);
        }
        if job.has("JobVMNetworkingType") {
            constraint.add("stringListIMember(JobVMNetworkingType,TARGET.VM_Networking_Types,\",\")", &source);
        }
    }
}

/// Warns of requirements that compare a resource which a command requests.
fn warn_obsolete(job: &mut JobBuilder<'_>, resource: &str, command: &str) {
    if job.is_first()
        && job.settings.truth("ENABLE_DEPRECATION_WARNINGS", true)
        && let Ok(Some(own)) = job.value(&["requirements"])
    {
        let problem = own.fault(format!("the requirements read {resource} of slots, which {command} does"));
        job.variables.warn(problem.with_help(format!("write {command} = ... instead")));
    }
}

/// Adds a clause for each resource that a pool names itself, and for GPUs.
fn add_custom_resources(job: &mut JobBuilder<'_>, constraint: &mut GrowingConstraint) {
    let generates = job.settings.truth("SUBMIT_GENERATE_CUSTOM_RESOURCE_REQUIREMENTS", true);
    for name in job.attribute_names() {
        let text = name.as_str();
        let Some((prefix, resource)) = text.split_at_checked("Request".len()) else { continue };
        let is_request = prefix.eq_ignore_ascii_case("Request") && resource.len() >= 2 && !resource.starts_with('_');
        let is_usual = ["Cpus", "Disk", "Memory"].iter().any(|usual| resource.eq_ignore_ascii_case(usual));
        let is_gpus = resource.eq_ignore_ascii_case("GPUs");
        if !is_request || is_usual || constraint.mentions(resource) || !(generates || is_gpus) {
            continue;
        }
        let source = job.source_of(text);
        // As in HTCondor, the value in the job decides: nothing is requested by a number that is not positive.
        let Some(request) = job.evaluated(text) else { continue };
        let clause = match request.value_type() {
            Type::String if request.as_text().is_some_and(|text| !text.is_empty()) => {
                format!("regexp({text}, TARGET.{resource})")
            }
            Type::Undefined => least_clause(job, text, resource),
            Type::Integer | Type::Real if request.as_real().is_some_and(|number| number > 0.0) => {
                least_clause(job, text, resource)
            }
            _ => continue,
        };
        constraint.add(&clause, &source);
    }
}

/// Returns the clause by which a slot has at least what the attribute `request` says of a resource.
fn least_clause(job: &mut JobBuilder<'_>, request: &str, resource: &str) -> String {
    if job.has(&format!("Require{resource}")) {
        format!("(countMatches(MY.Require{resource},TARGET.Available{resource}) >= {request})")
    } else {
        format!("(TARGET.{resource} >= {request})")
    }
}

/// Adds the clauses about file transfer and shared file systems.
fn add_file_transfer(job: &mut JobBuilder<'_>, constraint: &mut GrowingConstraint) -> Result<(), Problem> {
    const DOMAIN: &str = "(TARGET.FileSystemDomain == MY.FileSystemDomain)";
    let should = job.text("ShouldTransferFiles").unwrap_or_default();
    let source = job.source_of("ShouldTransferFiles");
    let has_domain = constraint.mentions("FileSystemDomain");
    if should == "NO" {
        if !has_domain {
            constraint.add(DOMAIN, &source);
        }
        return Ok(());
    }
    let methods = transfer_schemes(job);
    if !methods.is_empty() {
        job.assign("WantTransferPluginMethods", methods.join(",").as_str());
    }
    if constraint.mentions("HasFileTransfer") || constraint.mentions("HasJobTransferPlugins") {
        return Ok(());
    }
    let has_plugins = job.text("TransferPlugins").is_some_and(|plugins| !plugins.is_empty());
    let mut clause = if has_plugins { "TARGET.HasJobTransferPlugins" } else { "TARGET.HasFileTransfer" }.to_owned();
    let encrypts = ["EncryptInputFiles", "EncryptOutputFiles", "DontEncryptInputFiles", "DontEncryptOutputFiles"];
    if !constraint.mentions("HasPerFileEncryption") && encrypts.iter().any(|name| job.has(name)) {
        clause.push_str(" && TARGET.HasPerFileEncryption");
    }
    if job.text("TransferCheckpoint").is_some()
        || job.boolean("PreserveRelativePaths") == Some(true)
        || job.text("WhenToTransferOutput").as_deref() == Some("ON_SUCCESS")
    {
        clause.push_str(" && versioncmp( split(TARGET.CondorVersion)[1], \"8.9.7\" ) >= 0");
    }
    if job.boolean("RequireCommonFilesTransfer") == Some(true) {
        clause.push_str(" && TARGET.HasCommonFilesTransfer >= 2");
    }
    if !constraint.mentions("HasFileTransferPluginMethods") {
        for method in &methods {
            clause.extend([" && stringListIMember(\"", method, "\",TARGET.HasFileTransferPluginMethods)"]);
            let is_signed = ["s3", "gs"].iter().any(|signed| method.eq_ignore_ascii_case(signed));
            if is_signed
                && job.settings.truth("SIGN_S3_URLS", true)
                && !(job.has("EC2AccessKeyId") && job.has("EC2SecretAccessKey"))
            {
                let place = job.source_of("TransferInput");
                let problem = Problem::error_at(place, 0, format!("{method}:// needs the files with its keys"));
                return Err(
                    problem.with_help(format!("write {method}_access_key_id_file and {method}_secret_access_key_file"))
                );
            }
        }
    }
    let clause =
        if should == "IF_NEEDED" && !has_domain { format!("({DOMAIN} || ({clause}))") } else { format!("({clause})") };
    constraint.add(&clause, &source);
    Ok(())
}

/// Attributes of jobs that start at a time.
const DEFERRALS: [&str; 6] = ["CronMinute", "CronHour", "CronDayOfMonth", "CronMonth", "CronDayOfWeek", "DeferralTime"];

/// Returns the attribute because of which a job starts at a time; `None` if it starts at any.
pub(super) fn deferral_attribute(job: &mut JobBuilder<'_>) -> Option<&'static str> {
    DEFERRALS.into_iter().find(|name| job.has(name))
}

fn add_deferral(job: &mut JobBuilder<'_>, constraint: &mut GrowingConstraint) -> Result<(), Problem> {
    let Some(attribute) = deferral_attribute(job) else { return Ok(()) };
    let source = job.source_of(attribute);
    if job.kind.universe != Universe::Local {
        constraint.add("TARGET.HasJobDeferral", &source);
    }
    if !job.has("ScheddInterval") {
        match job.setting("SCHEDD_INTERVAL") {
            Some(interval) => job.assign_text("ScheddInterval", &interval)?,
            None => job.assign("ScheddInterval", 300),
        }
    }
    let clause = "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)) && \
                  (time() < (DeferralTime + DeferralWindow)))";
    constraint.add(clause, &source);
    Ok(())
}

fn add_cuda_version(job: &mut JobBuilder<'_>, constraint: &mut GrowingConstraint) -> Result<(), Problem> {
    let Some(text) = job.text("CUDAVersion") else { return Ok(()) };
    let source = job.source_of("CUDAVersion");
    let (major, minor) = text.split_once('.').map_or((text.as_str(), None), |(major, minor)| (major, Some(minor)));
    let version = match (major.parse::<u32>(), minor.map(str::parse::<u32>)) {
        (Ok(major), None) if major >= 1000 => Some(i64::from(major)),
        (Ok(major), None) => Some(i64::from(major) * 1000),
        (Ok(major), Some(Ok(minor))) => Some(i64::from(major) * 1000 + i64::from(minor % 100)),
        _ => None,
    };
    let Some(version) = version else {
        return Err(Problem::error_at(source, 0, "cuda_version must be a version such as 12 or 12.4"));
    };
    job.assign("CUDAVersion", version);
    constraint.add("CUDAVersion <= TARGET.CUDAMaxSupportedVersion", &source);
    Ok(())
}
