//! The analyses against their definitions: on random graphs, and on random programs that go through the real parser.
//!
//! The oracles search and walk, and share no code with the analyses. What they walk on is the generator's own account
//! of the program, not the parsed one, so a wrong row of the opcode table is found here too.

mod calls;
mod dataflow;
mod graphs;
mod programs;
mod regions;
