//! Modifiers: the words after the opcode.

use crate::types::{Space, Type, spelled_enum};

/// A modifier of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Modifier {
    /// A type.
    Type(Type),
    /// A word with a fixed meaning.
    Word(Mod),
    /// The shape of a matrix operation: `m16n8k16`, and `m8n8` with k = 0.
    Shape {
        /// Rows of the result.
        m: u16,
        /// Columns of the result.
        n: u16,
        /// Length of the products, or 0.
        k: u16,
    },
    /// A word that occurs in no row of the table.
    Unknown,
}

impl Modifier {
    /// What a word (without its dot) is.
    pub fn parse(word: &str) -> Self {
        if let Some(ty) = Type::parse(word) {
            Self::Type(ty)
        } else if let Some(word) = Mod::parse(word) {
            Self::Word(word)
        } else if let Some([m, n, k]) = parse_shape(word) {
            Self::Shape { m, n, k }
        } else {
            Self::Unknown
        }
    }
}

impl Mod {
    /// The state space that the word names, if it names one.
    pub fn space(self) -> Option<Space> {
        use Mod::*;
        match self {
            Global => Some(Space::Global),
            Shared | SharedCta | SharedCluster => Some(Space::Shared),
            Local => Some(Space::Local),
            Const => Some(Space::Const),
            Param | ParamEntry | ParamFunc => Some(Space::Param),
            _ => None,
        }
    }

    /// The number of elements that the word gives an operand: 4 for `v4`.
    pub fn vector(self) -> Option<u32> {
        match self {
            Self::V2 => Some(2),
            Self::V4 => Some(4),
            Self::V8 => Some(8),
            _ => None,
        }
    }
}

/// Whether the word is a matrix shape of three dimensions.
pub(super) fn is_shape(word: &str) -> bool {
    parse_shape(word).is_some_and(|[_, _, k]| k != 0)
}

fn parse_shape(word: &str) -> Option<[u16; 3]> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k').unwrap_or((rest, "0"));
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

