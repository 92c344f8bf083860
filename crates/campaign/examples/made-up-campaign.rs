//! `made-up-campaign DIR ROWS`: a campaign whose rows nobody has tried, as large as one likes, to measure reading and writing.

use std::path::Path;

use campaign::{Manifest, Row, Store, encode};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, directory, rows] = &arguments[..] else { return Err("made-up-campaign DIR ROWS".into()) };
    let mut manifest = Manifest::parse(include_bytes!("../tests/manifest.json"))?;
    manifest.trials = rows.parse::<u64>()? / manifest.cells();
    manifest.part = 10_000;
    let store = Store::create(Path::new(directory), &manifest)?;
    for number in 0..manifest.parts() {
        let part = manifest.part(number);
        let rows: Vec<Row> =
            part.rows().zip(part.first..).map(|(row, trial)| made_up(&manifest, number, row, trial)).collect();
        store.write(number, &encode(&manifest, &rows)?)?;
    }
    Ok(())
}

/// As varied as rows of a real campaign are.
fn made_up(manifest: &Manifest, number: u64, row: u64, trial: u64) -> Row {
    let part = manifest.part(number);
    let random = (trial + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let random = random ^ random >> 29;
    let unprotected = ["masked", "sdc", "fault", "hang", "never-read"][(random % 5) as usize];
    let is_protected = manifest.variants[part.variant] != "none";
    let outcome = if is_protected && unprotected == "sdc" { "detected" } else { unprotected };
    let note = if outcome == "sdc" { format!("an allocation, offset {}", random >> 40) } else { String::new() };
    Row {
        row,
        kernel: manifest.strata[part.stratum].kernel.clone(),
        model: manifest.strata[part.stratum].model.clone(),
        variant: manifest.variants[part.variant].clone(),
        trial,
        launch: 1 + random % 4,
        thread: random >> 44,
        place: random % 97,
        thread_name: format!("block ({},0,0) thread ({},0,0)", random >> 52, random % 256),
        file: "saxpy.cu".to_owned(),
        line: 7 + random % 3,
        ptx_line: 40 + random % 20,
        instruction: format!("fma.rn.f32 %f{}, %f2, %f1, %f3;", random % 20),
        bit: Some((random % 32) as u32),
        before: random >> 32,
        after: random >> 32 ^ 1 << (random % 32),
        unprotected: unprotected.to_owned(),
        outcome: outcome.to_owned(),
        note,
    }
}
