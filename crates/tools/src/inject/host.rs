//! The tool in a process: which launches have trials, and what their threads are told.

use std::sync::Arc;
use std::time::Duration;

use report::{Finding, Place};
use rewrite::KernelVersion;
use rewrite::context::Record;
use toolkit::{Evidence, Flag, FlagValue, Host, Instance, LaunchView, Options, Plan, Words};

use super::kept::Kept;
use super::model::Model;
use super::plan::{ProfilePlan, TrialPlan};
use super::population::Population;
use super::random::Numbers;
use super::register_file::RegisterFile;
use super::shared::{Armed, Campaign, Shared, Struck, Trial};
use super::version::{LANES, PLAIN, PROFILE};
use super::{ARMED, ARMS, COUNTED, COUNTS, FIRST, KEEPS, LANE, LANES_OF_UNIT, STRATUM, TOGGLES, TOOL, UNIT};

const MODEL: Flag = Flag {
    name: "model",
    help: "What goes wrong",
    value: Some(FlagValue { name: "MODEL", default: "single-bit", check: check_model }),
};

const FAULT_SEED: Flag = Flag {
    name: "fault-seed",
    help: "What trials are made from",
    value: Some(FlagValue { name: "N", default: "0", check: check_number }),
};

const FIRST_TRIAL: Flag = Flag {
    name: "first",
    help: "The number of the first trial",
    value: Some(FlagValue { name: "N", default: "0", check: check_number }),
};

const TRIALS: Flag = Flag {
    name: "trials",
    help: "How many trials; none to count places",
    value: Some(FlagValue { name: "N", default: "0", check: check_number }),
};

const PLACES: Flag = Flag {
    name: "places",
    help: "How many places each launch has: COUNTxLAUNCHES, …",
    value: Some(FlagValue { name: "PLACES", default: "", check: check_places }),
};

const PROTECTED: Flag = Flag {
    name: "protected",
    help: "Faults that corrupt something strike what other tools make of the kernel, too",
    value: None,
};

const ALWAYS: Flag =
    Flag { name: "always", help: "All faults strike what other tools make of the kernel, too", value: None };

const ALONE_KNOWN: Flag = Flag {
    name: "alone-known",
    help: "It is known what faults do to the kernel as it is: they strike only what other tools make of it",
    value: None,
};

const STAYS: Flag = Flag { name: "stays", help: "The program goes on with what the fault left behind", value: None };

const FOLLOWS: Flag = Flag {
    name: "follows",
    help: "Faults that change something are followed to the end of the program, in a process that is forked for each and may \
           take so many milliseconds; 0 if none is",
    value: Some(FlagValue { name: "N", default: "0", check: check_number }),
};

const ON_CALLER: Flag = Flag { name: "on-caller", help: "Launches run on the thread that asks for them", value: None };

const PATIENCE: Flag = Flag {
    name: "patience",
    help: "A thread that executes so many times as many instructions as it should hangs",
    value: Some(FlagValue { name: "N", default: "10", check: check_number }),
};

pub(super) const FLAGS: &[Flag] = &[
    MODEL,
    FAULT_SEED,
    FIRST_TRIAL,
    TRIALS,
    PLACES,
    PROTECTED,
    ALWAYS,
    ALONE_KNOWN,
    STAYS,
    FOLLOWS,
    ON_CALLER,
    PATIENCE,
];

fn check_model(name: &str) -> Result<(), String> {
    Model::named(name)
        .map(drop)
        .ok_or_else(|| format!("there is no model `{name}`: it is one of {}", super::models().join(", ")))
}

fn check_number(text: &str) -> Result<(), String> {
    text.parse::<u64>().map(drop).map_err(|_| "it is a number".to_owned())
}

fn check_places(text: &str) -> Result<(), String> {
    Population::parse(text).map(drop)
}

/// The tool in a process.
#[derive(Debug)]
pub(super) struct InjectInstance {
    host: Arc<dyn Host>,
    campaign: Campaign,
    /// By their launches.
    trials: Vec<Trial>,
    is_profile: bool,
    runs_on_caller: bool,
    shared: Arc<Shared>,
}

