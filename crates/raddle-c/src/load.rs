//! Loads a program into this process.
//!
//! Each load is a copy of its own: the file has a name of its own and is removed as soon as it is mapped.
//! Constructors must not run while it is loaded, since they are code of the program, with hooks and calls
//! of library functions: they are taken out of the file's list of things to do first, and run by the
//! program's main thread before `main`.

use std::ffi::{CStr, CString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use object::read::elf::{Dyn, ElfFile64, ProgramHeader};
use object::{LittleEndian, Object as _, ObjectSymbol, SymbolKind, elf};

use crate::compile::Object;
use crate::cpp_functions;
use crate::error::Error;
use crate::guide::Guide;
use crate::joined;
use crate::libc_functions::GUARDED;
use crate::switch::{self, Frame};

/// A variable or function of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Symbol {
    pub(crate) start: usize,
    pub(crate) size: usize,
    pub(crate) name: String,
}

/// The initial contents of a thread's thread-local variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadLocals {
    pub(crate) image: Vec<u8>,
    /// How large they are; what is beyond the image is zero.
    pub(crate) size: usize,
}

/// A program in memory.
pub(crate) struct Module {
    handle: *mut libc::c_void,
    /// The difference between addresses in memory and in the file.
    pub(crate) base: usize,
    /// The file.
    pub(crate) bytes: Vec<u8>,
    pub(crate) main: usize,
    pub(crate) constructors: Vec<usize>,
    /// Where the memory is that holds the program's variables, and what of it does not: it may be empty.
    pub(crate) globals: (usize, usize),
    pub(crate) hole: (usize, usize),
    /// Where its code and constants are.
    pub(crate) constants: (usize, usize),
    /// Its variables, by address.
    pub(crate) variables: Vec<Symbol>,
    pub(crate) thread_locals: ThreadLocals,
    /// The stub's variable for the frame of the thread that runs.
    pub(crate) current: *mut *mut Frame,
    /// The functions that it calls and nobody models.
    pub(crate) refused: Vec<String>,
    /// Whether its threads may have memory of libraries that are not linked in, which we do not see.
    pub(crate) keeps_elsewhere: bool,
    /// The stub's variables for threads and for the end of the program.
    pub(crate) threads: usize,
    pub(crate) exits: usize,
    /// The stub, if it is an object of its own.
    pub(crate) stub: Option<Box<Module>>,
    pub(crate) guide: Option<Guide>,
}

pub(crate) type File<'a> = ElfFile64<'a, LittleEndian>;

/// Where things are in the file.
pub(crate) struct Plan {
    /// The first address and the number of constructors.
    constructors: (u64, u64),
    globals: (u64, u64),
    end: u64,
    thread_locals: ThreadLocals,
}

impl Module {
    /// Loads a program.
    pub(crate) fn load(object: Object) -> Result<Self, Error> {
        let Object { mut bytes, refused, user, guide } = object;
        let plan = plan(&bytes)?;
        remove_constructors(&mut bytes)?;
        let handle = open(&bytes)?;
        let file = parse(&bytes)?;
        let address = |name: &str| {
            let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
            symbol.map(|symbol| symbol.address() as usize)
        };
        let current = find(handle, c"raddle_current");
        let base = current - address("raddle_current").unwrap_or(0);
        let at = |address: u64| base + address as usize;
        let mut variables = variables(&file, base);
        variables.sort();
        // SAFETY: these are variables of the stub, one of them an array as long as the list.
        unsafe {
            *(find(handle, c"raddle_to_host") as *mut usize) =
                switch::to_host as *const () as usize;
            *(find(handle, c"raddle_to_shim") as *mut usize) =
                switch::to_shim as *const () as usize;
            let real = find(handle, c"raddle_real") as *mut usize;
            for (number, name) in GUARDED.iter().enumerate() {
                *real.add(number) =
                    find(libc::RTLD_DEFAULT, &CString::new(*name).unwrap_or_default());
            }
        }
        let module = Module {
            handle,
            base,
            main: base + address("main").or(user.is_some().then_some(0)).ok_or(Error::NoMain)?,
            constructors: constructors(&plan, base),
            globals: (at(plan.globals.0), at(plan.globals.1)),
            hole: (0, 0),
            constants: (base, at(plan.end)),
            variables,
            thread_locals: plan.thread_locals,
            current: current as *mut *mut Frame,
            refused,
            keeps_elsewhere: keeps_elsewhere(&file),
            threads: find(handle, c"raddle_threads"),
            exits: find(handle, c"raddle_exits"),
            stub: None,
            guide: None,
            bytes,
        };
        let mut module = match user {
            None => module,
            Some(user) => joined::join(module, user)?,
        };
        module.guide = guide;
        Ok(module)
    }

