//! What lanes of a warp have in common, on the device: how many different sectors and lines they access, and how many words of a bank.
//!
//! Each lane is compared with those before it, one distance after another. A shuffle by a distance that is a constant is one
//! instruction of a processor; by one that is not, it goes through memory. So there is a piece of text for each distance.
//!
//! Masks tell which lanes count: what comes from a lane that is not there is not looked at.

/// The text for all distances.
macro_rules! for_each_distance {
    ($text:ident) => {
        concat!(
            $text!(1),
            $text!(2),
            $text!(3),
            $text!(4),
            $text!(5),
            $text!(6),
            $text!(7),
            $text!(8),
            $text!(9),
            $text!(10),
            $text!(11),
            $text!(12),
            $text!(13),
            $text!(14),
            $text!(15),
            $text!(16),
            $text!(17),
            $text!(18),
            $text!(19),
            $text!(20),
            $text!(21),
            $text!(22),
            $text!(23),
            $text!(24),
            $text!(25),
            $text!(26),
            $text!(27),
            $text!(28),
            $text!(29),
            $text!(30),
            $text!(31)
        )
    };
}

/// Lanes whose sector, or line, another lane has that is so far before them.
macro_rules! same_sector {
    ($distance:literal) => {
        concat!(
            "shfl.sync.up.b32 %r, %sector, ",
            $distance,
            ", 0, %lanes;\n",
            "xor.b32 %r, %r, %sector;\n",
            "setp.eq.b32 %p, %r, 0;\n",
            "setp.lt.u32 %q, %r, $SECTORS_OF_LINE;\n",
            "vote.sync.ballot.b32 %of_sector, %p, %lanes;\n",
            "vote.sync.ballot.b32 %of_line, %q, %lanes;\n",
            "shl.b32 %r, %lanes, ",
            $distance,
            ";\n",
            "and.b32 %of_sector, %of_sector, %r;\n",
            "and.b32 %of_line, %of_line, %r;\n",
            "or.b32 %sectors, %sectors, %of_sector;\n",
            "or.b32 %lines, %lines, %of_line;\n",
        )
    };
}

/// Lanes whose word, or bank, another lane has that is so far before them in the same turn.
macro_rules! same_bank {
    ($distance:literal) => {
        concat!(
            "shfl.sync.up.b32 %r, %unit, ",
            $distance,
            ", 0, %lanes;\n",
            "xor.b32 %r, %r, %unit;\n",
            "setp.ge.u32 %q, %place, ",
            $distance,
            ";\n",
            "setp.eq.and.b32 %p, %r, 0, %q;\n",
            "and.b32 %r, %r, %last;\n",
            "setp.eq.and.b32 %q, %r, 0, %q;\n",
            "vote.sync.ballot.b32 %of_word, %p, %lanes;\n",
            "vote.sync.ballot.b32 %of_bank",
            $distance,
            ", %q, %lanes;\n",
            "shl.b32 %r, %lanes, ",
            $distance,
            ";\n",
            "and.b32 %of_word, %of_word, %r;\n",
            "and.b32 %of_bank",
            $distance,
            ", %of_bank",
            $distance,
            ", %r;\n",
            "or.b32 %words, %words, %of_word;\n",
            "not.b32 %of_word, %of_word;\n",
            "and.b32 %of_word, %of_word, %of_bank",
            $distance,
            ";\n",
            "or.b32 %conflicts, %conflicts, %of_word;\n",
        )
    };
}

/// Counts for each lane those that are in the same bank, so far before it, and have a word of their own: a bit of each count is in
/// one number, for all lanes.
macro_rules! rank {
    ($distance:literal) => {
        concat!(
            "shl.b32 %r, %firsts, ",
            $distance,
            ";\n",
            "and.b32 %r, %r, %of_bank",
            $distance,
            ";\n",
            "and.b32 %carry, %rank0, %r;\n",
            "xor.b32 %rank0, %rank0, %r;\n",
            "and.b32 %r, %rank1, %carry;\n",
            "xor.b32 %rank1, %rank1, %carry;\n",
            "and.b32 %carry, %rank2, %r;\n",
            "xor.b32 %rank2, %rank2, %r;\n",
            "and.b32 %r, %rank3, %carry;\n",
            "xor.b32 %rank3, %rank3, %carry;\n",
            "xor.b32 %rank4, %rank4, %r;\n",
        )
    };
}