impl InjectInstance {
    pub(super) fn new(options: &Options, host: &Arc<dyn Host>) -> Result<Self, String> {
        let number =
            |flag: &Flag| options.get(flag).parse::<u64>().map_err(|_| format!("--{} is no number", flag.name));
        let model = Model::named(options.get(&MODEL)).ok_or("there is no such model")?;
        if model.needs_protection() && !options.has(&PROTECTED) {
            return Err(format!("{} strikes what another tool inserts, and there is none", model.name()));
        }
        let population = Population::parse(options.get(&PLACES))?;
        let (seed, first, count) = (number(&FAULT_SEED)?, number(&FIRST_TRIAL)?, number(&TRIALS)?);
        let trial = |number: u64| {
            let mut numbers = Numbers::new(seed, model.number(), number);
            let (launch, place) = population.draw(&mut numbers)?;
            Some(Trial { number, launch, place, numbers })
        };
        let mut trials: Vec<Trial> = (first..first.saturating_add(count)).filter_map(trial).collect();
        trials.sort_by_key(|trial| (trial.launch, trial.number));
        let campaign = Campaign {
            model,
            is_protected: options.has(&PROTECTED),
            always: options.has(&ALWAYS),
            stays: options.has(&STAYS),
            follows: Some(Duration::from_millis(number(&FOLLOWS)?)).filter(|limit| !limit.is_zero()),
            patience: number(&PATIENCE)?,
            is_alone_known: options.has(&ALONE_KNOWN),
        };
        let (is_profile, runs_on_caller) = (count == 0, options.has(&ON_CALLER));
        Ok(Self { host: Arc::clone(host), campaign, trials, is_profile, runs_on_caller, shared: Arc::default() })
    }
}

/// Where an instruction is, as the program has it: this version may have other operands.
fn original_place(evidence: &Evidence<'_>) -> Place {
    let Place { instruction_line, kernel, .. } = &evidence.place;
    let place = evidence.sites.place_of_line(evidence.module, *instruction_line, kernel);
    place.filter(|place| !place.instruction.is_empty()).unwrap_or_else(|| evidence.place.clone())
}

impl Instance for InjectInstance {
    fn wants_version(&self, version: usize) -> bool {
        [PLAIN, PROFILE, self.campaign.model.version()].contains(&version)
    }

    fn runs_on_caller(&self) -> bool {
        self.runs_on_caller
    }

    fn words(&self, _launch: &LaunchView<'_>, _version: &KernelVersion, words: &mut Words<'_>) {
        let mut state = self.shared.state();
        for (word, value) in [(FIRST, 0), (ARMED, 0), (COUNTED, 0), (UNIT, u64::MAX), (KEEPS, u64::MAX), (TOGGLES, 0)] {
            words.set(word, value);
        }
        // A tool may run the launch several times: the first counts.
        if let Some(counts) = state.counts.take() {
            words.set(COUNTS, counts.address());
            words.set(COUNTED, counts.words().len() as u64 / 2);
            words.set(STRATUM, state.stratum);
            words.keep(Arc::new(counts));
        }
        let armed = match &state.armed {
            // It passes.
            Some(Armed::Threads { .. }) => state.armed.take(),
            armed => armed.clone(),
        };
        match armed {
            None => {}
            Some(Armed::Threads { first, count, arms }) => {
                words.set(FIRST, first);
                words.set(ARMED, count);
                words.set(ARMS, arms.address());
                words.keep(arms);
            }
            Some(Armed::Lanes(fault)) => {
                words.set(LANE, fault.lane.into());
                words.set(LANES_OF_UNIT, fault.bits_of_lane.into());
                words.set(UNIT, fault.unit.into());
                words.set(KEEPS, fault.keeps);
                words.set(TOGGLES, fault.toggles);
            }
        }
    }

    fn plan(&self, launch: &LaunchView<'_>) -> Option<Box<dyn Plan>> {
        if self.is_profile {
            return Some(Box::new(ProfilePlan::new(&self.host, &self.shared, self.campaign.model, launch)));
        }
        let first = self.trials.partition_point(|trial| trial.launch < launch.number);
        let trials: Vec<Trial> =
            self.trials[first..].iter().take_while(|trial| trial.launch == launch.number).cloned().collect();
        if trials.is_empty() || self.shared.state().is_child {
            return None;
        }
        // Of the kernel as the program has it: what a tool inserts is not hit.
        let of_lanes = launch.versions.iter().filter(|version| version.choice.last() == Some(&LANES));
        let mut units: Vec<u32> =
            of_lanes.flat_map(|version| version.states::<Kept>(TOOL)).flat_map(|kept| kept.units.clone()).collect();
        units.sort_unstable();
        units.dedup();
        Some(Box::new(TrialPlan::new(&self.host, &self.shared, self.campaign, launch, trials, units)))
    }

    fn record(&self, record: &Record, evidence: &Evidence<'_>) -> Option<Finding> {
        use ptx::entity::Id;
        let func = evidence.site.func;
        let function = &evidence.module.functions[func];
        let wants_registers = self.campaign.model == Model::RegisterFile;
        let is_inserted = self.campaign.model.needs_protection();
        let mut state = self.shared.state();
        state.struck.get_or_insert_with(|| Struck {
            place: if is_inserted { evidence.place.clone() } else { original_place(evidence) },
            block: record.block,
            thread: record.thread,
            site: record.site,
            func: func.index() as u32,
            bit: record.what,
            before: record.address,
            after: record.other,
            registers: wants_registers
                .then(|| RegisterFile::of(evidence.module, function, evidence.site.stmt))
                .flatten(),
        });
        None
    }
}
