// Package sweep is the work that nobody asks for: it looks at GitHub for what a lost webhook would have
// said and for what GitHub sends no webhook of, repairs what people see, and tidies up.
//
// [Sweeper.Table] is the cron table. Looks and repairs go in rounds: the database names every task of which
// something may change, and each has its turn. [Looker] compares one task with GitHub and hands what it finds to
// the intake, as if a delivery had said so; an attempt that begins looks first, too. A look changes when
// SIA notices something, never what it concludes. Unchanged answers of GitHub cost conditional requests.
//
// The package may import app/store, app/github, app/render and what lies below them. Start reading at
// table.go, then rounds.go and look.go.
package sweep
