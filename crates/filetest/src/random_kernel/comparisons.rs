//! Kernels whose threads read some numbers of a buffer and may replace their own, as data decides.

use super::RandomKernel;
use super::choose::Choose;

/// A kernel that compares numbers, for a seed. Whether it races depends on what its buffer holds.
pub fn generate_comparisons(seed: u64) -> RandomKernel {
    let mut choose = Choose::new(seed ^ 0xc0de_0a5e);
    let block = choose.pick(&[[32, 1, 1], [16, 1, 1], [8, 4, 1], [4, 4, 2], [7, 3, 1], [64, 1, 1]]);
    let grid = choose.pick(&[[1, 1, 1], [2, 1, 1], [2, 3, 1], [4, 2, 1], [1, 5, 1]]);
    let width = block[0] * grid[0];
    let rows: u32 = block[1] * block[2] * grid[1];
    let all = width * rows;
    let element = choose.pick(&[4, 4, 4, 8, 2]);
    let mut lines: Vec<String> = Vec::new();
    let mut reads = 0;
    for number in 0..choose.between(1, 4) {
        // Where, as multiples of row and column of the thread and a constant; in the buffer whatever these are.
        let (row, column, any) = (choose.below(rows), choose.below(width), choose.below(all));
        let beside = choose.pick(&[0, 1, width]);
        let place = choose.pick(&[
            (0, 1, row * width),
            (width, 0, column),
            (0, 0, any),
            (width, 1, beside),
            (1, 0, column),
            (0, 2, 0),
        ]);
        let (of_row, of_column, constant) = place;
        lines.push(format!("mad.lo.u32 %at, %row, {of_row}, {constant};"));
        lines.push(format!("mad.lo.u32 %at, %column, {of_column}, %at;"));
        lines.push(format!("mad.wide.u32 %rd, %at, {element}, %a;"));
        let read = format!("ld.global.u{} %v{number}, [%rd];", element * 8);
        let (bound, label) = (choose.below(rows.max(width)), format!("L{number}"));
        let data = choose.pick(&["lt", "gt"]);
        lines.extend(match choose.below(10) {
            // All threads; those whose indices say so; those that data decides.
            0..5 => vec![read],
            5 => vec![format!("setp.lt.u32 %p, %row, {bound};"), format!("@%p {read}")],
            6 => vec![
                format!("setp.ge.u32 %p, %column, {bound};"),
                format!("@%p bra {label};"),
                read,
                format!("{label}:"),
            ],
            7 => vec![format!("setp.ge.u32 %p, %column, {bound};"), "@%p exit;".to_owned(), read],
            8 => vec![format!("setp.{data}.u32 %p, %low, 9;"), format!("@%p bra {label};"), read, format!("{label}:")],
            _ => vec![read, format!("setp.{data}.u32 %p, %low, 9;"), format!("@%p exit;")],
        });
        lines.push(format!("cvt.u32.u{} %low, %v{number};", element * 8));
        lines.push("add.u32 %sum, %sum, %low;".to_owned());
        reads += 1;
    }
    let own = choose.pick(&["%own", "%own", "%own", "%own", "%a"]);
    let write = match choose.below(8) {
        0 => format!("red.global.add.u32 [{own}], 1;"),
        1 => format!("st.relaxed.gpu.global.u{} [{own}], %v0;", element * 8),
        _ => format!("st.global.u{} [{own}], %v0;", element * 8),
    };
    // Of 256 values, so few are met.
    let rarely = choose.pick(&[0, 1, 8, 250]);
    lines.push("and.b32 %low, %sum, 255;".to_owned());
    lines.push(format!("setp.ge.u32 %p, %low, {rarely};"));
    if choose.percent(50) {
        lines.push(format!("@!%p {write}"));
    } else {
        lines.extend(["@%p bra END;".to_owned(), write, "END:".to_owned()]);
    }
    let body = lines.join("\n    ");
    let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
    // So that reads beside the own number stay inside.
    let bytes = (2 * all + 2 * width) * element;
    let text = format!(
        "//@ test: run
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a)
{{
    .reg .pred %p; .reg .b32 %row, %column, %at, %low, %sum, %r<9>; .reg .b64 %rd, %a, %own; .reg .b{} %v<{reads}>;
    ld.param.u64 %a, [a];
    cvta.to.global.u64 %a, %a;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %tid.z;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ctaid.y;
    mad.lo.u32 %column, %r4, {bx}, %r1;
    mad.lo.u32 %row, %r3, {by}, %r2;
    mad.lo.u32 %row, %r5, {}, %row;
    mad.lo.u32 %at, %row, {width}, %column;
    mad.wide.u32 %own, %at, {element}, %a;
    mov.u32 %low, 5;
    mov.u32 %sum, 0;
    {body}
    ret;
}}
//@ run k: grid={gx}x{gy}x{gz} block={bx}x{by}x{bz} args=a:b8[{bytes}]=random({seed})
",
        element * 8,
        by * bz,
    );
    RandomKernel { text, grid, block, dynamic_shared: 0, buffers: vec![("a", bytes)], instructions: lines.len() }
}
