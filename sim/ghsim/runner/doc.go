// Package runner runs GitHub Actions workflows: their run steps are really executed with bash in a clone of the
// repository.
//
// [Parse] reads a workflow file. [Workflow.Plan] returns the jobs that an [Event] starts, with matrices expanded.
// [Runner.Run] runs one [Job] and returns its conclusion, steps, annotations and log, in the format of GitHub Actions.
// It has no other state: runs, attempts and check runs are the caller's.
//
// Steps are not confined: they may do what the process may do.
//
// The syntax of workflows is in workflow.go; the supported part of it in plan.go and expression.go. Start reading at
// plan.go, then run.go.
package runner