/// Keeps the lanes of a turn that have a bit in their count, if there are any.
macro_rules! largest {
    ($bit:literal, $value:literal) => {
        concat!(
            "and.b32 %r, %turn, %rank",
            $bit,
            ";\n",
            "setp.ne.b32 %p, %r, 0;\n",
            "selp.b32 %turn, %r, %turn, %p;\n",
            "selp.b32 %r, ",
            $value,
            ", 0, %p;\n",
            "add.u32 %most_of_turn, %most_of_turn, %r;\n",
        )
    };
}

/// All that is called on the device: `device.ptx`, and the two functions that it declares.
/// `warpgrind_traffic_distinct`: sectors beyond the first, and from bit 8 on lines beyond the first.
/// `warpgrind_traffic_banks`: words of one bank in one turn beyond the first, and from bit 8 on passes.
pub(super) const DEVICE_CODE: &str = concat!(
    include_str!("device.ptx"),
    "
.weak .func (.reg .b32 %result) warpgrind_traffic_distinct(.reg .b32 %sector, .reg .b32 %lanes)
{
.pragma \"nosync\";
.reg .pred %p, %q;
.reg .b32 %r, %sectors, %lines, %of_sector, %of_line;
mov.b32 %sectors, 0;
mov.b32 %lines, 0;
",
    for_each_distance!(same_sector),
    "not.b32 %sectors, %sectors;
and.b32 %sectors, %sectors, %lanes;
popc.b32 %sectors, %sectors;
not.b32 %lines, %lines;
and.b32 %lines, %lines, %lanes;
popc.b32 %lines, %lines;
shl.b32 %lines, %lines, 8;
add.u32 %sectors, %sectors, %lines;
sub.u32 %result, %sectors, 0x101;
ret;
}

.weak .func (.reg .b32 %result) warpgrind_traffic_banks(.reg .b32 %unit, .reg .b32 %last, .reg .b32 %lanes)
{
.pragma \"nosync\";
.reg .pred %p, %q;
.reg .b32 %r, %place, %words, %conflicts, %of_word, %of_bank<32>, %firsts, %carry, %rank<5>;
.reg .b32 %turn, %whole_turn, %most, %most_of_turn, %passes;
mov.u32 %place, %laneid;
and.b32 %place, %place, %last;
mov.b32 %words, 0;
mov.b32 %conflicts, 0;
",
    for_each_distance!(same_bank),
    "not.b32 %firsts, %words;
and.b32 %firsts, %firsts, %lanes;
and.b32 %conflicts, %conflicts, %firsts;
mov.b32 %rank0, 0;
mov.b32 %rank1, 0;
mov.b32 %rank2, 0;
mov.b32 %rank3, 0;
mov.b32 %rank4, 0;
setp.eq.b32 %p, %conflicts, 0;
@%p bra ranked;
",
    for_each_distance!(rank),
    "ranked:
add.u32 %r, %last, 1;
mov.b32 %whole_turn, -1;
setp.lt.u32 %p, %r, 32;
shl.b32 %r, -1, %r;
not.b32 %r, %r;
selp.b32 %whole_turn, %r, %whole_turn, %p;
mov.b32 %most, 0;
mov.b32 %passes, 0;
next_turn:
mov.b32 %most_of_turn, 0;
and.b32 %turn, %firsts, %whole_turn;
setp.eq.b32 %p, %turn, 0;
@%p bra counted;
",
    largest!(4, 16),
    largest!(3, 8),
    largest!(2, 4),
    largest!(1, 2),
    largest!(0, 1),
    "max.u32 %most, %most, %most_of_turn;
add.u32 %passes, %passes, %most_of_turn;
add.u32 %passes, %passes, 1;
counted:
add.u32 %r, %last, 1;
setp.lt.u32 %p, %r, 32;
shl.b32 %whole_turn, %whole_turn, %r;
selp.b32 %whole_turn, %whole_turn, 0, %p;
setp.ne.b32 %p, %whole_turn, 0;
@%p bra next_turn;
shl.b32 %passes, %passes, 8;
or.b32 %result, %most, %passes;
ret;
}
"
);
