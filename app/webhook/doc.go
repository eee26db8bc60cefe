// Package webhook is the intake: it turns deliveries from GitHub, and commands of people, into events of tasks.
//
// A delivery takes two steps. [Handler] verifies its signature, stores it and acknowledges it, while GitHub waits.
// Later a worker passes the stored delivery to [Intake.Deliver], which reads it into intents (one file for each
// GitHub event: parse, guard, delegate) and passes each to [Intake.Take]. Take finds the tasks, asks GitHub for the
// sender's permission, and applies the event. The periodic look at GitHub uses Take as well, so a lost delivery
// changes when SIA acts, never the result.
//
// A webhook is a hint, and GitHub is the truth: of a payload, only who did what, and where, decides anything.
// The package may import app/store, app/github, app/render and the packages below them. Start reading at handler.go,
// then take.go.
package webhook
