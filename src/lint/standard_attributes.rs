//! The table of HTCondor's standard attributes: types, units and usual values.
//!
//! Sources: HTCondor 25's manual, `classad-attributes/job-classad-attributes.rst` and
//! `machine-classad-attributes.rst`, and the typed tables of `condor_scripts/adstash/convert.py`. A name is left out if
//! the sources disagree, or if ads of two kinds have it with different types.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::ad::{Dialect, Name, Type};
use crate::eval::TypeSet;

/// The type of a standard attribute. A number may be an integer or a real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardType {
    /// `true` or `false`, such as `HasDocker`.
    Boolean,
    /// A number, such as `Memory`, or a time in seconds, such as `QDate`.
    Number,
    /// A string, such as `Owner`.
    String,
    /// An expression that is to be true or false, such as `Requirements`.
    Condition,
}

/// The unit in which a standard attribute counts memory or disk space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeUnit {
    /// KiB, for disk space.
    Kibibytes,
    /// MiB, for memory.
    Mebibytes,
}

impl StandardType {
    /// Returns the type of the standard attribute of this name. `None` if there is no such attribute.
    #[must_use]
    pub fn of(name: &Name) -> Option<Self> {
        BY_NAME.get(name).copied()
    }

    /// The type with an article, such as `a number`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            StandardType::Boolean => "a boolean",
            StandardType::Number => "a number",
            StandardType::String => "a string",
            StandardType::Condition => "a condition",
        }
    }

    /// Returns the types that a value of the attribute can have. A boolean is also advertised as 0 or 1. In the papers'
    /// dialect a number of seconds may be a time.
    pub(super) fn type_set(self, dialect: Dialect) -> TypeSet {
        let union =
            |kinds: &[Type]| kinds.iter().map(|kind| TypeSet::of_type(*kind)).fold(TypeSet::NONE, TypeSet::union);
        match self {
            StandardType::Boolean => union(&[Type::Boolean, Type::Integer]),
            StandardType::Condition => union(&[Type::Boolean, Type::Integer, Type::Real]),
            StandardType::Number if dialect.is_condor() => union(&[Type::Integer, Type::Real]),
            StandardType::Number => union(&[Type::Integer, Type::Real, Type::AbsoluteTime, Type::RelativeTime]),
            StandardType::String => TypeSet::of_type(Type::String),
        }
    }
}

impl SizeUnit {
    /// Returns the unit of the standard attribute of this name. `None` if it is not a size.
    #[must_use]
    pub fn of(name: &Name) -> Option<Self> {
        UNIT_BY_NAME.get(name).copied()
    }

    /// The symbol of the unit.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            SizeUnit::Kibibytes => "KiB",
            SizeUnit::Mebibytes => "MiB",
        }
    }

    /// Returns an amount in the largest unit of which it has one, such as `18.6 TiB` for 20000000000 KiB.
    #[must_use]
    pub fn readable(self, amount: f64) -> String {
        let (mut amount, mut symbol) = (amount * self.bytes(), "bytes");
        for larger in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
            if amount.abs() < 1024.0 {
                break;
            }
            (amount, symbol) = (amount / 1024.0, larger);
        }
        let digits = format!("{amount:.1}");
        format!("{} {symbol}", digits.strip_suffix(".0").unwrap_or(&digits))
    }

    /// Number of bytes of one unit.
    #[must_use]
    pub fn bytes(self) -> f64 {
        match self {
            SizeUnit::Kibibytes => 1024.0,
            SizeUnit::Mebibytes => 1_048_576.0,
        }
    }
}

/// Whether a word is a usual value of a standard attribute, such as `LINUX` of `OpSys`. A version at the end does not
/// matter: `CentOS9` is a usual value of `OpSysAndVer`.
#[must_use]
pub fn is_usual_value(name: &Name, word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let usual = USUAL_VALUES.iter().find(|(attributes, _)| attributes.split(' ').any(|known| name.is(known)));
    usual.is_some_and(|(_, values)| values.split(' ').any(|value| value.eq_ignore_ascii_case(word)))
}

static BY_NAME: LazyLock<FxHashMap<Name, StandardType>> = LazyLock::new(|| by_name(TYPES));

static SIDE_BY_NAME: LazyLock<FxHashMap<Name, StandardSide>> =
    LazyLock::new(|| by_name(&[(StandardSide::Machine, OF_MACHINES), (StandardSide::Both, OF_BOTH)]));

