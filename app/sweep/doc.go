// Package sweep does the periodic work: it polls GitHub for events of lost webhooks and for
// events without webhooks, repairs SIA's output on GitHub, and prunes old data.
//
// [Sweeper.Table] returns the periodic jobs. Looks and repairs run in rounds: the database lists every task that
// may change, and each round handles those that are due. [Looker] compares one task with GitHub and passes its
// findings to the intake, as if a delivery had reported them; an attempt looks before it begins, too. A look changes
// when SIA notices something, but not the result. Unchanged responses of GitHub cost conditional requests.
//
// The package may import app/store, app/github, app/render and the packages below them. Start reading at
// table.go, then rounds.go and look.go.
package sweep
