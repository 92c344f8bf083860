//! Special registers: values that the hardware provides.

use crate::types::{Type, spelled_enum};

spelled_enum! {
    /// A predefined, read-only register, spelled with its component.
    Special {
        TidX "%tid.x", TidY "%tid.y", TidZ "%tid.z", TidW "%tid.w",
        NtidX "%ntid.x", NtidY "%ntid.y", NtidZ "%ntid.z", NtidW "%ntid.w",
        CtaidX "%ctaid.x", CtaidY "%ctaid.y", CtaidZ "%ctaid.z", CtaidW "%ctaid.w",
        NctaidX "%nctaid.x", NctaidY "%nctaid.y", NctaidZ "%nctaid.z", NctaidW "%nctaid.w",
        Tid "%tid", Ntid "%ntid", Ctaid "%ctaid", Nctaid "%nctaid",
        Laneid "%laneid", Warpid "%warpid", Nwarpid "%nwarpid", Smid "%smid", Nsmid "%nsmid", Gridid "%gridid",
        IsExplicitCluster "%is_explicit_cluster",
        ClusteridX "%clusterid.x", ClusteridY "%clusterid.y", ClusteridZ "%clusterid.z", ClusteridW "%clusterid.w",
        NclusteridX "%nclusterid.x", NclusteridY "%nclusterid.y", NclusteridZ "%nclusterid.z",
        NclusteridW "%nclusterid.w",
        ClusterCtaidX "%cluster_ctaid.x", ClusterCtaidY "%cluster_ctaid.y", ClusterCtaidZ "%cluster_ctaid.z",
        ClusterCtaidW "%cluster_ctaid.w",
        ClusterNctaidX "%cluster_nctaid.x", ClusterNctaidY "%cluster_nctaid.y", ClusterNctaidZ "%cluster_nctaid.z",
        ClusterNctaidW "%cluster_nctaid.w",
        ClusterCtarank "%cluster_ctarank", ClusterNctarank "%cluster_nctarank",
        LanemaskEq "%lanemask_eq", LanemaskLe "%lanemask_le", LanemaskLt "%lanemask_lt",
        LanemaskGe "%lanemask_ge", LanemaskGt "%lanemask_gt",
        Clock "%clock", ClockHi "%clock_hi", Clock64 "%clock64",
        Pm0 "%pm0", Pm1 "%pm1", Pm2 "%pm2", Pm3 "%pm3", Pm4 "%pm4", Pm5 "%pm5", Pm6 "%pm6", Pm7 "%pm7",
        Pm0In64 "%pm0_64", Pm1In64 "%pm1_64", Pm2In64 "%pm2_64", Pm3In64 "%pm3_64",
        Pm4In64 "%pm4_64", Pm5In64 "%pm5_64", Pm6In64 "%pm6_64", Pm7In64 "%pm7_64",
        Envreg0 "%envreg0", Envreg1 "%envreg1", Envreg2 "%envreg2", Envreg3 "%envreg3",
        Envreg4 "%envreg4", Envreg5 "%envreg5", Envreg6 "%envreg6", Envreg7 "%envreg7",
        Envreg8 "%envreg8", Envreg9 "%envreg9", Envreg10 "%envreg10", Envreg11 "%envreg11",
        Envreg12 "%envreg12", Envreg13 "%envreg13", Envreg14 "%envreg14", Envreg15 "%envreg15",
        Envreg16 "%envreg16", Envreg17 "%envreg17", Envreg18 "%envreg18", Envreg19 "%envreg19",
        Envreg20 "%envreg20", Envreg21 "%envreg21", Envreg22 "%envreg22", Envreg23 "%envreg23",
        Envreg24 "%envreg24", Envreg25 "%envreg25", Envreg26 "%envreg26", Envreg27 "%envreg27",
        Envreg28 "%envreg28", Envreg29 "%envreg29", Envreg30 "%envreg30", Envreg31 "%envreg31",
        Globaltimer "%globaltimer", GlobaltimerLo "%globaltimer_lo", GlobaltimerHi "%globaltimer_hi",
        ReservedSmemOffsetBegin "%reserved_smem_offset_begin", ReservedSmemOffsetEnd "%reserved_smem_offset_end",
        ReservedSmemOffsetCap "%reserved_smem_offset_cap",
        ReservedSmemOffset0 "%reserved_smem_offset_0", ReservedSmemOffset1 "%reserved_smem_offset_1",
        TotalSmemSize "%total_smem_size", AggrSmemSize "%aggr_smem_size", DynamicSmemSize "%dynamic_smem_size",
        CurrentGraphExec "%current_graph_exec",
    }
}

/// Bytes of shared memory of a block that the CUDA libraries for kernels keep for themselves.
pub const RESERVED_SHARED: u64 = 1 << 10;

impl Special {
    /// The place in [`RESERVED_SHARED`] bytes of shared memory that it names: cooperative groups have theirs at the second.
    pub fn reserved_shared_offset(self) -> Option<u64> {
        match self {
            Self::ReservedSmemOffsetBegin | Self::ReservedSmemOffset0 => Some(0),
            Self::ReservedSmemOffset1 => Some(RESERVED_SHARED / 2),
            Self::ReservedSmemOffsetEnd | Self::ReservedSmemOffsetCap => Some(RESERVED_SHARED),
            _ => None,
        }
    }

    /// The type in which it is read.
    pub fn ty(self) -> Type {
        use Special::*;
        match self {
            Clock64 | Globaltimer | Gridid | CurrentGraphExec | Pm0In64 | Pm1In64 | Pm2In64 | Pm3In64 | Pm4In64
            | Pm5In64 | Pm6In64 | Pm7In64 => Type::U64,
            IsExplicitCluster => Type::Pred,
            _ => Type::U32,
        }
    }

    /// Whether two reads by one thread may differ, so that a read must be neither repeated nor merged.
    pub fn is_volatile(self) -> bool {
        use Special::*;
        matches!(
            self,
            Clock
                | ClockHi
                | Clock64
                | Globaltimer
                | GlobaltimerLo
                | GlobaltimerHi
                | Pm0
                | Pm1
                | Pm2
                | Pm3
                | Pm4
                | Pm5
                | Pm6
                | Pm7
                | Pm0In64
                | Pm1In64
                | Pm2In64
                | Pm3In64
                | Pm4In64
                | Pm5In64
                | Pm6In64
                | Pm7In64
                | Smid
                | Warpid
        )
    }
}
