package ghsim

import (
	"context"
	"net/http"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/api"
	"github.com/sia-bot/sia/sim/ghsim/delivery"
	"github.com/sia-bot/sia/sim/ghsim/fault"
	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/oracle"
	"github.com/sia-bot/sia/sim/ghsim/people"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// Types of the simulator's packages, for its users.
type (
	// Entry is one event.
	Entry = journal.Entry
	// Call is one received API request.
	Call = api.Call
	// Delivery is one webhook delivery.
	Delivery = delivery.Delivery
	// Fault is an answer given in place of the simulator's.
	Fault = fault.Fault
	// Actions is what keeps the workflows of a repository from running.
	Actions = model.Actions
	// Pushes is what GitHub refuses in a push.
	Pushes = model.Pushes
	// App is a registered GitHub App.
	App = people.App
	// RepoSpec describes a new repository.
	RepoSpec = people.RepoSpec
	// IssueView is an issue or pull request as it is now.
	IssueView = people.IssueView
	// PullView is a pull request as it is now.
	PullView = people.PullView
	// ReactionView is one reaction.
	ReactionView = people.ReactionView
	// ReviewView is one submitted review of a pull request.
	ReviewView = people.ReviewView
	// ReviewLine is a review's comment on lines.
	ReviewLine = world.ReviewLine
	// ReviewCommentView is one comment on a line of a pull request.
	ReviewCommentView = people.ReviewCommentView
	// CheckView is one check run.
	CheckView = people.CheckView
	// Rule is one rule of a ruleset.
	Rule = model.Rule
	// Classic is what classic protection of a branch requires besides checks.
	Classic = model.Classic
	// BotPush is a bot's push, with its token.
	BotPush = people.BotPush
	// JobView is a job that starts and ends by hand (Config.ByHand).
	JobView = people.JobView
	// AppCheck is a check run that an app makes through the API.
	AppCheck = people.Check
	// OracleQuestion names a pull request and what SIA was given about it.
	OracleQuestion = oracle.Question
	// OracleAnswer is the verdict on a pull request's present head.
	OracleAnswer = oracle.Answer
)

// The tokens of a bot's push.
const (
	OwnToken    = model.OwnToken
	GitHubToken = model.GitHubToken
	SilentToken = model.SilentToken
)

// ActionsApp is the app of check runs made with GITHUB_TOKEN.
const ActionsApp = "github-actions"

// DefaultPermissions are those of an app that CreateApp registers.
func DefaultPermissions() map[string]string { return world.DefaultPermissions() }

// Deleted as a file's content in PushFiles deletes the file.
const Deleted = git.Deleted

// Timeline is everything that happened so far. With kinds, only entries of
// these kinds.
func (s *Server) Timeline(kinds ...string) []Entry { return s.journal.Timeline(kinds...) }

// WaitEntry returns the first journal entry after sequence number after that match accepts, waiting for it if needed,
// or the context's error. match must not call the server.
func (s *Server) WaitEntry(ctx context.Context, after int, match func(Entry) bool) (Entry, error) {
	return s.journal.WaitEntry(ctx, after, match)
}

// Calls are the API requests received so far, REST and GraphQL, in order of completion. Git over HTTP and pages are not
// included.
func (s *Server) Calls() []Call { return s.api.Calls() }

// Tally counts API requests by kind.
type Tally = api.Tally

// Count counts API requests, every one of them.
func Count(calls []Call) Tally { return api.Count(calls) }

// CountCalls counts the API requests received that count against a rate limit: all but 304 answers.
func (s *Server) CountCalls() int { return s.api.CountCalls() }

// AfterRequest calls fn after each API request was answered, before the answer is
// sent; fn may call the server.
func (s *Server) AfterRequest(fn func(Call)) { s.api.AfterRequest(fn) }

// FailRequests adds a rule for API and git requests and downloads of logs: a fault that it returns is the answer.
// Return the same *Fault for its Times to count. Rules are called in the order in which they were added.
func (s *Server) FailRequests(rule func(*http.Request) *Fault) { s.faults.Add(rule) }

// ClearFaults removes all rules of FailRequests and resets exhausted rate limits.
func (s *Server) ClearFaults() {
	s.faults.Clear()
	s.api.ForgetRequests()
}

// Lag makes each later commit, branch and pull request unknown to the API for a number of answers about it, as GitHub's
// replication does; 0 ends it.
func (s *Server) Lag(answers int) { s.api.Lag(answers) }

// ExhaustRateLimit uses up an installation's primary rate limit of a resource, core or graphql, until the simulator's
// clock reaches reset.
func (s *Server) ExhaustRateLimit(installation int64, resource string, reset time.Time) {
	s.api.ExhaustRateLimit(installation, resource, reset)
}

// SetRateLimit sets the limit of requests per hour for each installation and app; default 5000.
func (s *Server) SetRateLimit(perHour int) { s.api.SetRateLimit(perHour) }

// Deliveries are all webhook deliveries in the order in which they were made,
// those waiting and held included.
func (s *Server) Deliveries() []Delivery { return s.queue.All() }

// DropDeliveries makes webhook deliveries that match fail without reaching the
// application; they stay in the list of failed deliveries and can be
// redelivered. nil ends it. match must not call the server.
func (s *Server) DropDeliveries(match func(Delivery) bool) { s.queue.Drop(match) }

// DuplicateDeliveries makes deliveries that match arrive twice. nil ends it.
// match must not call the server.
func (s *Server) DuplicateDeliveries(match func(Delivery) bool) { s.queue.Duplicate(match) }

// DivertDeliveries passes later deliveries to a function instead of sending them over HTTP, in order, as if the
// application had answered 202. It must not call the server. nil ends it.
func (s *Server) DivertDeliveries(to func(Delivery)) { s.queue.Divert(to) }

// HoldDeliveries holds back deliveries that match until Release. nil ends it for new ones. match must not call the
// server.
func (s *Server) HoldDeliveries(match func(Delivery) bool) { s.queue.Hold(match) }

// Release sends the held deliveries, in the order of indices that reorder returns; nil keeps the order. It returns how
// many were held.
func (s *Server) Release(reorder func([]Delivery) []int) int { return s.queue.Release(reorder) }

// Once is a rule for FailRequests: f for the requests that match.
func Once(f Fault, match func(*http.Request) bool) func(*http.Request) *Fault {
	return fault.Once(f, match)
}

// SecondaryLimit is the answer of a secondary rate limit: 403 with Retry-After.
func SecondaryLimit(retryAfter time.Duration, times int) Fault {
	return fault.SecondaryLimit(retryAfter, times)
}