    /// The user's own object, with its stub.
    pub(crate) fn at(
        handle: *mut libc::c_void,
        base: usize,
        plan: Plan,
        file: &File<'_>,
        main: usize,
        stub: Module,
    ) -> Result<Self, Error> {
        let at = |address: u64| base + address as usize;
        let own = (at(plan.globals.0), at(plan.globals.1));
        let (globals, hole) = joined::both(own, stub.globals)?;
        let mut variables = variables(file, base);
        variables.extend(stub.variables.iter().cloned());
        variables.sort();
        Ok(Module {
            handle,
            base,
            bytes: vec![],
            main: base + main,
            constructors: constructors(&plan, base),
            globals,
            hole,
            constants: (base, at(plan.end)),
            variables,
            thread_locals: plan.thread_locals,
            current: stub.current,
            refused: stub.refused.clone(),
            keeps_elsewhere: keeps_elsewhere(file) || stub.keeps_elsewhere,
            threads: stub.threads,
            exits: stub.exits,
            stub: Some(Box::new(stub)),
            guide: None,
        })
    }

    /// Whether a variable may be at an address.
    #[inline]
    pub(crate) fn is_variable(&self, address: usize) -> bool {
        let ((from, to), hole) = (self.globals, self.hole);
        (from..to).contains(&address) && !(hole.0..hole.1).contains(&address)
    }

    /// The ranges of memory that hold variables.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (usize, usize)> {
        let ((from, to), hole) = (self.globals, self.hole);
        let ranges =
            if hole.0 == hole.1 { [(from, to), (to, to)] } else { [(from, hole.0), (hole.1, to)] };
        ranges.into_iter().filter(|range| range.0 < range.1)
    }

    /// The variable at an address.
    pub(crate) fn variable(&self, address: usize) -> Option<&Symbol> {
        let after = self.variables.partition_point(|symbol| symbol.start <= address);
        let symbol = &self.variables[after.checked_sub(1)?];
        (address < symbol.start + symbol.size.max(1)).then_some(symbol)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: nobody runs its code any more; its destructors were taken out with its constructors.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// Whether threads of an object may have memory of libraries that are not linked in.
fn keeps_elsewhere(file: &File<'_>) -> bool {
    let mut imported = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    imported.any(|symbol| symbol.name().is_ok_and(cpp_functions::keeps_memory))
}

/// The constructors of an object that is loaded.
fn constructors(plan: &Plan, base: usize) -> Vec<usize> {
    let (first, count) = plan.constructors;
    let first = (base + first as usize) as *const usize;
    if count == 0 {
        return vec![];
    }
    // SAFETY: this is the object's array of constructors, which is relocated.
    unsafe { std::slice::from_raw_parts(first, count as usize) }.to_vec()
}

pub(crate) fn parse(bytes: &[u8]) -> Result<File<'_>, Error> {
    ElfFile64::parse(bytes).map_err(|error| Error::System(format!("not an object: {error}")))
}

fn variables(file: &File<'_>, base: usize) -> Vec<Symbol> {
    let data = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Data);
    let variable = |symbol: object::read::elf::ElfSymbol64<'_, '_, LittleEndian>| {
        let name = symbol.name().ok()?.to_owned();
        let start = base + symbol.address() as usize;
        Some(Symbol { start, size: symbol.size() as usize, name })
    };
    data.filter(|symbol| !symbol.is_undefined()).filter_map(variable).collect()
}

