//! The initial stack, as the System V ABI has it: arguments, environment, auxiliary vector.

use crate::load::Module;
use raddle_cpu::memory::{Memory, PAGE};

/// 16 fixed bytes, from which the C library derives the stack canary and the pointer guard.
const RANDOM: [u8; 16] = *b"\x5e\x1d\x93\x42\xa7\x0c\x68\xf1\xbd\x2b\x74\x9e\x35\xc8\x06\xda";

/// Keys of the auxiliary vector.
const AT_NULL: u64 = 0;
const AT_PHDR: u64 = 3;
const AT_PHENT: u64 = 4;
const AT_PHNUM: u64 = 5;
const AT_PAGESZ: u64 = 6;
const AT_BASE: u64 = 7;
const AT_FLAGS: u64 = 8;
const AT_ENTRY: u64 = 9;
const AT_UID: u64 = 11;
const AT_EUID: u64 = 12;
const AT_GID: u64 = 13;
const AT_EGID: u64 = 14;
const AT_PLATFORM: u64 = 15;
const AT_HWCAP: u64 = 16;
const AT_CLKTCK: u64 = 17;
const AT_SECURE: u64 = 23;
const AT_RANDOM: u64 = 25;
const AT_EXECFN: u64 = 31;

/// What the initial stack tells the program.
pub(crate) struct StartInfo<'a> {
    pub(crate) executable: &'a Module,
    /// Base of the dynamic linker; 0 for static executables.
    pub(crate) linker_base: u64,
    /// Where the dynamic linker passes control to.
    pub(crate) entry: u64,
    /// Arguments, the name of the program first.
    pub(crate) args: &'a [String],
    /// Variables of the program, as `name=value`.
    pub(crate) variables: &'a [String],
    /// Further variables that only the dynamic linker sees.
    pub(crate) linker_variables: &'a [String],
}

/// Where things are on the initial stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InitialStack {
    /// The initial stack pointer: the address of `argc`.
    pub(crate) pointer: u64,
    /// Address of the pointer to the first variable that only the dynamic linker sees.
    pub(crate) linker_variables: u64,
}

/// Strings from the end of the stack downwards.
struct Strings {
    end: u64,
    bytes: Vec<(u64, Vec<u8>)>,
}

impl Strings {
    fn add(&mut self, bytes: &[u8]) -> u64 {
        self.end -= bytes.len() as u64;
        self.bytes.push((self.end, bytes.to_vec()));
        self.end
    }

    fn add_text(&mut self, text: &str) -> u64 {
        let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0).chain([0]).collect();
        self.add(&bytes)
    }
}

/// Writes the initial stack below `end`. Fails with an address that is not part of the stack.
pub(crate) fn write(
    memory: &mut Memory,
    end: u64,
    info: &StartInfo<'_>,
) -> Result<InitialStack, u64> {
    let mut strings = Strings { end: end - 16, bytes: Vec::new() };
    let name = strings.add_text(&info.executable.file.name);
    let platform = strings.add_text("x86_64");
    let args: Vec<u64> = info.args.iter().map(|text| strings.add_text(text)).collect();
    let all = info.variables.iter().chain(info.linker_variables);
    let variables: Vec<u64> = all.map(|text| strings.add_text(text)).collect();
    let random = strings.add(&RANDOM);
    let mut words = vec![args.len() as u64];
    words.extend(&args);
    words.push(0);
    let first_linker_variable = words.len() + info.variables.len();
    words.extend(&variables);
    words.push(0);
    words.extend(auxiliary(info, name, platform, random));
    let pointer = (strings.end - words.len() as u64 * 8) / 16 * 16;
    for (address, bytes) in &strings.bytes {
        memory.write_initial(*address, bytes)?;
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write_initial(pointer, &bytes)?;
    Ok(InitialStack { pointer, linker_variables: pointer + first_linker_variable as u64 * 8 })
}

fn auxiliary(info: &StartInfo<'_>, name: u64, platform: u64, random: u64) -> Vec<u64> {
    let Module { file, base, .. } = info.executable;
    let entries = [
        (AT_PHDR, base + file.headers_address()),
        (AT_PHENT, file.headers.entry_size),
        (AT_PHNUM, file.headers.count),
        (AT_PAGESZ, PAGE),
        (AT_BASE, info.linker_base),
        (AT_FLAGS, 0),
        (AT_ENTRY, info.entry),
        (AT_UID, 1000),
        (AT_EUID, 1000),
        (AT_GID, 1000),
        (AT_EGID, 1000),
        (AT_SECURE, 0),
        (AT_CLKTCK, 100),
        (AT_HWCAP, 0),
        (AT_PLATFORM, platform),
        (AT_RANDOM, random),
        (AT_EXECFN, name),
        (AT_NULL, 0),
    ];
    entries.iter().flat_map(|entry| [entry.0, entry.1]).collect()
}
