//! What lanes of a warp have in common, on the device: how many different sectors and lines they access, and how many words of a bank.
//!
//! Each lane is compared with those before it, one distance after another. A shuffle by a distance that is a constant is one
//! instruction of a processor; by one that is not, it goes through memory. So there is a piece of text for each distance, which takes
//! the place of a line of `device.ptx`: in a function of its own nobody would know that masks are the same for all lanes.
//!
//! Masks tell which lanes count: what comes from a lane that is not there is not looked at.

use std::fmt::Write;
use std::sync::LazyLock;

/// All that is called on the device.
pub(super) static DEVICE_CODE: LazyLock<String> = LazyLock::new(|| {
    let of_workers = include_str!("device.ptx");
    let mut text = of_workers.to_owned() + include_str!("concurrent.ptx");
    for part in ["global", "steps of global", "shared", "steps of shared"] {
        text = text.replace(&format!("//@ {part}\n"), between(of_workers, part));
    }
    text.replace("//@ sectors", &sectors()).replace("//@ banks", &banks())
});

/// The lines of a text between those that begin and end a part.
fn between<'t>(text: &'t str, part: &str) -> &'t str {
    let after = text.split_once(&format!("//@ begin {part}\n")).map(|(_, after)| after);
    let within = after.and_then(|after| after.split_once(&format!("//@ end {part}\n")));
    within.expect("the text has all parts").0
}

/// The distances of lanes.
const DISTANCES: std::ops::Range<u32> = 1..32;

/// Puts the sectors and lines beyond the first into `%sectors` and `%lines`, from `%sector` of each of `%lanes`.
fn sectors() -> String {
    let mut text = "{
        .reg .pred %same, %near;
        .reg .b32 %other, %of_sector, %of_line;
        mov.b32 %sectors, 0;
        mov.b32 %lines, 0;\n"
        .to_owned();
    for distance in DISTANCES {
        // Lanes whose sector, or line, another lane has that is so far before them.
        let piece = format!(
            "shfl.sync.up.b32 %other, %sector, {distance}, 0, %lanes;
             xor.b32 %other, %other, %sector;
             setp.eq.b32 %same, %other, 0;
             setp.lt.u32 %near, %other, $SECTORS_OF_LINE;
             vote.sync.ballot.b32 %of_sector, %same, %lanes;
             vote.sync.ballot.b32 %of_line, %near, %lanes;
             shl.b32 %r, %lanes, {distance};
             and.b32 %of_sector, %of_sector, %r;
             and.b32 %of_line, %of_line, %r;
             or.b32 %sectors, %sectors, %of_sector;
             or.b32 %lines, %lines, %of_line;\n"
        );
        text.push_str(&piece);
    }
    text + "not.b32 %sectors, %sectors;
        and.b32 %sectors, %sectors, %lanes;
        popc.b32 %sectors, %sectors;
        sub.u32 %sectors, %sectors, 1;
        not.b32 %lines, %lines;
        and.b32 %lines, %lines, %lanes;
        popc.b32 %lines, %lines;
        sub.u32 %lines, %lines, 1;
        }"
}

/// Puts the most words of one bank in one turn into `%most`, and the passes of all turns into `%passes`, from `%unit` of each of
/// `%lanes`, of which `%last` + 1 have a turn.
fn banks() -> String {
    let mut text = "{
        .reg .pred %same, %is_turn;
        .reg .b32 %other, %place, %words, %conflicts, %of_word, %of_bank<32>, %firsts, %carry, %rank<5>;
        .reg .b32 %turn, %whole_turn, %most_of_turn;
        and.b32 %place, %lane, %last;
        mov.b32 %words, 0;
        mov.b32 %conflicts, 0;\n"
        .to_owned();
    for distance in DISTANCES {
        // Lanes whose word, or bank, another lane has that is so far before them in the same turn.
        let piece = format!(
            "shfl.sync.up.b32 %other, %unit, {distance}, 0, %lanes;
             xor.b32 %other, %other, %unit;
             setp.ge.u32 %is_turn, %place, {distance};
             setp.eq.and.b32 %same, %other, 0, %is_turn;
             vote.sync.ballot.b32 %of_word, %same, %lanes;
             and.b32 %other, %other, %last;
             setp.eq.and.b32 %same, %other, 0, %is_turn;
             vote.sync.ballot.b32 %of_bank{distance}, %same, %lanes;
             shl.b32 %r1, %lanes, {distance};
             and.b32 %of_word, %of_word, %r1;
             and.b32 %of_bank{distance}, %of_bank{distance}, %r1;
             or.b32 %words, %words, %of_word;
             not.b32 %of_word, %of_word;
             and.b32 %of_word, %of_word, %of_bank{distance};
             or.b32 %conflicts, %conflicts, %of_word;\n"
        );
        text.push_str(&piece);
    }
    text.push_str(
        "not.b32 %firsts, %words;
         and.b32 %firsts, %firsts, %lanes;
         and.b32 %conflicts, %conflicts, %firsts;
         mov.b32 %rank0, 0;
         mov.b32 %rank1, 0;
         mov.b32 %rank2, 0;
         mov.b32 %rank3, 0;
         mov.b32 %rank4, 0;
         setp.eq.b32 %same, %conflicts, 0;
         @%same bra ranked;\n",
    );
    for distance in DISTANCES {
        // For each lane, how many before it have a word of their own in the same bank: a bit of each count is in one number, for
        // all lanes.
        let piece = format!(
            "shl.b32 %r1, %firsts, {distance};
             and.b32 %r1, %r1, %of_bank{distance};
             and.b32 %carry, %rank0, %r1;
             xor.b32 %rank0, %rank0, %r1;
             and.b32 %r1, %rank1, %carry;
             xor.b32 %rank1, %rank1, %carry;
             and.b32 %carry, %rank2, %r1;
             xor.b32 %rank2, %rank2, %r1;
             and.b32 %r1, %rank3, %carry;
             xor.b32 %rank3, %rank3, %carry;
             xor.b32 %rank4, %rank4, %r1;\n"
        );
        text.push_str(&piece);
    }
    text.push_str(
        "ranked:
         mov.b32 %whole_turn, 2;
         shl.b32 %whole_turn, %whole_turn, %last;
         sub.u32 %whole_turn, %whole_turn, 1;
         mov.b32 %most, 0;
         mov.b32 %passes, 0;
         next_turn:
         mov.b32 %most_of_turn, 1;
         and.b32 %turn, %firsts, %whole_turn;
         setp.eq.b32 %same, %turn, 0;
         @%same bra counted;\n",
    );
    for bit in (0..5).rev() {
        // The lanes that have the bit in their count, if there are any.
        let _ = write!(
            text,
            "and.b32 %r1, %turn, %rank{bit};
             setp.ne.b32 %same, %r1, 0;
             selp.b32 %turn, %r1, %turn, %same;
             selp.b32 %r1, {}, 0, %same;
             add.u32 %most_of_turn, %most_of_turn, %r1;\n",
            1 << bit
        );
    }
    text + "max.u32 %most, %most, %most_of_turn;
        add.u32 %passes, %passes, %most_of_turn;
        counted:
        add.u32 %r1, %last, 1;
        shl.b32 %whole_turn, %whole_turn, %r1;
        setp.ne.b32 %same, %whole_turn, 0;
        @%same bra next_turn;
        }"
}
