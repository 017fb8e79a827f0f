//! OpenMP, which is not modelled: how programs that use it are recognised.
//!
//! The libraries create threads in ways of their own and read files of the system when they are loaded.

/// Why a program with OpenMP is refused, and the remedy.
pub(crate) const REASON: &str = "OpenMP is not modelled: compile without -fopenmp and link without its library, or use the \
                                 threads of POSIX, C11 or C++";

/// Beginnings of the names of the libraries of gcc, clang and Intel.
const LIBRARIES: [&str; 3] = ["libgomp.so", "libomp.so", "libiomp5.so"];

/// Beginnings of the names of their functions.
const FUNCTIONS: [&str; 4] = ["GOMP_", "GOACC_", "__kmpc_", "omp_"];

/// Whether a shared object is a library of OpenMP.
pub(crate) fn is_library(name: &str) -> bool {
    LIBRARIES.iter().any(|library| name.starts_with(library))
}

/// Whether a function belongs to OpenMP, if the program does not define it.
pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|function| name.starts_with(function))
}
