//! Object files that the user has compiled.
//!
//! What our own pipeline mends in the assembly of a file (`assembly`) cannot be mended in code that is already
//! compiled. But it can be found: the code is disassembled, and if a hook would have to be inserted, or moved, the file is
//! refused with the line. So is code without hooks, or without debug information.
//!
//! Not found: plain loads of atomic operands of `[]` by gcc, which may then race, and weak compare-exchanges by
//! clang, which then do not fail for no reason (`assembly::marks`).

use std::path::Path;
use std::process::{Command, Stdio};

use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SectionFlags, elf};

use crate::assembly::{self, Target};
use crate::compile;
use crate::error::Error;
use crate::places::Places;

/// How to compile a file so that it can be explored.
pub(crate) const FLAGS: &str = "-O0 -g -fPIC -fno-common -fno-builtin -fsanitize=thread -fno-omit-frame-pointer \
                                -fcf-protection=none -mno-avx -U_FORTIFY_SOURCE";

/// Refuses an object file whose hooks do not tell all.
pub(crate) fn audit(compiler: &str, file: &Path, directory: &Path) -> Result<(), Error> {
    let linked = directory.join("audited.so");
    let mut command = Command::new(compiler);
    command.args(["-shared", "-nostdlib", "-Wl,-z,undefs"]).arg(file).arg("-o").arg(&linked);
    compile::run(&mut command)?;
    audit_shared(file, &linked)
}

/// As [`audit`], of a file that is linked already; `file` is what the user knows.
pub(crate) fn audit_shared(file: &Path, linked: &Path) -> Result<(), Error> {
    let bytes = std::fs::read(linked).map_err(|error| Error::System(error.to_string()))?;
    let elf: ElfFile64<'_, LittleEndian> = ElfFile64::parse(&*bytes)
        .map_err(|error| Error::System(format!("{}: {error}", file.display())))?;
    let refused = |what: &str| Error::Refused {
        place: file.display().to_string(),
        what: format!("{what}: compile it with {FLAGS}"),
    };
    if !elf.dynamic_symbols().any(|it| it.name().is_ok_and(|name| name.starts_with("__tsan_"))) {
        return Err(refused("its code has no hooks"));
    }
    if elf.section_by_name(".debug_line").is_none() {
        return Err(refused("it has no debug information"));
    }
    let listing = assembly::listing(&disassembled(linked)?, |address| target(&elf, address));
    let Some((line, what)) = assembly::first_lack(&listing.text)? else { return Ok(()) };
    let mut places = Places::new(bytes.clone(), 0);
    let place = places.place(listing.addresses[line] as usize + 1);
    let what = format!("{what}, and in compiled code that cannot be mended: hand in the source");
    Err(Error::Refused { place: places.name(place), what })
}

/// What is at an address.
fn target(elf: &ElfFile64<'_, LittleEndian>, address: u64) -> Target {
    let has = |section: &object::read::elf::ElfSection64<'_, '_, LittleEndian>| {
        (section.address()..section.address() + section.size()).contains(&address)
    };
    let Some(section) = elf.sections().find(has) else { return Target::Constant };
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return Target::Constant };
    match section.name() {
        Ok(".got" | ".got.plt") => Target::Table,
        Ok(".data.rel.ro") => Target::Constant,
        _ if (sh_flags & elf::SHF_WRITE).0 != 0 => Target::Variable,
        _ => Target::Constant,
    }
}

fn disassembled(file: &Path) -> Result<String, Error> {
    let mut command = Command::new("objdump");
    command.args(["-d", "--no-show-raw-insn", "-M", "suffix"]).arg(file).stdin(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success());
    let output = output.ok_or_else(|| {
        Error::System(String::from(
            "compiled files can be explored only where objdump is installed",
        ))
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