/// Whose attribute a standard attribute is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StandardSide {
    Machine,
    Both,
}

/// Whether a standard attribute is one of jobs only (`of_machines` is false), or one of machines only. No other attribute
/// is.
#[must_use]
pub fn is_of_one_side(name: &Name, of_machines: bool) -> bool {
    match SIDE_BY_NAME.get(name) {
        Some(side) => of_machines && *side == StandardSide::Machine,
        None => !of_machines && BY_NAME.contains_key(name),
    }
}

static UNIT_BY_NAME: LazyLock<FxHashMap<Name, SizeUnit>> =
    LazyLock::new(|| by_name(&[(SizeUnit::Mebibytes, MEBIBYTES), (SizeUnit::Kibibytes, KIBIBYTES)]));

/// Returns the first part of each row by the names in the second, which spaces separate.
fn by_name<T: Copy>(rows: &[(T, &str)]) -> FxHashMap<Name, T> {
    rows.iter().flat_map(|(row, names)| names.split(' ').map(|name| (Name::new(name), *row))).collect()
}

/// Attributes in MiB.
const MEBIBYTES: &str = "BrokenSlotMemory DetectedMemory GlobalMemoryMb GPUs_GlobalMemoryMb GPUsMinMemory Memory MemoryProvisioned MemoryUsage RequestMemory \
     TotalMemory TotalSlotMemory";

/// Attributes in KiB.
const KIBIBYTES: &str = "BrokenSlotDisk Disk DiskProvisioned DiskUsage ExecutableSize ImageSize ProportionalSetSizeKb \
     RequestDisk ResidentSetSize TotalDisk TotalSlotDisk VirtualMemory";

/// The standard attributes that machines have, and jobs have not.
const OF_MACHINES: &str = "AcceptedWhileDraining Activity Arch AvgTransferInputMB AvgTransferOutputMB AWSRegion BrokenSlotCpus \
     BrokenSlotDisk BrokenSlotMemory CanHibernate CgroupEnforced ClaimEndTime ClientMachine ClockDay ClockMin \
     CloudImage CloudInstanceID CloudInterruptible CloudPlatform CloudProvider CloudRegion CloudVMType CloudZone \
     CondorLoadAvg ConsoleIdle CpuCacheSize Cpus CUDAVersion CurrentRank DaemonStartTime DetectedCpus \
     DetectedDisk DetectedMemory DeviceGPUsAverageUsage DeviceGPUsMemoryPeakUsage Disk DockerCachedImageSizeMb \
     DockerOfflineReason DotNetVersions Draining DrainingRequestId DynamicSlot EnteredCurrentActivity \
     EnteredCurrentState ExpectedMachineGracefulDrainingBadput ExpectedMachineGracefulDrainingCompletion \
     ExpectedMachineQuickDrainingBadput ExpectedMachineQuickDrainingCompletion GLIDEIN_Entry_Name GLIDEIN_ToDie \
     GLIDEIN_ToRetire GPUs GPUs_Capability GPUs_DriverVersion GPUs_GlobalMemoryMb GPUs_MaxSupportedVersion \
     GPUsAverageUsage GPUsMemoryUsage has_avx has_avx2 \
     has_avx512dnni has_avx512dq has_avx512f Has_sse4_1 Has_sse4_2 has_ssse3 HasCheckpointing HasContainer \
     HasDocker HasEncryptExecuteDirectory HasFileTransfer HasFileTransferPluginMethods HasJava HasJICLocalConfig \
     HasJobDeferral HasMPI HasPerFileEncryption HasReconnect HasRemoteSyscalls HasRotationalScratch \
     HasSandboxImage HasSelfCheckpointTransfers HasSIF HasSingularity HasSshd HasTDP HasUserNamespaces HasVM \
     IsDataSlot IsEnforcingDiskUsage IsWakeEnabled JobBusyTimeAvg JobBusyTimeCount JobBusyTimeMax JobBusyTimeMin \
     JobDurationAvg JobDurationCount JobDurationMax JobDurationMin JobId JobPid JobPreemptions JobRankPreemptions \
     JobStart JobStarts JobUserPrioPreemptions JobVM_VCPUS KeyboardIdle KFlops LastBenchmark LastDrainStartTime \
     LastDrainStopTime LastPeriodicCheckpoint LoadAvg LvmDetectedDisk LvmIsThinProvisioning LvmNonCondorDiskUsage \
     LvmUsingLoopback MachineLastMatchTime MachineMaxVacateTime MaxClaimTime Memory Microarch Mips MonitorSelfAge \
     MonitorSelfCPUUsage MonitorSelfImageSize MonitorSelfRegisteredSocketCount MonitorSelfResidentSetSize \
     MonitorSelfSecuritySessions MonitorSelfTime Offline OpSys OpSysAndVer OpSysLegacy OpSysLongName \
     OpSysMajorVer OpSysName OpSysShortName OpSysVer PartitionableSlot PreemptingOwner PreemptingRank \
     PreemptingUser PslotRollupInformation RecentJobBusyTimeAvg RecentJobBusyTimeCount RecentJobBusyTimeMax \
     RecentJobBusyTimeMin RecentJobDurationAvg RecentJobDurationCount RecentJobDurationMax RecentJobDurationMin \
     RecentJobPreemptions RecentJobRankPreemptions RecentJobStarts RecentJobUserPrioPreemptions RemoteAutoregroup \
     RemoteGroup RemoteNegotiatingGroup RemoteProject RemoteScheddName RetirementTimeRemaining \
     SingularityUserNamespaces SingularityVersion SlotBrokenCode SlotBrokenReason SlotID SlotType SlotWeight \
     State TotalClaimRunTime TotalClaimSuspendTime TotalCondorLoadAvg TotalCpus TotalDisk TotalGPUs \
     TotalJobRunTime TotalJobSuspendTime TotalLoadAvg TotalMachineDrainingBadput \
     TotalMachineDrainingUnclaimedTime TotalMemory TotalSlotCpus TotalSlotDisk TotalSlotGPUs TotalSlotMemory \
     TotalSlots TotalTimeBackfillBusy TotalTimeBackfillIdle TotalTimeBackfillKilling TotalTimeClaimedBusy \
     TotalTimeClaimedCleaning TotalTimeClaimedIdle TotalTimeClaimedRetiring TotalTimeClaimedSuspended \
     TotalTimeMatchedIdle TotalTimeOwnerIdle TotalTimePreemptingKilling TotalTimePreemptingVacating \
     TotalTimeUnclaimedBenchmarking TotalTimeUnclaimedIdle TotalTransferInputMB TotalTransferOutputMB UidDomain \
     Unhibernate VirtualMemory VM_AvailNum VM_Guest_Mem VM_Memory VM_Networking VM_Type VMOfflineTime";

