// Package year simulates a year of an installation, in which the real [trial.Evolver] changes policies
// on a real database. Its results are labelled synthetic.
//
// Ten repositories have tasks with their own resolution rates. A policy's decisions
// have no effect here: each version of each policy has a hidden effect on the rate, in points. An
// author proposes changes with random effects: some are good, most have none, some do harm, and some
// good ones turn bad later. People approve everything and merge on request.
// Every task has the same random number with and without the changes, so that the two can be compared.
//
// Only cmd and tests import it. Start reading at [Play].
package year
