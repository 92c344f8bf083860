//! What an access makes of the records of a place, and what is said of it: found by launching a kernel whose threads make
//! accesses to many places, each of which had its records before. All ways of running it must agree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use cpu::{Mode, Tier, Width};
use filetest::engine::{CpuDevice, Device, Ending, Engine, Interpreter};
use interp::Config;
use report::{Occurrence, Place, Severity};
use rewrite::context::{MOST_TABLE, MOST_WORDS, Record};
use rewrite::{LaunchShape, SiteId};
use toolkit::objects::Moment;
use toolkit::{CarveoutRequest, Evidence, Host, HostStack, Instance, LaunchDevice, LaunchView};

use crate::definition::{Access, PLACES, Space, Verdict};
use crate::kernel::{BLOCK, Barriers, Checked, GRID, NAME, RECORDS, Setting, WINDOW, list, lists, rewriter};
use crate::process::{Data, Process, Range};

/// The records of a place: of the last write, and of the last read.
pub(crate) type Records = [u64; 2];

/// An access in a part of the kernel, to a place with some records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) records: Records,
    pub(crate) part: usize,
    pub(crate) access: Access,
}

/// What becomes of the records, and what is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub(crate) records: Records,
    pub(crate) verdict: Verdict,
}

/// The bits of a record that say at which instruction it was made, and what the test has there: that of another instruction
/// than those of the kernel. racecheck compares it with nothing but the instruction of an access that conflicts. In the
/// programs of this test, no instruction is executed twice.
const SITES: u64 = 0x7fff;
const ANOTHER_SITE: u64 = 0x7ffe;

fn without_site(record: u64) -> u64 {
    if record == 0 { 0 } else { record & !SITES | ANOTHER_SITE }
}

/// Places in one launch, at most: in shared memory, as many as a block has. An engine lets the interpreter run for so long.
const MOST_GLOBAL: usize = 1 << 14;
const SHARED_BYTES: u32 = 4 << 14;

/// Which ways of running a kernel there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ways {
    /// The CPU device at both widths.
    Widths,
    /// In both tiers, too, and the interpreter.
    All,
}

/// What is said of a record: by what it says, what it conflicts with, and who made the access.
type Said = HashMap<(u32, u64, usize), Verdict>;

/// A way of running the kernel.
struct Way {
    name: String,
    device: Box<dyn Device>,
    instance: Box<dyn Instance>,
    stack: HostStack,
    /// Where granules begin: in global memory, or in each window of shared memory that a block had so far.
    starts: Vec<u64>,
    /// Memory with records, and where those of writes and of reads begin.
    shadowed: Range,
    records: Records,
    lists: u64,
    data: u64,
    tiles: u64,
    context: u64,
    buffer: u64,
    said: Said,
}

/// All ways of running a kernel.
pub(crate) struct Transitions {
    setting: Setting,
    checked: &'static Checked,
    ways: Vec<Way>,
}

fn bytes_of(words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect()
}

fn shape() -> LaunchShape {
    LaunchShape { grid: [GRID, 1, 1], block: [BLOCK, 1, 1], dynamic_shared: SHARED_BYTES, is_cooperative: false }
}

impl Transitions {
    pub(crate) fn new(setting: Setting, ways: Ways) -> Self {
        // Devices refer to their modules, and tests end.
        let checked: &'static Checked = Box::leak(Box::new(Checked::new(setting)));
        let device = |name, width, tier| -> Box<dyn Engine> {
            Box::new(CpuDevice::new(name, Mode { width, tier, threads: 1, ..Mode::default() }))
        };
        let mut engines =
            vec![device("one lane", Width::Thread, Tier::Baseline), device("warp", Width::Warp, Tier::Baseline)];
        if ways == Ways::All {
            engines.push(device("one lane, optimised", Width::Thread, Tier::Optimised));
            engines.push(device("warp, optimised", Width::Warp, Tier::Optimised));
            engines.push(Box::new(Interpreter { name: "interpreter".to_owned(), config: Config::default() }));
        }
        let ways = engines.iter().map(|engine| Way::new(&**engine, checked, setting)).collect();
        Self { setting, checked, ways }
    }