/// The standard attributes that both have.
const OF_BOTH: &str = "AccountingGroup AssignedGPUs Capability ConcurrencyLimits CondorPlatform CondorVersion CpusUsage DiskUsage \
     DriverVersion ExecutableSize FileSystemDomain GlobalJobId GlobalMemoryMb ImageSize JobUniverse LastHeardFrom Machine MaxJobRetirementTime \
     MemoryUsage MyAddress MyCurrentTime MyType Name NumPids ProjectName RemoteOwner RemoteUser Requirements ResidentSetSize \
     ScratchDirFileCount StartdIpAddr TargetType User WindowsBuildNumber WindowsMajorVersion WindowsMinorVersion";

/// Words that standard attributes have as values, without versions.
const USUAL_VALUES: &[(&str, &str)] = &[
    ("Arch", "INTEL X86_ X86_64 aarch64 aarch ppc64le ppc64 PPC"),
    ("OpSys OpSysLegacy", "LINUX WINDOWS OSX macOS FREEBSD SOLARIS"),
    (
        "OpSysAndVer OpSysName OpSysShortName OpSysLongName",
        "AlmaLinux Amazon AmazonLinux CentOS Debian Fedora LINUX macOS openSUSE OracleLinux RedHat Rocky RockyLinux \
         SL SLFermi SUSE Ubuntu Windows WINDOWS",
    ),
    ("State", "Backfill Claimed Delete Drained Matched Owner Preempting Unclaimed"),
    ("Activity", "Benchmarking Busy Cleaning Idle Killing Retiring Suspended Vacating"),
    ("SlotType", "Dynamic Partitionable Static"),
    ("MyType TargetType", "Job Machine"),
    ("ShouldTransferFiles", "IF_NEEDED NO YES"),
    ("WhenToTransferOutput", "ON_EXIT ON_EXIT_OR_EVICT ON_SUCCESS"),
];

