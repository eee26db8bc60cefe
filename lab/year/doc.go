// Package year is an invented year of an installation, in which policies are changed by the real
// [trial.Evolver] on a real database. It is a measurement, labelled synthetic wherever it is shown.
//
// Ten repositories have tasks that are resolved with a rate of their own. What a policy decides
// means nothing here: each version of each policy has a hidden effect on the rate, in points. An
// author proposes changes with random effects: some are good, most have none, some do harm, and some
// good ones turn bad after a while. People approve everything and merge what they are asked to.
// Every task has the same luck with and without the changes, so that the two can be compared.
//
// Nothing but cmd and tests imports it. Start reading at [Play].
package year