    /// The answers to some questions, in which all ways agree.
    pub(crate) fn ask(&mut self, questions: &[Question]) -> Vec<Answer> {
        let Self { setting, checked, ways } = self;
        let most = match setting.space {
            Space::Global => MOST_GLOBAL,
            Space::Shared => SHARED_BYTES as usize / 4,
        };
        let mut answers = Vec::with_capacity(questions.len());
        for questions in questions.chunks(most) {
            let (first, others) = ways.split_first_mut().expect("there are several ways of running it");
            let agreed = first.ask(checked, setting.barriers, questions);
            for other in others {
                let found = other.ask(checked, setting.barriers, questions);
                for ((question, one), other_one) in questions.iter().zip(&agreed).zip(&found) {
                    assert_eq!(one, other_one, "{} and {} differ: {question:x?}, {setting:?}", first.name, other.name);
                }
            }
            answers.extend(agreed);
        }
        answers
    }
}

impl Way {
    fn new(engine: &dyn Engine, checked: &'static Checked, setting: Setting) -> Self {
        let mut device = engine.load(&checked.module).unwrap();
        let mut allocate = |bytes: u64| device.allocate(bytes, 4096).unwrap();
        let data_bytes = 4 * MOST_GLOBAL as u64;
        let pool_bytes = 4096;
        let entries = 8 * lists(setting.barriers) + 4 * MOST_GLOBAL;
        let (data, lists_at, tiles) = (allocate(data_bytes), allocate(entries as u64), allocate(4096));
        let (context, pool) = (allocate(MOST_TABLE as u64), allocate(pool_bytes));
        let buffer = allocate(RECORDS + 16 * MOST_GLOBAL as u64);
        // A granule of four bytes has 16 bytes of records.
        let plane = allocate(4 * data_bytes);
        // The plain kernel says where shared memory is, more or less: racecheck has some of its own. A device may have another
        // block begin before one ends, at another place.
        let params = bytes_of([lists_at, data, tiles]);
        launch(&mut *device, NAME, &params);
        let tile = words_of(&device.read(tiles, 8).unwrap())[0];
        let shared: Range = (tile & !(WINDOW - 1), 8 * WINDOW);
        let shared_plane = device.allocate(4 * shared.1, 4096).unwrap();

        let process = Arc::new(Process {
            data: Data((data, data_bytes)),
            shared,
            planes: [plane, shared_plane],
            pool: (pool, pool_bytes),
            words: Mutex::default(),
            objects: Mutex::default(),
        });
        let host: Arc<dyn Host> = Arc::clone(&process) as _;
        let options = toolkit::Options::default();
        let instance = tools::tool("racecheck").unwrap().start(&options, &host).unwrap();
        let mut table = vec![0; MOST_WORDS];
        let (mut kept, mut tables, stack) = (Vec::new(), Vec::new(), HostStack::default());
        let view = LaunchView {
            kernel: NAME,
            module: &checked.rewritten.module,
            shape: shape(),
            params: &params,
            layout: &[],
            static_shared: 0,
            carveout: CarveoutRequest::Nothing,
            number: 1,
            stack: &stack,
            device: LaunchDevice::default(),
            order: None,
            versions: &checked.rewritten.kernels[NAME].versions,
            refused: &[],
            sites: Some(&checked.rewritten.sites),
            proofs: None,
        };
        let rewriter = rewriter();
        let mut words = toolkit::Words::new("racecheck", rewriter.layout(), &mut table, &mut kept, &mut tables);
        instance.words(&view, checked.version(), &mut words);
        assert!(tables.is_empty());
        table[rewrite::context::RECORD_BUFFER as usize / 8] = buffer;
        device.write(context, &bytes_of(table)).unwrap();
        for words in process.words.lock().unwrap().iter() {
            let (address, bytes) = words.bytes();
            device.write(address, &bytes).unwrap();
        }
        let (shadowed, plane, starts) = match setting.space {
            Space::Global => ((data, data_bytes), plane, vec![data]),
            Space::Shared => (shared, shared_plane, Vec::new()),
        };
        let records = [plane, plane + 2 * shadowed.1];
        let name = engine.name();
        let said = Said::new();
        Self {
            name,
            device,
            instance,
            stack,
            starts,
            shadowed,
            records,
            lists: lists_at,
            data,
            tiles,
            context,
            buffer,
            said,
        }
    }

    /// Where the record is of what is at an address.
    fn record_of(&self, number: usize, address: u64) -> u64 {
        let (start, bytes) = self.shadowed;
        assert!((start..start + bytes).contains(&address), "{address:x} is not in {:x?}", self.shadowed);
        self.records[number] + 2 * (address - start)
    }

    fn launch(&mut self, checked: &Checked) {
        let params = bytes_of([self.lists, self.data, self.tiles, self.context]);
        launch(&mut *self.device, checked.symbol(), &params);
    }

