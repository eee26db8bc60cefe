package model

import (
	"fmt"
	"time"
)

// User is an account: a person, an organization or an app's bot.
type User struct {
	ID    int64
	Login string
	Kind  string // User, Bot or Organization
	Made  time.Time
}

// Email is the address in the account's commits.
func (u *User) Email() string { return fmt.Sprintf("%d+%s@users.noreply.github.com", u.ID, u.Login) }

// Actor is a person, or an app through an installation.
type Actor struct {
	User  *User
	App   *App
	Inst  *Installation
	Token Token
}

// Token is the kind of token of an action, if it matters to workflows.
type Token int

// The tokens. Actions with a workflow's own GITHUB_TOKEN start no workflows, except those of a pull request that was
// opened, updated or reopened: since June 2026 these wait for approval on github.com, and elsewhere they don't start
// either.
// https://docs.github.com/en/actions/concepts/security/github_token#when-github_token-triggers-workflow-runs
// https://github.blog/changelog/2026-06-11-bot-created-pull-requests-can-run-workflows-if-approved/
const (
	OwnToken    Token = iota // a person's or an app's
	GitHubToken              // a workflow's
	SilentToken              // a workflow's, on a server that starts no workflows for it
)

// As is an account that acts itself.
func As(u *User) Actor { return Actor{User: u} }
