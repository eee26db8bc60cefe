// Package trial tests changes of policies, and keeps those that improve results.
//
// A change modifies one field of one policy. It goes through phases, and each transition has a
// recorded reason:
//
//		drafted → proposed → running → better → promoted → kept
//		    ↘ rejected ↙        ↘ stopped         ↘ reverting → rolled-back
//
//	  - drafted: the replay gate ([evolve.Gate]) did not reject it; it has no pull request yet.
//	  - proposed: its pull request waits for a user's approval of the experiment, if that is required.
//	  - running: half of the new tasks are assigned to it at random ([evolve.Assign], [evolve.Experiment]).
//	  - better: the experiment succeeded, and the pull request is to be merged.
//	  - promoted: it is in force, and guardrails watch it ([evolve.Guardrail]).
//	  - reverting: a guardrail raised an alarm. A hold in the database restores the previous version
//	    immediately; the pull request that restores the file follows.
//
// [Evolver.For] returns the policy for a decision about a task, and
// enrols tasks. [Evolver.Watch] advances every change, as far as the results of tasks allow.
// [Evolver.Evolve] does so and proposes new changes. Actions of users
// are in people.go. All steps are idempotent: each looks first, acts, and then saves.
//
// The package may import app/store, app/render and the packages below them; [Forge] abstracts GitHub,
// [Author] the model. Start reading at [Evolver.Watch].
package trial