    fn ask(&mut self, checked: &Checked, barriers: Barriers, questions: &[Question]) -> Vec<Answer> {
        let count = questions.len();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); lists(barriers)];
        for (granule, question) in questions.iter().enumerate() {
            let access = question.access;
            let number = list(question.part, access.operation_number(), access.place_number());
            members[number].push(granule as u32);
        }
        let (mut heads, mut entries) = (Vec::<u32>::new(), Vec::<u32>::new());
        for members in &members {
            heads.extend([entries.len() as u32, members.len() as u32]);
            entries.extend(members);
        }
        let table: Vec<u8> = heads.iter().chain(&entries).flat_map(|word| word.to_le_bytes()).collect();
        self.device.write(self.lists, &table).unwrap();
        // Whoever writes, writes another value than there is.
        self.device.write(self.data, &vec![0; 4 * count]).unwrap();
        let starts = loop {
            for number in 0..2 {
                let bytes = bytes_of(questions.iter().map(|question| question.records[number]));
                for &start in &self.starts {
                    self.device.write(self.record_of(number, start), &bytes).unwrap();
                }
            }
            self.device.write(self.buffer, &bytes_of([self.starts.first().copied().unwrap_or_default()])).unwrap();
            self.device.write(self.buffer + RECORDS, &vec![0; 16 * count]).unwrap();
            self.launch(checked);
            let tiles = words_of(&self.device.read(self.tiles, 8 * u64::from(GRID)).unwrap());
            let starts = if self.shadowed.0 == self.data { vec![self.data; GRID as usize] } else { tiles };
            // A window that had no records is tried again.
            let others: Vec<u64> = starts.iter().copied().filter(|start| !self.starts.contains(start)).collect();
            if others.is_empty() {
                break starts;
            }
            self.starts.extend(others);
            self.starts.dedup();
        };
        let mut read = |number: usize, start: u64| {
            let at = self.record_of(number, start);
            words_of(&self.device.read(at, 8 * count as u64).unwrap())
        };
        let after: Vec<[Vec<u64>; 2]> = starts.iter().map(|&start| [read(0, start), read(1, start)]).collect();
        let said = words_of(&self.device.read(self.buffer + RECORDS, 16 * count as u64).unwrap());
        let answer = |(granule, question): (usize, &Question)| {
            let mut verdict = Verdict::Nothing;
            for (&word, other) in said[2 * granule..2 * granule + 2].iter().zip(question.records) {
                if word != 0 {
                    let what = (word >> 32) as u32;
                    let key = (what, other, question.access.place_number());
                    let instance = &*self.instance;
                    let (number, stack, address) = (self.said.len(), &self.stack, starts[0]);
                    let said = self.said.entry(key);
                    verdict = verdict
                        .max(*said.or_insert_with(|| {
                            verdict_of(instance, checked, number, stack, address, word as u32, key)
                        }));
                }
            }
            let [written, read] = &after[question.access.place().block as usize];
            Answer { records: [written[granule], read[granule]].map(without_site), verdict }
        };
        questions.iter().enumerate().map(answer).collect()
    }
}

fn launch(device: &mut dyn Device, kernel: &str, params: &[u8]) {
    let LaunchShape { grid, block, dynamic_shared, .. } = shape();
    let ending = device.launch(&interp::Launch { kernel, grid, block, dynamic_shared, params }).unwrap();
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
}

/// What racecheck makes of a record. A line of its own for each, because it says everything once.
fn verdict_of(
    instance: &dyn Instance,
    checked: &Checked,
    line: usize,
    launched: &HostStack,
    address: u64,
    site: u32,
    (what, other, place): (u32, u64, usize),
) -> Verdict {
    let who = PLACES[place];
    let (block, thread) = ([who.block, 0, 0], [who.thread, 0, 0]);
    let record = Record { block, thread, site, what, address, other };
    let LaunchShape { grid, block: block_size, .. } = shape();
    let place = Place { instruction_line: line as u32 + 1, ..Place::of_kernel(NAME) };
    let sites = &checked.rewritten.sites;
    let evidence = Evidence {
        site: sites.get(SiteId(site)).expect("it is one of the kernel's"),
        place,
        occurrence: Occurrence { block, thread, grid_size: grid, block_size, launch: 1, address: None },
        count: 1,
        when: Moment { launch: 1, records: 0 },
        module: &checked.rewritten.module,
        shape: shape(),
        launched: launched.frames(),
        device: LaunchDevice::default(),
        sites,
    };
    let finding = instance.record(&record, &evidence).expect("there is a finding for each line");
    match finding.severity {
        Severity::Error => Verdict::Error,
        Severity::Warning => Verdict::Warning,
    }
}
