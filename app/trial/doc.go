// Package trial tries changes of policies, and keeps what proves itself.
//
// A change is one field of one policy. It goes through phases, and each is left for a reason that
// is written down:
//
//		drafted → proposed → running → better → promoted → kept
//		    ↘ rejected ↙        ↘ stopped         ↘ reverting → rolled-back
//
//	  - drafted: the replay gate ([evolve.Gate]) did not reject it; it has no pull request yet.
//	  - proposed: its pull request waits until a person approves the experiment, where one has to.
//	  - running: a lot ([evolve.Assign]) gives half of the new tasks to it ([evolve.Experiment]).
//	  - better: the experiment is won, and the pull request is to be merged.
//	  - promoted: it is in force, and guardrails watch it ([evolve.Guardrail]).
//	  - reverting: a guardrail gave the alarm. The version before it decides again at once, by a hold
//	    in the database; the pull request that puts the file back follows.
//
// [Evolver.For] is what decisions go through: it says by which policy a task is decided about, and
// enrols tasks. [Evolver.Watch] moves every change on, as far as the results of tasks allow.
// [Evolver.Evolve] does so and proposes changes, where there is room for one. What people do by hand
// is in people.go. Everything can be done again: each step looks first, acts, and then saves.
//
// The package may import app/store, app/render and what lies below them; GitHub is behind [Forge],
// the model behind [Author]. Start reading at [Evolver.Watch].
package trial
