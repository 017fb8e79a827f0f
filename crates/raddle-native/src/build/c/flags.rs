//! Which flags do nothing but compile and link the program.
//!
//! A compiler can load plugins, run other programs and write other files, so flags from a file that somebody else may have
//! written must be known to be harmless. The list is one of permitted flags: compilers gain flags with every version.

/// Flags that are permitted as they are.
const EXACT: &[&str] = &[
    "-ansi",
    "-fbuiltin",
    "-fchar8_t",
    "-fcommon",
    "-fconcepts",
    "-fcoroutines",
    "-fdelete-null-pointer-checks",
    "-fexceptions",
    "-ffast-math",
    "-ffreestanding",
    "-fgnu89-inline",
    "-fhosted",
    "-fkeep-inline-functions",
    "-fms-extensions",
    "-fnon-call-exceptions",
    "-fomit-frame-pointer",
    "-fopenmp",
    "-fopenmp-simd",
    "-fpermissive",
    "-fpic",
    "-fpie",
    "-fplan9-extensions",
    "-frtti",
    "-fshort-enums",
    "-fshort-wchar",
    "-fsigned-char",
    "-fsized-deallocation",
    "-ftrapv",
    "-funsigned-char",
    "-fwrapv",
    "-fPIC",
    "-fPIE",
    "-g",
    "-m32",
    "-m64",
    "-nostdinc",
    "-nostdinc++",
    "-pedantic",
    "-pedantic-errors",
    "-pipe",
    "-pthread",
    "-trigraphs",
    "-undef",
    "-w",
];

/// Beginnings of permitted flags.
const PREFIXES: &[&str] = &[
    "-O",
    "-W",
    "-fconstexpr-",
    "-fdiagnostics-color",
    "-fexec-charset=",
    "-ffile-prefix-map=",
    "-ffp-contract=",
    "-finline",
    "-finput-charset=",
    "-fmacro-prefix-map=",
    "-fmax-errors=",
    "-fno-",
    "-fpack-struct",
    "-fsanitize=",
    "-fstack-protector",
    "-fstrict-",
    "-ftemplate-",
    "-ftrivial-auto-var-init=",
    "-funroll-",
    "-fvisibility",
    "-g0",
    "-g1",
    "-g2",
    "-g3",
    "-gdwarf",
    "-ggdb",
    "-gno-",
    "-maes",
    "-march=",
    "-mavx",
    "-mbmi",
    "-mcmodel=",
    "-mcpu=",
    "-mcx16",
    "-mfma",
    "-mfpmath=",
    "-mlong-double-",
    "-mlzcnt",
    "-mno-",
    "-mpclmul",
    "-mpopcnt",
    "-mpreferred-stack-boundary=",
    "-msse",
    "-mssse",
    "-mtune=",
    "-std=",
];

/// Permitted flags with a value, in the same word or in the next one.
const WITH_VALUE: &[&str] =
    &["-D", "-I", "-L", "-U", "-idirafter", "-imacros", "-include", "-iquote", "-isystem", "-l"];

/// The first flag that is not known to do nothing but compile and link the program. Such a flag may load a plugin, run another
/// program or write another file.
#[must_use]
pub fn first_harmful_flag(flags: &[String]) -> Option<&str> {
    let mut words = flags.iter().map(String::as_str);
    while let Some(flag) = words.next() {
        if WITH_VALUE.contains(&flag) {
            match words.next() {
                Some(value) if is_option(value) => return Some(value),
                _ => {}
            }
        } else if !is_harmless(flag) {
            return Some(flag);
        }
    }
    None
}

/// Returns `true` if a compiler that does not expect a value would take it for an option, or reads options from a file.
fn is_option(value: &str) -> bool {
    value.starts_with(['-', '@'])
}

/// Whether a single word is harmless. A comma after `-W` passes options to another program.
fn is_harmless(flag: &str) -> bool {
    let begins = |prefix: &&str| flag.starts_with(*prefix);
    EXACT.contains(&flag)
        || WITH_VALUE.iter().any(begins)
        || (PREFIXES.iter().any(begins) && !(flag.starts_with("-W") && flag.contains(',')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(flags: &str) -> Option<String> {
        let flags: Vec<String> = flags.split_whitespace().map(String::from).collect();
        first_harmful_flag(&flags).map(String::from)
    }

    #[test]
    fn flags_that_compile_are_harmless() {
        for flags in [
            "",
            "-DN=2 -D N=a,b -UX -U X -Iinclude -I include -include header.h -isystem /usr/include",
            "-O -O2 -Ofast -g -g3 -ggdb -gdwarf-4 -w -W -Wall -Wno-unused -Werror=format",
            "-std=c++20 -pthread -lm -l m -Llib -L lib -m64 -march=native -msse4.2 -mno-red-zone",
            "-fwrapv -fno-strict-aliasing -fstrict-aliasing -fPIC -fopenmp -fsanitize=undefined,thread",
        ] {
            assert_eq!(first(flags), None, "{flags}");
        }
    }

    #[test]
    fn flags_that_run_programs_or_write_files_are_harmful() {
        for flag in [
            "-fplugin=evil.so",
            "-fplugin-arg-evil-x=1",
            "-fpass-plugin=evil.so",
            "-wrapper",
            "-B.",
            "-B",
            "-specs=evil.specs",
            "--specs=evil.specs",
            "@options",
            "-Xassembler",
            "-Xlinker",
            "-Xpreprocessor",
            "-Xclang",
            "-mllvm",
            "-Wl,-plugin,evil.so",
            "-Wa,-a=file",
            "-Wp,-MD,file",
            "-o",
            "-ofile",
            "--output=file",
            "-MD",
            "-MFfile",
            "-save-temps",
            "-dumpdir",
            "-iplugindir=evil",
            "-fdump-tree-all",
            "-fopt-info-all=file",
            "-ftest-coverage",
            "-fprofile-arcs",
            "-fstack-usage",
            "-fcallgraph-info",
            "-fcompare-debug",
            "-fuse-ld=evil",
            "-fmodule-mapper=|evil",
            "-fdiagnostics-format=json-file",
            "-ftime-trace=file",
            "-gsplit-dwarf",
            "-gen-reproducer",
            "-gcc-toolchain",
            "--sysroot=evil",
            "--param",
            "-no-canonical-prefixes",
            "-x",
            "evil.c",
            "",
        ] {
            let flags = [String::from("-DN=2"), flag.to_owned(), String::from("-O2")];
            assert_eq!(first_harmful_flag(&flags), Some(flag));
        }
    }

    #[test]
    fn values_that_are_options_are_harmful() {
        assert_eq!(first("-D -fplugin=evil.so").as_deref(), Some("-fplugin=evil.so"));
        assert_eq!(first("-I @options").as_deref(), Some("@options"));
        assert_eq!(first("-include -DX -include").as_deref(), Some("-DX"));
    }
}
