// Package recorded measures the choice of coder on what other people recorded: a
// table of tasks, models, outcomes and costs, in which every model tried every task once,
// alone. Playing a task means looking up each choice's outcome in the table, with at most
// five attempts. It is no world of ours, but it has limits: nobody was told why the
// coder before had failed, and costs are those of then.
//
//   - [Read] reads a table.
//   - [Run] plays it: offline, trained on other tasks and learning nothing while playing;
//     and online, a random stream of all tasks with nothing known but what attempts
//     cost on average. Every player meets the same tasks.
//   - Figures are means over tasks, with 95 % bootstrap intervals over tasks.
//
// Everything is a function of the tables and of the seed.
package recorded
