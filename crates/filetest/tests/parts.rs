//! Most test kernels with several blocks can be run by parts of their grid; so there is something that the engines which do
//! so compare with the whole.

use std::path::Path;

use filetest::engine::engines;
use filetest::scenario::Scenario;

#[test]
fn test_files_run_by_parts_of_their_grids() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/run");
    let engines = engines();
    let halves = engines.iter().find(|engine| engine.name().contains("halves")).expect("there is such an engine");
    let (mut with_blocks, mut by_parts) = (0, 0);
    for file in filetest::files::find_files(&[directory], "ptx").expect("the test files can be listed") {
        let text = std::fs::read_to_string(&file).expect("a test file can be read");
        let Ok(scenario) = Scenario::parse(&text) else { continue };
        with_blocks += u32::from(scenario.launches.iter().any(|launch| launch.grid.iter().product::<u32>() > 1));
        by_parts += u32::from(halves.suits(&ptx::parse(&text).module, &scenario));
    }
    assert!(by_parts >= 8 && 2 * by_parts >= with_blocks, "{by_parts} of {with_blocks} files are run by parts");
}