/// The standard attributes of jobs and machines, by type.
const TYPES: &[(StandardType, &str)] = &[
    (StandardType::Condition, "RequireGPUs Requirements"),
    (
        StandardType::Boolean,
        "AcceptedWhileDraining BufferFiles CanHibernate CgroupEnforced CurrentStatusUnknown DAGLifetimeJob \
         DataflowJobSkipped DockerOverrideEntrypoint Draining DynamicSlot EncryptExecuteDirectory \
         EraseOutputAndErrorOnRestart ExecuteDirWasEncrypted ExitBySignal GcePreemptible has_avx has_avx2 \
         has_avx512dnni has_avx512dq has_avx512f Has_sse4_1 Has_sse4_2 has_ssse3 HasCheckpointing HasContainer \
         HasDocker HasEncryptExecuteDirectory HasFileTransfer HasJava HasJICLocalConfig HasJobDeferral HasMPI \
         HasPerFileEncryption HasReconnect HasRemoteSyscalls HasRotationalScratch HasSandboxImage \
         HasSelfCheckpointTransfers HasSIF HasSingularity HasSshd HasTDP HasUserNamespaces HasVM IsDataSlot \
         IsEnforcingDiskUsage IsNoopJob IsWakeEnabled IwdFlushNFSCache JobCoreDumped LeaveJobInQueue LoadProfile \
         LvmIsThinProvisioning LvmUsingLoopback ManifestDesired NiceUser Nonessential Offline OnExitHold OnExitRemove \
         PartitionableSlot PeriodicHold PeriodicRelease PeriodicRemove PeriodicVacate PostCmdExitBySignal \
         PreCmdExitBySignal PreserveRelativeExecutable PreserveRelativePaths PslotRollupInformation RemoteAutoregroup \
         RunAsOwner SendCredential SingularityUserNamespaces SkipIfDataflow SpoolOnEvict StreamErr StreamIn StreamOut \
         SuccessCheckpointExitBySignal SuccessPostExitBySignal SuccessPreExitBySignal TerminationPending \
         TransferContainer TransferErr TransferExecutable TransferIn TransferOut TransferQueued TransferringInput \
         TransferringOutput Unhibernate Use_x509UserProxy UserLogUseXML VM_Networking WantAdRevaluate WantCheckpoint \
         WantCheckpointSignal WantClaiming WantCompletionVisaFromSchedD WantContainer WantDelayedUpdates WantDocker \
         WantExecutionVisaFromStarter WantFTOnCheckpoint WantGracefulRemoval WantIOProxy WantMatchDiagnostics \
         WantMatching WantParallelScheduling WantParallelSchedulingGroups WantPslotPreemption WantRemoteIO \
         WantRemoteSyscalls WantRemoteUpdates WantResAd",
    ),
    (
        StandardType::Number,
        "ActivationDuration ActivationExecutionDuration ActivationSetupDuration ActivationTeardownDuration \
         AllowedExecuteDuration AllowedJobDuration AutoClusterId AvgTransferInputMB AvgTransferOutputMB BatchRuntime \
         BlockReadKbytes BlockReads BlockWriteKbytes BlockWrites BrokenSlotCpus BrokenSlotDisk BrokenSlotMemory \
         BufferBlockSize BufferSize BytesRecvd BytesSent Capability ClaimEndTime ClockDay ClockMin ClusterId CommittedSlotTime \
         CommittedSuspensionTime CommittedTime CompletionDate CondorLoadAvg ConsoleIdle CoreSize CpuCacheSize Cpus \
         CpusProvisioned CpusUsage CumulativeRemoteSysCpu \
         CumulativeRemoteUserCpu CumulativeSlotTime CumulativeSuspensionTime CumulativeTransferTime CurrentHosts \
         CurrentRank DaemonStartTime DAG_JobsCompleted DAG_JobsHeld DAG_JobsIdle DAG_JobsRunning DAG_JobsSubmitted \
         DAG_NodesDone DAG_NodesFailed DAG_NodesFutile DAG_NodesPostrun DAG_NodesPrerun DAG_NodesQueued \
         DAG_NodesReady DAG_NodesTotal DAG_NodesUnready DAG_Status DAGMan_MaxHoldScripts DAGMan_MaxIdle \
         DAGMan_MaxJobs DAGMan_MaxPostScripts DAGMan_MaxPreScripts DAGMan_MaxSubmitsPerInterval DAGManJobId \
         DAGManNodeRetry DeferralPrepTime DeferralTime DeferralWindow DelegatedProxyExpiration \
         DelegateJobGSICredentialsLifetime DetectedCpus DetectedDisk DetectedMemory DeviceGPUsAverageUsage \
         DeviceGPUsMemoryPeakUsage Disk DiskProvisioned DiskUsage DiskUsage_RAW DockerCachedImageSizeMb DriverVersion \
         EnteredCurrentActivity EnteredCurrentState EnteredCurrentStatus ErrSize ExecutableSize ExecutableSize_RAW \
         ExitCode ExitSignal ExitStatus ExpectedMachineGracefulDrainingBadput \
         ExpectedMachineGracefulDrainingCompletion ExpectedMachineQuickDrainingBadput \
         ExpectedMachineQuickDrainingCompletion FirstJobMatchDate GlobalMemoryMb GLIDEIN_ToDie GLIDEIN_ToRetire GPUs GPUs_Capability \
         GPUs_DriverVersion GPUs_GlobalMemoryMb GPUs_MaxSupportedVersion GPUsAverageUsage GPUsMaxCapability GPUsMemoryUsage GPUsMinCapability GPUsMinMemory \
         GPUsMinRuntime GpusProvisioned GridResourceUnavailableTime HoldReasonCode HoldReasonSubCode ImageSize \
         ImageSize_RAW InitialWaitDuration JobBusyTimeAvg JobBusyTimeCount JobBusyTimeMax JobBusyTimeMin \
         JobCoolDownExpiration JobCurrentFinishTransferInputDate JobCurrentFinishTransferOutputDate \
         JobCurrentReconnectAttempt JobCurrentStartDate JobCurrentStartExecutingDate JobCurrentStartTransferInputDate \
         JobCurrentStartTransferOutputDate JobDisconnectedDate JobDuration JobDurationAvg JobDurationCount \
         JobDurationMax JobDurationMin JobFinishedHookDone JobLastStartDate JobLeaseDuration JobLeaseExpiration \
         JobMaxRetries JobMaxVacateTime JobNotification JobPid JobPreemptions JobPrio JobQueueBirthdate \
         JobRankPreemptions JobRunCount JobStart JobStartDate JobStarts JobStatus JobSuccessExitCode JobUniverse \
         JobUserPrioPreemptions JobVM_VCPUS KeepClaimIdle KeyboardIdle KFlops LastBenchmark LastDrainStartTime \
         LastDrainStopTime LastHeardFrom LastHoldReasonCode LastHoldReasonSubCode LastJobLeaseRenewal LastJobStatus \
         LastMatchTime LastPeriodicCheckpoint LastRejMatchTime LastRemoteStatusUpdate LastRemoteWallClockTime \
         LastSuspensionTime LastVacateTime LastVacateTime_RAW LoadAvg LocalSysCpu LocalUserCpu LvmDetectedDisk \
         LvmNonCondorDiskUsage MachineAttrCpus0 MachineAttrSlotWeight0 MachineCount MachineLastMatchTime \
         MachineMaxVacateTime MaxClaimTime MaxHosts MaxJobRetirementTime MaxTransferInputMB MaxTransferOutputMB \
         MaxWallTimeMins MaxWallTimeMins_RAW Memory MemoryProvisioned MemoryUsage MinHosts Mips MonitorSelfAge \
         MonitorSelfCPUUsage MonitorSelfImageSize MonitorSelfRegisteredSocketCount MonitorSelfResidentSetSize \
         MonitorSelfSecuritySessions MonitorSelfTime MyCurrentTime NetworkInputMb NetworkOutputMb NextJobStartDelay \
         NoopJobExitCode NoopJobExitSignal NumCkpts NumCkpts_RAW NumHolds NumInputTransferStarts NumJobCompletions \
         NumJobCoolDowns NumJobMatches NumJobReconnects NumJobStarts NumOutputTransferStarts NumPids NumRestarts \
         NumShadowExceptions NumShadowStarts NumSystemHolds NumVacates NumVacatesPreExecution OnExitHoldSubCode \
         OpSysMajorVer OpSysVer OrigMaxHosts OutSize PeriodicHoldSubCode PostCmdExitCode PostCmdExitSignal \
         PostJobPrio1 PostJobPrio2 PreCmdExitCode PreCmdExitSignal PreemptingRank PreJobPrio1 PreJobPrio2 ProcId \
         ProportionalSetSizeKb QDate RecentBlockReadKbytes RecentBlockReads RecentBlockWriteKbytes RecentBlockWrites \
         RecentJobBusyTimeAvg RecentJobBusyTimeCount RecentJobBusyTimeMax RecentJobBusyTimeMin RecentJobDurationAvg \
         RecentJobDurationCount RecentJobDurationMax RecentJobDurationMin RecentJobPreemptions \
         RecentJobRankPreemptions RecentJobStarts RecentJobUserPrioPreemptions RecentStatsLifetimeStarter \
         RemoteSlotID RemoteSysCpu RemoteUserCpu RemoteUserPrio RemoteUserResourcesInUse RemoteWallClockTime \
         RequestCpus RequestDisk RequestGPUs RequestMemory RequestVirtualMemory ResidentSetSize ResidentSetSize_RAW \
         RetirementTimeRemaining ScratchDirFileCount ShadowBday SlotBrokenCode SlotID SlotWeight StackSize \
         StageInFinish StageInStart StageOutFinish StageOutStart StatsLifetimeStarter SubmitterUserPrio \
         SubmitterUserResourcesInUse SuccessCheckpointExitCode SuccessCheckpointExitSignal SuccessPostExitCode \
         SuccessPostExitSignal SuccessPreExitCode SuccessPreExitSignal TotalClaimRunTime TotalClaimSuspendTime \
         TotalCondorLoadAvg TotalCpus TotalDisk TotalGPUs TotalJobReconnectAttempts TotalJobRunTime \
         TotalJobSuspendTime TotalLoadAvg TotalMachineDrainingBadput TotalMachineDrainingUnclaimedTime TotalMemory \
         TotalSlotCpus TotalSlotDisk TotalSlotGPUs TotalSlotMemory TotalSlots TotalSubmitProcs TotalSuspensions \
         TotalTimeBackfillBusy TotalTimeBackfillIdle TotalTimeBackfillKilling TotalTimeClaimedBusy \
         TotalTimeClaimedCleaning TotalTimeClaimedIdle TotalTimeClaimedRetiring TotalTimeClaimedSuspended \
         TotalTimeMatchedIdle TotalTimeOwnerIdle TotalTimePreemptingKilling TotalTimePreemptingVacating \
         TotalTimeUnclaimedBenchmarking TotalTimeUnclaimedIdle TotalTransferInputMB TotalTransferOutputMB \
         TransferInFinished TransferInputSizeMB TransferInQueued TransferInStarted TransferOutFinished \
         TransferOutQueued TransferOutStarted VacateReasonCode VacateReasonSubCode VirtualMemory VM_AvailNum \
         VM_Guest_Mem VM_Memory VMOfflineTime WallClockCheckpoint WindowsBuildNumber WindowsMajorVersion \
         WindowsMinorVersion X509UserProxyExpiration",
    ),
    (
        StandardType::String,
        "AccountingGroup AcctGroup AcctGroupUser Activity AllRemoteHosts AppendFiles Arch Args Arguments AssignedGPUs \
         AuthTokenGroups AuthTokenId AuthTokenIssuer AuthTokenScopes AuthTokenSubject AWSRegion BatchExtraSubmitArgs \
         BatchQueue CheckpointDestination ClientMachine CloudImage CloudInstanceID CloudInterruptible CloudLabelNames \
         CloudPlatform CloudProvider CloudRegion CloudVMType CloudZone Cmd CompressFiles ConcurrencyLimits \
         CondorPlatform CondorVersion ContainerImageSource CUDAVersion DAGManNodesLog DAGNodeName DAGParentNodeNames \
         DockerImage DockerOfflineReason DontEncryptInputFiles DontEncryptOutputFiles DotNetVersions \
         DrainingRequestId EC2AccessKeyId EC2AmiID EC2BlockDeviceMapping EC2ElasticIp EC2IamProfileArn \
         EC2IamProfileName EC2InstanceName EC2InstanceType EC2KeyPair EC2KeyPairFile EC2ParameterNames \
         EC2RemoteVirtualMachineName EC2SecurityGroups EC2SecurityIDs EC2SpotRequestID EC2TagNames EC2UserData \
         EC2UserDataFile EncryptInputFiles EncryptOutputFiles Env Environment Err ExitReason FetchFiles \
         FileSystemDomain GceAuthFile GceImage GceJsonFile GceMachineType GceMetadata GceMetadataFile \
         GLIDEIN_Entry_Name GlideinClient GlideinEntryName GlideinFactory GlideinFrontendName GlideinName GlobalJobId \
         GridJobId GridResource HasFileTransferPluginMethods HoldReason HookKeyword In Iwd JobBatchName \
         JOBGLIDEIN_ResourceName JobId JobSubmitFile KillSig LastHoldReason LastRejMatchReason LastRemoteHost \
         LastRemotePool LastShadowException LocalFiles Machine ManifestDir Microarch MyAddress MyType Name NotifyUser \
         NTDomain OAuthServicesNeeded OnExitHoldReason OnExitRemoveReason OpSys OpSysAndVer OpSysLegacy OpSysLongName \
         OpSysName OpSysShortName OSHomeDir OsUser OtherJobRemoveRequirements Out OutputDirectory Owner \
         ParallelShutdownPolicy PeriodicHoldReason PeriodicReleaseReason PeriodicRemoveReason PostArguments PostCmd \
         PreArguments PreCmd PreemptingOwner PreemptingUser ProjectName PublicInputFiles ReleaseReason RemoteGroup \
         RemoteHost RemoteIwd RemoteNegotiatingGroup RemoteOwner RemotePool RemoteProject RemoteScheddName RemoteUser \
         RemoveReason RequestedChroot RootDir ScitokensFile ShouldTransferFiles SingularityImage SingularityVersion \
         SlotBrokenReason SlotType StartdIpAddr StartdPrincipal StarterIpAddr StarterPrincipal State SubmitEventNotes \
         SubmitEventUserNotes SubmitterGlobalJobId SubmitterGroup SubmitterNegotiatingGroup SubmitVersion TargetType \
         TransferCheckpoint TransferInput TransferInputRemaps TransferIntermediate TransferOutput \
         TransferOutputRemaps TransferPlugins UidDomain User UserLog UserLogFile VacateReason VM_MACAddr VM_Type \
         WantTransferPluginMethods WhenToTransferOutput X509UserProxy X509UserProxyEmail X509UserProxyFirstFQAN \
         X509UserProxyFQAN X509UserProxySubject X509UserProxyVOName",
    ),
];

