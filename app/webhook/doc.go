// Package webhook is the intake: what GitHub and people say becomes events of
// tasks.
//
// A delivery takes two steps. [Handler] verifies its signature, stores it and
// acknowledges it; that is all that happens while GitHub waits. Later a worker
// gives the stored delivery to [Intake.Deliver], which reads it into intents
// (one file per GitHub event: parse, guard, delegate) and hands each to
// [Intake.Take]. Take finds the tasks concerned, asks GitHub what the person is
// permitted, and applies the event. The periodic look at GitHub hands what it
// finds to Take as well, so a lost delivery changes when SIA looks, never what
// it concludes.
//
// A webhook is a hint, GitHub is the truth: nothing that decides anything is
// read from a payload but who did what where.
//
// The package may import app/store, app/github, app/render and what lies below
// them. Start reading at handler.go, then take.go.
package webhook