spelled_enum! {
    /// A word after an opcode, without the leading dot, that is neither a type nor a matrix shape.
    Mod {
        // State spaces.
        Global "global", Shared "shared", SharedCta "shared::cta", SharedCluster "shared::cluster", Local "local",
        Const "const", Param "param", ParamEntry "param::entry", ParamFunc "param::func",
        // Vectors.
        V2 "v2", V4 "v4", V8 "v8",
        // Rounding, saturation and precision.
        Rn "rn", Rz "rz", Rm "rm", Rp "rp", Rs "rs", Rna "rna", Rni "rni", Rzi "rzi", Rmi "rmi", Rpi "rpi", Ftz "ftz",
        Noftz "noftz", Sat "sat", Satfinite "satfinite", Relu "relu", Oob "oob", Approx "approx", Full "full",
        NaN "NaN", Xorsign "xorsign", Abs "abs", Pzo "pzo",
        // Integers.
        Hi "hi", Lo "lo", Wide "wide", Cc "cc", Shiftamt "shiftamt", Clamp "clamp", Wrap "wrap", Pack "pack",
        ScaledN1Ue8m0 "scaled::n1::ue8m0", ScaledN2Ue8m0 "scaled::n2::ue8m0",
        // Comparisons and classes of numbers.
        Eq "eq", Ne "ne", Lt "lt", Le "le", Gt "gt", Ge "ge", Ls "ls", Hs "hs", Equ "equ", Neu "neu", Ltu "ltu",
        Leu "leu", Gtu "gtu", Geu "geu", Num "num", Nan "nan", Finite "finite", Infinite "infinite", Number "number",
        Notanumber "notanumber", Normal "normal", Subnormal "subnormal",
        // Operations.
        And "and", Or "or", Xor "xor", Add "add", Min "min", Max "max", Inc "inc", Dec "dec", Cas "cas", Exch "exch",
        Popc "popc",
        // Lanes, bytes and shifts.
        Sync "sync", Aligned "aligned", Up "up", Down "down", Bfly "bfly", Idx "idx", All "all", Any "any", Uni "uni",
        Ballot "ballot", L "l", R "r", F4e "f4e", B4e "b4e", Rc8 "rc8", Ecl "ecl", Ecr "ecr", Rc16 "rc16", Po "po",
        Shr7 "shr7", Shr15 "shr15", Mask "mask",
        // Memory order, scope and kind of access.
        Weak "weak", Volatile "volatile", Relaxed "relaxed", Acquire "acquire", Release "release", AcqRel "acq_rel",
        Sc "sc", Mmio "mmio", Nc "nc", ProxyReadonly "proxy::readonly", Cta "cta", Cluster "cluster", Gpu "gpu",
        Gl "gl", Sys "sys",
        // Caches.
        Ca "ca", Cg "cg", Cs "cs", Lu "lu", Cv "cv", Wb "wb", Wt "wt", L1 "L1", L2 "L2",
        L1EvictNormal "L1::evict_normal", L1EvictUnchanged "L1::evict_unchanged", L1EvictFirst "L1::evict_first",
        L1EvictLast "L1::evict_last", L1NoAllocate "L1::no_allocate", L1Fetch32 "L1::32B",
        L2EvictNormal "L2::evict_normal", L2EvictUnchanged "L2::evict_unchanged", L2EvictFirst "L2::evict_first",
        L2EvictLast "L2::evict_last", L2CacheHint "L2::cache_hint", L2Fetch64 "L2::64B", L2Fetch128 "L2::128B",
        L2Fetch256 "L2::256B", ValidAddr "valid_addr", Range "range", Fractional "fractional", Cvt "cvt", To "to",
        // Fences.
        Proxy "proxy", Alias "alias", Async "async", AsyncGeneric "async::generic",
        TensormapGeneric "tensormap::generic", FabricFabric "fabric::fabric", FabricGeneric "fabric::generic",
        GenericFabric "generic::fabric", MbarrierInit "mbarrier_init",
        SyncRestrictSharedCta "sync_restrict::shared::cta", SyncRestrictSharedCluster "sync_restrict::shared::cluster",
        SyncRestrictSharedClusterRead "sync_restrict::shared::cluster::read",
        SyncRestrictSharedReadMmaA "sync_restrict::shared::read::mma::a",
        SyncRestrictProxyAsync "sync_restrict::proxy::async", SyncRestrictRead "sync_restrict::read",
        SyncRestrictReads "sync_restrict::reads",
        // Asynchronous copies.
        Bulk "bulk", Tensor "tensor", Prefetch "prefetch", Reduce "reduce", Cp "cp", CommitGroup "commit_group",
        WaitGroup "wait_group", WaitAll "wait_all", Read "read", BulkGroup "bulk_group", CpMask "cp_mask",
        IgnoreOob "ignore_oob", MbarrierCompleteTxBytes "mbarrier::complete_tx::bytes",
        MbarrierCompleteTx16B "mbarrier::complete_tx::16B", MulticastCluster "multicast::cluster",
        MulticastCluster16b "multicast::cluster::16b", MulticastCluster32b "multicast::cluster::32b",
        MulticastClusterAll "multicast::cluster::all", OverrideGlobalAddress "override::global_address",
        OverrideGlobalDim "override::global_dim", OverrideGlobalDimStride "override::global_dim_stride",
        // Reports of copies.
        MbarrierReportDisabled "mbarrier::report::disabled",
        MbarrierReportValidityPer16bytes8 "mbarrier::report::validity::per_16bytes::8",
        MbarrierReportValidityPer16bytes80 "mbarrier::report::validity::per_16bytes::80",
        MbarrierReportValidityPer16bytes8000 "mbarrier::report::validity::per_16bytes::8000",
        MbarrierReportValidityPer16bytes80000000 "mbarrier::report::validity::per_16bytes::80000000",
        MbarrierReportValidityPer16bytes80000000Paired "mbarrier::report::validity::per_16bytes::80000000::paired",
        MbarrierReportValidityPerElement8 "mbarrier::report::validity::per_element::8",
        MbarrierReportValidityPerElement80 "mbarrier::report::validity::per_element::80",
        MbarrierReportValidityPerElement8000 "mbarrier::report::validity::per_element::8000",
        MbarrierReportValidityPerElement80000000 "mbarrier::report::validity::per_element::80000000",
        MbarrierReportValidityPerElementFf "mbarrier::report::validity::per_element::ff",
        MbarrierReportFabric "mbarrier::report::fabric",
        // Tensor coordinates.
        Dim1 "1d", Dim2 "2d", Dim3 "3d", Dim4 "4d", Dim5 "5d", Tile "tile", TileGather4 "tile::gather4",
        TileScatter4 "tile::scatter4", Im2col "im2col", Im2colW "im2col::w", Im2colW128 "im2col::w::128",
        Im2colNoOffs "im2col_no_offs", Im2colNoOffsW "im2col_no_offs::w",
        // Tensor maps.
        Tensormap "tensormap", Replace "replace", CpFenceproxy "cp_fenceproxy", GlobalAddress "global_address",
        Rank "rank", Elemtype "elemtype", InterleaveLayout "interleave_layout", SwizzleMode "swizzle_mode",
        SwizzleAtomicity "swizzle_atomicity", FillMode "fill_mode", BoxDim "box_dim", GlobalDim "global_dim",
        GlobalStride "global_stride", ElementStride "element_stride",
        // Multicast memory and fabric.
        Multimem "multimem", LdReduce "ld_reduce", St "st", Red "red", AccF32 "acc::f32", AccF16 "acc::f16",
        TryGet "try_get", TryPut "try_put", TryRed "try_red", TryPullred "try_pullred", TryAtom "try_atom",
        Submit "submit", Wait "wait", OpRestrictFetching "op_restrict::fetching", CountedBytes "counted::bytes",
        // Textures and surfaces.
        DimA1 "a1d", DimA2 "a2d", Cube "cube", Acube "acube", Dim2ms "2dms", DimA2ms "a2dms", Base "base",
        Level "level", Grad "grad", G "g", B "b", A "a", P "p", Trap "trap", Zero "zero", Width "width",
        Height "height", Depth "depth", ChannelDataType "channel_data_type", ChannelOrder "channel_order",
        NormalizedCoords "normalized_coords", ArraySize "array_size", NumMipmapLevels "num_mipmap_levels",
        NumSamples "num_samples", MemoryLayout "memory_layout", ForceUnnormalizedCoords "force_unnormalized_coords",
        FilterMode "filter_mode", AddrMode0 "addr_mode_0", AddrMode1 "addr_mode_1", AddrMode2 "addr_mode_2",
        // Barriers and launches.
        Warp "warp", LaunchDependents "launch_dependents", Mbarrier "mbarrier", Init "init", Inval "inval",
        Arrive "arrive", ArriveDrop "arrive_drop", ExpectTx "expect_tx", CompleteTx "complete_tx", TestWait "test_wait",
        TryWait "try_wait", PendingCount "pending_count", CheckLayout "check_layout", NoComplete "noComplete",
        Noinc "noinc", Parity "parity", LayoutV0 "layout::v0", LayoutV1 "layout::v1",
        PhaseTypePrimary "phase_type::primary", PhaseTypeConditional "phase_type::conditional", TryCancel "try_cancel",
        QueryCancel "query_cancel", IsCanceled "is_canceled", GetFirstCtaid "get_first_ctaid",
        GetFirstCtaidX "get_first_ctaid::x", GetFirstCtaidY "get_first_ctaid::y", GetFirstCtaidZ "get_first_ctaid::z",
        // Matrices of a warp or warpgroup.
        Load "load", Store "store", Mma "mma", MmaAsync "mma_async", Fence "fence", C "c", D "d", Row "row", Col "col",
        Trans "trans", X1 "x1", X2 "x2", X4 "x4", X8 "x8", X16 "x16", X32 "x32", X64 "x64", X128 "x128", B8x16 "b8x16",
        B6x16P32 "b6x16_p32", B4x16P64 "b4x16_p64", Sp "sp", SpOrderedMetadata "sp::ordered_metadata",
        BlockScale "block_scale", ScaleVec1X "scale_vec::1X", ScaleVec2X "scale_vec::2X", ScaleVec4X "scale_vec::4X",
        Block16 "block16", Block32 "block32", KindF16 "kind::f16", KindTf32 "kind::tf32", KindF8f6f4 "kind::f8f6f4",
        KindI8 "kind::i8", KindTi16 "kind::ti16", KindMxf8f6f4 "kind::mxf8f6f4", KindMxf4 "kind::mxf4",
        KindMxf4nvf4 "kind::mxf4nvf4",
        // Tensor memory.
        Sp2Of4 "sp::2:4", CtaGroup1 "cta_group::1", CtaGroup2 "cta_group::2", Alloc "alloc", Exclusive "exclusive",
        Dealloc "dealloc", RelinquishAllocPermit "relinquish_alloc_permit", Ld "ld", Shape16x64b "16x64b",
        Shape16x128b "16x128b", Shape16x256b "16x256b", Shape32x32b "32x32b", Pack16b "pack::16b",
        Shape16x32bx2 "16x32bx2", Spcompress "spcompress", Unpack16b "unpack::16b", WaitLd "wait::ld",
        WaitSt "wait::st", Shape128x256b "128x256b", Shape4x256b "4x256b", Shape128x128b "128x128b",
        Shape64x128b "64x128b", Shape32x128b "32x128b", Warpx2Pairs02And13 "warpx2::02_13",
        Warpx2Pairs01And23 "warpx2::01_23", Warpx4 "warpx4", Shift "shift", Ashift "ashift",
        CollectorAFill "collector::a::fill", CollectorAUse "collector::a::use",
        CollectorALastuse "collector::a::lastuse", CollectorADiscard "collector::a::discard",
        CollectorBFill "collector::b::fill", CollectorBUse "collector::b::use",
        CollectorBLastuse "collector::b::lastuse", CollectorBDiscard "collector::b::discard",
        DecompressLutB "decompress::lut::b", Ws "ws", CollectorB0Fill "collector::b0::fill",
        CollectorB0Use "collector::b0::use", CollectorB0Lastuse "collector::b0::lastuse",
        CollectorB0Discard "collector::b0::discard", CollectorB1Fill "collector::b1::fill",
        CollectorB1Use "collector::b1::use", CollectorB1Lastuse "collector::b1::lastuse",
        CollectorB1Discard "collector::b1::discard", CollectorB2Fill "collector::b2::fill",
        CollectorB2Use "collector::b2::use", CollectorB2Lastuse "collector::b2::lastuse",
        CollectorB2Discard "collector::b2::discard", CollectorB3Fill "collector::b3::fill",
        CollectorB3Use "collector::b3::use", CollectorB3Lastuse "collector::b3::lastuse",
        CollectorB3Discard "collector::b3::discard", FenceBeforeThreadSync "fence::before_thread_sync",
        FenceAfterThreadSync "fence::after_thread_sync", Commit "commit", MbarrierArriveOne "mbarrier::arrive::one",
    }
}
