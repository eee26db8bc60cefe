// Package runner runs GitHub Actions workflows, really: their run steps are
// executed with bash in a clone of the repository.
//
// A workflow file is read with [Parse]. [Workflow.Plan] says which jobs an [Event]
// starts, a matrix multiplied out. [Runner.Run] runs one [Job] and returns its
// conclusion, steps, annotations and log, in the format of GitHub Actions. Nothing
// else is kept: what a run, an attempt or a check run is, the caller knows.
//
// Steps are not confined: they may do what the process may do.
//
// What a workflow may say is in workflow.go; what is understood of it, in plan.go
// and expression.go. Start reading at plan.go, then run.go.
package runner
