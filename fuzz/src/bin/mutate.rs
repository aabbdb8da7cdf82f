//! `cargo run --release --no-default-features --bin mutate -- TARGET|all [COUNT] [FIRST]`, in
//! fuzz/: runs the targets over mutations of the corpus, on stable Rust. An input is determined by
//! its number alone: after a crash, `FIRST` reproduces it.

use std::any::Any;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 3] = [
    ("canonical", agent_rewind_fuzz::canonical),
    ("snapshot", agent_rewind_fuzz::snapshot),
    ("restore", agent_rewind_fuzz::restore),
];

/// Less than any thread of Node.js has, so that recursion over data shows.
const STACK: usize = 512 * 1024;

const LONGEST: usize = 64 * 1024;

/// Tokens with a meaning for a reader of JSON, snapshots or traces.
const WORDS: [&str; 48] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\n",
    "null",
    "true",
    "-0",
    "1e400",
    "-1",
    "0.1e-7",
    "9007199254740993",
    "\"\\ud83d\"",
    "\\u0000",
    "\"__proto__\":{},",
    "{}",
    "[]",
    "\"\"",
    "\u{feff}",
    "\"root\"",
    "\"calls\":[],",
    "\"children\":{},",
    "\"journal\":",
    "\"contentHash\":\"\",",
    "\"state\":{\"status\":\"failed\"},",
    "\"endOrder\":0,",
    "\"startOrder\":18446744073709551615,",
    "\"row\":true,",
    "\"base\":0,",
    "\"add\":[0],",
    "\"requestTexts\":[1],",
    "\"generations\":[],",
    "\"type\":\"agent:start\",",
    "\"type\":\"agent:end\",",
    "\"type\":\"generation:start\",",
    "\"type\":\"turn:end\",",
    "\"type\":\"tools:execute:end\",",
    "\"type\":\"runWith:start\",",
    "\"parentSpanId\":\"\",",
    "\"_seq\":0,",
    "\"timestamp\":1e308,",
    "\"cache\":true,",
    "\"success\":false,",
    "\u{2028}",
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let wanted = args.next().unwrap_or_else(|| "all".to_owned());
    let mut number = |default: u64| args.next().map_or(Ok(default), |text| text.parse());
    let (Ok(count), Ok(first)) = (number(1_000_000), number(0)) else {
        eprintln!("COUNT and FIRST are numbers");
        return ExitCode::FAILURE;
    };
    let targets: Vec<Target> = TARGETS
        .into_iter()
        .filter(|(name, _)| wanted == "all" || wanted == *name)
        .collect();
    if targets.is_empty() {
        eprintln!("there is no target {wanted}: give canonical, snapshot, restore or all");
        return ExitCode::FAILURE;
    }
    for target in targets {
        let ran = thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || run(target, first, count))
            .map(thread::JoinHandle::join);
        match ran {
            Ok(Ok(true)) => {}
            _ => return ExitCode::FAILURE,
        }
    }
    ExitCode::SUCCESS
}

/// True if all inputs were survived. An input that was not is kept in artifacts/.
fn run((name, target): Target, first: u64, count: u64) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = seeds(&folder.join("corpus").join(name));
    for number in first..first + count {
        // Progress, because a stack overflow ends the process before anything can be reported.
        if number % 100_000 == 0 {
            println!("{name}: from {number}");
        }
        let input = mutated(&corpus, number);
        if let Err(panic) = catch_unwind(|| target(&input)) {
            let artifacts = folder.join("artifacts").join(name);
            let file = artifacts.join(format!("mutation-{number}"));
            let kept = fs::create_dir_all(&artifacts).and_then(|()| fs::write(&file, &input));
            eprintln!("{name}: input {number}: {}", text_of(&*panic));
            eprintln!("kept as {}: {kept:?}", file.display());
            return false;
        }
    }
    println!("{name}: {count} inputs from {first}, none crashed");
    true
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it panicked")
}

/// The files of a folder, ordered by name.
fn seeds(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths
        .iter()
        .filter_map(|path| fs::read(path).ok())
        .collect();
    assert!(!seeds.is_empty(), "{} is empty", folder.display());
    seeds
}

fn mutated(corpus: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let mut input = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(6) {
        mutate(&mut input, corpus, &mut random);
    }
    input.truncate(LONGEST);
    input
}

fn mutate(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    let end = at + random.below((input.len() - at).min(64) + 1);
    match random.below(10) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 if at < input.len() => input[at] = u8::try_from(random.below(256)).unwrap_or(0),
        2 => drop(input.drain(at..end)),
        3 => input.truncate(at),
        4 => {
            let piece = input[at..end].to_vec();
            let to = random.below(input.len() + 1);
            drop(input.splice(to..to, piece));
        }
        5 => {
            let other = &corpus[random.below(corpus.len())];
            let from = random.below(other.len() + 1);
            let piece = &other[from..from + random.below((other.len() - from).min(512) + 1)];
            drop(input.splice(at..at, piece.iter().copied()));
        }
        6 => swap_lines(input, random),
        7 => nest(input, at, random),
        // Inserts or replaces a token.
        choice => {
            let word = WORDS[random.below(WORDS.len())].bytes();
            let to = if choice == 8 {
                token_end(input, at)
            } else {
                at
            };
            drop(input.splice(at..to, word));
        }
    }
}

fn token_end(input: &[u8], at: usize) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-+._".contains(byte);
    at + input[at..].iter().take_while(|byte| is_word(byte)).count()
}

fn swap_lines(input: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let (left, right) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(3) {
        0 => lines.swap(left, right),
        1 => drop(lines.remove(left)),
        _ => lines.insert(right, lines[left]),
    }
    *input = lines.join(&b'\n');
}

/// Replaces a value by many levels of brackets.
fn nest(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let levels = [3, 100, 999, 1000, 1001, 20_000][random.below(6)];
    let (open, close) = [("[", "]"), ("{\"a\":", "}")][random.below(2)];
    let text =
        open.repeat(levels) + "1" + &close.repeat(if random.below(4) == 0 { 0 } else { levels });
    drop(input.splice(at..token_end(input, at), text.bytes()));
}

/// SplitMix64: the same inputs on every machine.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `bound`, exclusive.
    fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from(self.next() % bound).unwrap_or(0)
    }
}