pub(crate) fn plan(bytes: &[u8]) -> Result<Plan, Error> {
    let file = parse(bytes)?;
    let endian = LittleEndian;
    let mut plan = Plan {
        constructors: (0, 0),
        globals: (u64::MAX, 0),
        end: 0,
        thread_locals: ThreadLocals::default(),
    };
    let mut read_only = 0;
    for header in file.elf_program_headers() {
        let (start, size) = (header.p_vaddr(endian), header.p_memsz(endian));
        let end = start + size;
        match header.p_type(endian) {
            elf::PT_LOAD => {
                plan.end = plan.end.max(end);
                if header.p_flags(endian).0 & elf::PF_W.0 != 0 {
                    plan.globals = (plan.globals.0.min(start), plan.globals.1.max(end));
                }
            }
            elf::PT_GNU_RELRO => read_only = end,
            elf::PT_TLS => {
                let image = header.data(endian, bytes).unwrap_or_default().to_vec();
                plan.thread_locals = ThreadLocals { image, size: size as usize };
            }
            _ => {}
        }
    }
    plan.globals.0 = plan.globals.0.max(read_only).min(plan.globals.1);
    for_each_dynamic(bytes, |tag, _, value| match tag {
        elf::DT_INIT_ARRAY => plan.constructors.0 = value,
        elf::DT_INIT_ARRAYSZ => plan.constructors.1 = value / 8,
        _ => {}
    })?;
    Ok(plan)
}

/// Calls the function for every dynamic entry: its tag, where its value is in the file, and the value.
fn for_each_dynamic(
    bytes: &[u8],
    mut see: impl FnMut(elf::DynamicTag, usize, u64),
) -> Result<(), Error> {
    let file = parse(bytes)?;
    let endian = LittleEndian;
    for header in file.elf_program_headers() {
        if header.p_type(endian) != elf::PT_DYNAMIC {
            continue;
        }
        let first = header.p_offset(endian) as usize;
        let entries = header.dynamic(endian, bytes).ok().flatten().unwrap_or_default();
        for (index, entry) in entries.iter().enumerate() {
            see(entry.d_tag(endian), first + 16 * index + 8, entry.d_val(endian));
        }
    }
    Ok(())
}

/// Makes the lists of constructors and destructors empty.
pub(crate) fn remove_constructors(bytes: &mut [u8]) -> Result<(), Error> {
    let mut sizes = vec![];
    for_each_dynamic(bytes, |tag, at, _| {
        if matches!(tag, elf::DT_INIT_ARRAYSZ | elf::DT_FINI_ARRAYSZ) {
            sizes.push(at);
        }
    })?;
    for at in sizes {
        bytes[at..at + 8].fill(0);
    }
    Ok(())
}

pub(crate) fn open(bytes: &[u8]) -> Result<*mut libc::c_void, Error> {
    let io = |error: std::io::Error| Error::System(format!("a temporary file: {error}"));
    let mut file =
        tempfile::Builder::new().prefix("raddle-").suffix(".so").tempfile().map_err(io)?;
    file.write_all(bytes).map_err(io)?;
    let path = CString::new(file.path().as_os_str().as_bytes())
        .map_err(|_| Error::System(String::from("the temporary directory has a strange name")))?;
    // SAFETY: the path is a string. Loading runs no code of the object.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: after a failure there is a message, which is a string.
    let message = unsafe { CStr::from_ptr(libc::dlerror()) };
    Err(Error::System(format!("the program cannot be loaded: {}", message.to_string_lossy())))
}

pub(crate) fn find(handle: *mut libc::c_void, name: &CStr) -> usize {
    // SAFETY: the handle is that of an open object, or stands for all of them.
    unsafe { libc::dlsym(handle, name.as_ptr()) as usize }
}
