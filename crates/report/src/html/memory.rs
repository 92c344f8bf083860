//! Pictures of the memory that a finding is about, and of the threads that it names.

use std::fmt::Write;

use super::markup::text;
use crate::finding::{AccessedObject, Dim, Finding, dim};
use crate::plural::plural;

/// Where the object begins and ends, in percent of the picture: what is before and after it has the rest.
const BEGIN: f64 = 18.0;
const END: f64 = 78.0;
/// Lanes of a warp: a row of the picture.
const LANES: u64 = 32;
/// No block has more threads.
const MOST_THREADS: u64 = 1024;

/// An object as a bar, with the access in it or beside it. What is far away is drawn at the edge.
pub(super) fn object(object: &AccessedObject) -> String {
    let AccessedObject { name, bytes, offset, accessed, is_freed } = object;
    let scale = (END - BEGIN) / (*bytes).max(1) as f64;
    let at = |offset: f64| (BEGIN + offset * scale).clamp(1.0, 97.0);
    let (from, to) = (at(*offset as f64), at(*offset as f64 + *accessed as f64));
    let width = (to - from).max(0.8);
    let end = i64::try_from(*bytes).unwrap_or(i64::MAX);
    let place = match *offset {
        before if before < 0 => format!("{} before it", plural(before.unsigned_abs(), "byte")),
        at if at < end => format!("at offset {at}"),
        at if at == end => "just past its end".to_owned(),
        past => format!("{} past its end", plural((past - end).unsigned_abs(), "byte")),
    };
    let inside = if (0..end).contains(offset) { " inside" } else { "" };
    let (state, freed) = if *is_freed { (" freed", ", which was freed") } else { ("", "") };
    let label = text(&format!("{name} of {}", plural(*bytes, "byte")));
    let are = if *accessed == 1 { "is" } else { "are" };
    let caption = format!("{} {are} accessed {place}{freed}", plural(*accessed, "byte"));
    format!(
        "<figure class=\"memory\" role=\"img\" aria-label=\"{caption}\"><div class=\"bar\">\
         <div class=\"object{state}\" style=\"left:{BEGIN}%;width:{}%\">{label}</div>\
         <div class=\"access{inside}\" style=\"left:{from:.2}%;width:{width:.2}%\"></div></div>\
         <div class=\"scale\"><span style=\"left:{BEGIN}%\">0</span><span style=\"left:{END}%\">{bytes}</span></div>\
         <figcaption>{caption}</figcaption></figure>\n",
        END - BEGIN
    )
}

/// The block of the first occurrence with its warps, a row for each, and in them the threads that the finding names.
pub(super) fn threads(finding: &Finding) -> String {
    let Some(first) = &finding.first else { return String::new() };
    let threads = first.block_size.iter().fold(1_u64, |product, &size| product.saturating_mul(size.into()));
    if threads == 0 || threads > MOST_THREADS {
        return String::new();
    }
    let rows = threads.div_ceil(LANES);
    let mut cells = String::new();
    let mut cell = |class: &str, from: u64, count: u64| {
        let (left, top) = ((from % LANES) as f64 * 100.0 / LANES as f64, (from / LANES) as f64 * 100.0 / rows as f64);
        let (width, height) = (count as f64 * 100.0 / LANES as f64, 100.0 / rows as f64);
        let _ = write!(
            cells,
            "<i class=\"{class}\" style=\"left:{left:.3}%;top:{top:.3}%;width:{width:.3}%;height:{height:.3}%\"></i>"
        );
    };
    if threads % LANES != 0 {
        cell("off", threads, LANES - threads % LANES);
    }
    let number = |thread: Dim| {
        let [x, y, z] = thread.map(u64::from);
        let [width, height, _] = first.block_size.map(u64::from);
        let number = x + width * (y + height * z);
        (x < width && y < height && number < threads).then_some(number)
    };
    let mut named = Vec::new();
    let mut mine = String::new();
    if let [other, own] = &finding.accesses[..]
        && other.launch == first.launch
        && other.block == Some(first.block)
        && let Some(thread) = other.thread
        && let Some(at) = number(thread)
    {
        cell("other", at, 1);
        named.push(format!("<b class=\"other\"></b> {} by thread {}", text(&other.what), dim(thread)));
        mine = format!("{} by ", text(&own.what));
    }
    let Some(at) = number(first.thread) else { return String::new() };
    cell("first", at, 1);
    named.push(format!(
        "<b class=\"first\"></b> {mine}thread {}, lane {} of warp {}",
        dim(first.thread),
        at % LANES,
        at / LANES
    ));
    let blocks = first.grid_size.iter().fold(1_u64, |product, &size| product.saturating_mul(size.into()));
    let caption = format!("{} in block {} of {blocks}", named.join(", "), dim(first.block));
    format!(
        "<figure class=\"threads\"><div class=\"warps\" style=\"--rows:{rows}\">{cells}</div><figcaption>{caption}<br>\
         a row is a warp, a cell a thread</figcaption></figure>\n"
    )
}
