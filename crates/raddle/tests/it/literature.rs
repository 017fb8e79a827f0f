//! Programs of the literature, and how many classes they have.
//!
//! Tables 2 to 9 of Bui et al., OOPSLA 2021, *The Reads-From Equivalence for the TSO and PSO Memory Models*,
//! have the numbers of reads-from classes of many programs, of a size each. The programs here are ours, written
//! after what is known of those with the same name. So if a number is the same this says something, and if
//! it is not, most likely the program is another one; what asserts our own number says so. Such a number is
//! always that of two explorers, and of brute force where that is feasible.
//!
//! The columns "Source" of the tables are numbers of Shasha-Snir traces, and are compared as well; `bubblesort` and
//! `02_inc_cas` have other numbers here.
//!
//! Variables are atomic and accessed with relaxed order. Larger sizes are counted if `RADDLE_LONG` is set.
//!
//! | program | size | SC | TSO | PSO | here |
//! |---|---|---|---|---|---|
//! | readers | 14 | 16384 | 16384 | 16384 | same |
//! | lastzero | 14 | 69632 | 69632 | 69632 | same |
//! | floating_read | 7 | 8 | 8 | 8 | same |
//! | lastwrite | 9 | 9 | 9 | 9 | same |
//! | redundant_co | 40 | 4921 | 4921 | 4921 | same |
//! | control_flow | 14 | 16413 | 16413 | 16413 | same |
//! | race_parametric | 6 | 73789 | 73789 | 73789 | same |
//! | writer_reader | 11 | 705432 | 705432 | 705432 | same |
//! | spammer | 4 | 178 | 256 | 256 | same |
//! | seqlock | 7 | 181440 | 181440 | 181440 | same |
//! | exponential_bug | 20 | 502771 | 503714 | 581482 | same |
//! | account | 5 | 46656 | 46656 | 46656 | same |
//! | airline | 6 | 46656 | 46656 | 46656 | same |
//! | ra | 6 | 16807 | 16807 | 16807 | same |
//! | fkp2013 | 6 | 117649 | 117649 | 117649 | same |
//! | 45_monabsex1, 46_monabsex2 | 7 | 262144 | 262144 | 262144 | same |
//! | sigma | 7 | 30952 | 30952 | 30952 | same |
//! | singleton | 10 | 10 | 10 | 10 | same |
//! | fib_bench | 6 | 73789 | 226512 | 226512 | same |
//! | pthread-datarace | 6 | 99442 | 99442 | 99442 | same |
//! | reorder_5 | 30 | 54901 | 54901 | 54931 | same |
//! | bubblesort | 3 | 51216 | 51216 | 57702 | same |
//! | eratosthenes | 17 | 4667 | 29217 | 253125 | same |
//! | circular_buffer, stack | 10 | 184756 | 184756 | 184756 | same |
//! | queue_ok | 6 | 5040 | 5040 | 5040 | same |
//! | sssc12 | 7 | 5040 | 5040 | 5040 | same |
//! | 30_Function_Pointer | 5 | 30240 | 30240 | 30240 | same |
//! | multiprodcon | 4 | 1944 | 1944 | 1944 | same |
//! | filesystem | 26 | 8192 | 8192 | 8192 | same |
//! | indexer | 15 | 4096 | 4096 | 4096 | same |
//! | dispatcher | 4 | 6854 | 6854 | 6854 | same |
//! | peterson | 4 | 20161 | 263916 | 744888 | same |
//! | lamport | 2 | 1456 | 2449 | 100521 | same |
//! | kessels | 3 | 13856 | 356844 | 356844 | same |
//! | pgsql | 3 | 3906 | 3906 | 166666 | same |
//! | parker | 40 | 299347 | 323868 | 345931 | SC the same, other fences |
//! | szymanski | 1 | 103 | 497 | 497 | SC the same, other fences |
//! | burns | 2 | 342 | 2989 | 2989 | another program |
//! | dekker | 4 | 28595 | 29044 | 53349 | another program |
//! | bakery | 1 | 41 | 73 | 77 | another program |
//! | dijkstra | 2 | 319 | 540 | 9961 | another program |
//! | 01_inc | 6 | 518400 | 518400 | 518400 | same |
//! | 02_inc_cas, 03_incdec | | | | | cannot be read |
//! | check_bad_array | 7 | 1115240 | 1115240 | 1115240 | not known what it does |
//! | opt_lock2 | 12 | 139 | 183 | 667 | not known what it does |
//! | opt_lock3 | 3 | 87451 | 151570 | 425260 | not known what it does |
//! | overtake | 4 | 62893 | 62893 | 194481 | not known what it does |

mod exclusion;
mod figures;
mod harness;
mod locks;
mod racy;
mod synthetic;
mod values;