#[cfg(test)]
mod tests {
    use super::{
        BY_NAME, KIBIBYTES, MEBIBYTES, OF_BOTH, OF_MACHINES, SizeUnit, StandardType, TYPES, USUAL_VALUES,
        is_usual_value,
    };
    use crate::ad::Name;

    #[test]
    fn the_table_names_each_attribute_once() {
        let names: usize = TYPES.iter().map(|(_, names)| names.split(' ').count()).sum();
        assert_eq!(BY_NAME.len(), names);
        for name in MEBIBYTES.split(' ').chain(KIBIBYTES.split(' ')) {
            assert_eq!(StandardType::of(&Name::new(name)), Some(StandardType::Number), "{name}");
        }
        for name in OF_MACHINES.split(' ').chain(OF_BOTH.split(' ')) {
            assert!(BY_NAME.contains_key(&Name::new(name)), "{name}");
        }
        for name in USUAL_VALUES.iter().flat_map(|(names, _)| names.split(' ')) {
            assert_eq!(StandardType::of(&Name::new(name)), Some(StandardType::String), "{name}");
        }
    }

    #[test]
    fn attributes_have_units_and_usual_values() {
        assert_eq!(SizeUnit::of(&Name::new("requestmemory")), Some(SizeUnit::Mebibytes));
        assert_eq!(SizeUnit::of(&Name::new("Disk")), Some(SizeUnit::Kibibytes));
        assert_eq!(SizeUnit::of(&Name::new("Cpus")), None);
        let readable = [(SizeUnit::Kibibytes, 2e10), (SizeUnit::Mebibytes, 4096.0), (SizeUnit::Kibibytes, 0.5)];
        assert_eq!(readable.map(|(unit, amount)| unit.readable(amount)), ["18.6 TiB", "4 GiB", "512 bytes"]);
        assert!(is_usual_value(&Name::new("OpSysAndVer"), "centos9"));
        assert!(is_usual_value(&Name::new("Arch"), "X86_64"));
        assert!(!is_usual_value(&Name::new("OpSysAndVer"), "MyOpSys"));
        assert!(!is_usual_value(&Name::new("Owner"), "Idle"));
    }
}
