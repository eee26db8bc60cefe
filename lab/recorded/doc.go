// Package recorded measures the choice of coder on other people's recorded outcomes: a
// table of tasks, models, outcomes and costs, in which every model tried every task once,
// alone. Playing a task looks up each choice's outcome in the table, with at most
// five attempts. The data is real, but has limits: no coder knew why the
// one before had failed, and costs are those of the time.
//
//   - [Read] reads a table.
//   - [Run] plays it: offline, trained on other tasks and learning nothing while playing;
//     and online, a random stream of all tasks with only the average cost of attempts
//     known. Every player gets the same tasks.
//   - Figures are means over tasks, with 95 % bootstrap intervals over tasks.
//
// Everything is a function of the tables and of the seed.
package recorded
