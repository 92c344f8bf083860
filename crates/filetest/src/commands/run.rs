//! `run`: launches kernels as the lines `//@ run …` say (see [`scenario`](crate::scenario)) and shows what they leave in
//! memory. Every engine must leave the same.

use anyhow::{Context, Result, bail, ensure};
use ptx::ir::{Function, Module, Param};

use crate::engine::{Ending, Engine, engines, older_processor};
use crate::scenario::{Argument, Buffer, LaunchLine, Scenario};
use crate::testfile::TestFile;
use crate::value::print_elements;

pub(super) fn run(file: &TestFile) -> Result<String> {
    let module = super::parse_clean(file)?;
    if let Some(diagnostic) = ptx::verify(&module).first() {
        bail!("{}", diagnostic.render("input", &file.input, &module.lines, false));
    }
    let scenario = Scenario::parse(&file.input)?;
    let mut engines = engines().into_iter().chain(older_processor());
    let oracle = engines.next().expect("the interpreter is the first engine");
    let expected = play(&*oracle, &module, &scenario).with_context(|| oracle.name())?;
    // `ENGINES=interpreter` leaves out all whose name does not begin so.
    let wanted = std::env::var("ENGINES").unwrap_or_default();
    for engine in engines {
        let is_wanted = engine.name().starts_with(&wanted) && engine.name().starts_with(&scenario.only);
        if !is_wanted
            || !engine.suits(&module, &scenario)
            || scenario.schedule_matters && !engine.schedules_like_interpreter()
        {
            continue;
        }
        let found = play(&*engine, &module, &scenario).with_context(|| engine.name())?;
        compare(&scenario, &expected, &found)
            .with_context(|| format!("{} against {}", engine.name(), oracle.name()))?;
    }
    Ok(print(&scenario, &expected))
}

pub(super) fn agrees(file: &TestFile, engine: &dyn Engine) -> Result<()> {
    let module = super::parse_clean(file)?;
    let scenario = Scenario::parse(&file.input)?;
    let oracle = engines().into_iter().next().expect("the interpreter is the first engine");
    let expected = play(&*oracle, &module, &scenario).with_context(|| oracle.name())?;
    let found = play(engine, &module, &scenario).with_context(|| engine.name())?;
    compare(&scenario, &expected, &found).with_context(|| format!("{} against {}", engine.name(), oracle.name()))
}

/// What a scenario leaves.
#[derive(Debug)]
pub(crate) struct Left {
    /// How each launch ended; those after a fault did not take place.
    pub(crate) endings: Vec<Ending>,
    pub(crate) buffers: Vec<Vec<u8>>,
}

pub(crate) fn play(engine: &dyn Engine, module: &Module, scenario: &Scenario) -> Result<Left> {
    let mut device = engine.load(module)?;
    let mut addresses = Vec::new();
    for buffer in &scenario.buffers {
        let address = device.allocate(buffer.initial.len() as u64, 256)?;
        device.write(address, &buffer.initial)?;
        addresses.push(address);
    }
    let mut endings = Vec::new();
    for line in &scenario.launches {
        let function =
            module.function(&line.kernel).with_context(|| format!("there is no kernel `{}`", line.kernel))?;
        let params = params(&module.functions[function], line, &addresses)?;
        let LaunchLine { kernel, grid, block, shared, .. } = line;
        let launch = interp::Launch { kernel, grid: *grid, block: *block, dynamic_shared: *shared, params: &params };
        endings.push(device.launch(&launch)?);
        if let Some(Ending::Fault(..)) = endings.last() {
            break;
        }
    }
    let read = |(buffer, &address): (&Buffer, &u64)| device.read(address, buffer.initial.len() as u64);
    let buffers = scenario.buffers.iter().zip(&addresses).map(read).collect::<Result<_>>()?;
    Ok(Left { endings, buffers })
}

/// The parameters as the kernel lays them out.
fn params(function: &Function, line: &LaunchLine, addresses: &[u64]) -> Result<Vec<u8>> {
    ensure!(
        function.params.len() == line.args.len(),
        "`{}` has {} parameters, but {} arguments are given",
        line.kernel,
        function.params.len(),
        line.args.len()
    );
    let mut bytes = Vec::new();
    for (param, arg) in function.params.iter().zip(&line.args) {
        let Param::Var(var) = param else { bail!("a parameter in a register") };
        let variable = &function.vars[*var];
        let value = match arg {
            Argument::Buffer(index) => addresses[*index].to_le_bytes().to_vec(),
            Argument::Value(bytes) => bytes.clone(),
        };
        ensure!(variable.size() == Some(value.len() as u64), "an argument of {} bytes does not fit", value.len());
        bytes.resize(bytes.len().next_multiple_of(variable.alignment() as usize), 0);
        bytes.extend(value);
    }
    Ok(bytes)
}

pub(crate) fn compare(scenario: &Scenario, expected: &Left, found: &Left) -> Result<()> {
    for (left, right) in expected.endings.iter().zip(&found.endings) {
        let agree = match (left, right) {
            (Ending::Fault(left, _), Ending::Fault(right, _)) => left == right,
            (left, right) => left == right,
        };
        ensure!(agree, "expected {left:?}, found {right:?}");
    }
    for (buffer, (left, right)) in scenario.buffers.iter().zip(expected.buffers.iter().zip(&found.buffers)) {
        let (left, right) = (buffer.element.elements(left), buffer.element.elements(right));
        let differs = |&index: &usize| !buffer.element.agree(left[index], right[index], buffer.tolerance);
        if let Some(index) = (0..left.len()).find(differs) {
            let (left, right) = (left[index], right[index]);
            bail!(
                "{}[{index}] is {} ({right:#x}), expected {} ({left:#x})",
                buffer.name,
                buffer.element.print(right),
                buffer.element.print(left)
            );
        }
    }
    Ok(())
}

/// Outputs, inputs that were changed, what was printed, and faults. After a fault memory is nobody's business.
fn print(scenario: &Scenario, left: &Left) -> String {
    let mut text = String::new();
    for ending in &left.endings {
        match ending {
            Ending::Done(output) => {
                for line in output.lines() {
                    text += &format!("printed: {line}\n");
                }
            }
            Ending::Fault(_, words) => return text + &format!("fault: {words}\n"),
        }
    }
    for (buffer, bytes) in scenario.buffers.iter().zip(&left.buffers) {
        if !buffer.is_input || *bytes != buffer.initial {
            let words: Vec<String> =
                buffer.element.elements(bytes).into_iter().map(|bits| buffer.element.print(bits)).collect();
            text += &print_elements(&buffer.name, &words);
        }
    }
    text
}
