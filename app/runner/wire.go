// Package runner runs attempts and tests on other machines, which have neither GitHub's nor a model's keys.
//
// Concepts:
//
//   - runner: such a machine, with a token of its own. It makes outgoing requests only: it long-polls for an attempt.
//     Package app/runner/worker implements it (`sia runner`); app/runner/pods runs each attempt in a Kubernetes Pod
//     instead.
//   - [Dispatcher]: returns an [agent.Agent] for an attempt. It offers the attempt in the database, passes on the turns
//     that a runner reports, and applies the runner's change to the attempt's work tree. Everything else works as for
//     local attempts.
//   - [TestRun]: a run of tests without an agent. Where attempts run, tests run: the Dispatcher offers those that the
//     server needs for its own judgement like attempts, but only to runners that say that they can run tests.
//   - [Handler] and [Client]: server and client of the HTTP API of runners, below [Prefix]. Any server of a database
//     answers any runner: their shared state is in the database (app/store/runnerattempt.go).
//   - pass: the token of one runner for one attempt. It is valid while the runner sends heartbeats, until another
//     runner or server takes the attempt over.
//   - The model is called through the handler, with the pass, by the rules of agent/gateway, which counts the cost of
//     calls. A runner can only report a higher cost.
//
// Input from a runner is less trusted than the server: it is limited in size, validated and masked.
// The package may import agent, agent/gateway, agent/llm, app/store, app/clientaddr, gitops and sia. Start reading at
// dispatch.go, then attempt.go and tests.go; docs/adr/0033-runners.md has the reasons.
package runner

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Prefix is the path prefix of the HTTP API of runners.
const Prefix = "/runner/"

// Header is the name of a header of each response of a [Handler]. A response without it comes from another server, such
// as a proxy.
const Header = "Sia-Runner"

// Paths below [Prefix]; ModelPath is followed by an index of [Coder.Models].
const (
	NextPath      = "next"
	NextTestsPath = "next/tests" // only for a run of tests; servers of older versions don't know it
	WorkPath      = "work"
	BasePath      = "base"
	HeartbeatPath = "beat"
	TurnPath      = "turn"
	ChangePath    = "change"
	ResultPath    = "result"
	ReleasePath   = "release"
	ModelPath     = "model/"
)

// BaseOfTests is the query parameter with which [BasePath] sends the base that tests are compared with, instead of the
// commit that the attempt starts from.
const BaseOfTests = "tests"

// CanTest is the query parameter of [NextPath] with which a runner says that it can run tests.
const CanTest = "tests"

// Takes is what a slot of a runner takes, as a request below [Prefix].
type Takes string

// What slots take. Beside those for attempts, a runner that can run tests has one for tests alone, so that a pull
// request does not wait for its attempts to end. That has a path of its own, and no parameter: a server of an older
// version would ignore a parameter, and give out an attempt.
const (
	TakesAttempts Takes = NextPath
	TakesBoth     Takes = NextPath + "?" + CanTest
	TakesTests    Takes = NextTestsPath
)

// ReleaseLost is the query parameter of a release that reports that the attempt could not be run.
const ReleaseLost = "lost"

// Maximum sizes, in bytes.
const (
	MaxWork   = 32 << 20 // of the input for a runner
	MaxTurn   = 16 << 20
	MaxResult = 1 << 20
	MaxPack   = 32 << 20 // same as for a stored commit
	MaxBase   = 4 << 30
	MaxAbout  = 200 // of a runner's description
)

// BodyTimeout is the timeout for the transfer of a body; UploadTimeout for one of up to [MaxPack], over a slow line.
const (
	BodyTimeout   = 2 * time.Minute
	UploadTimeout = 10 * time.Minute
)

// Lease is how long a runner keeps an attempt without a heartbeat; HeartbeatInterval is the interval of heartbeats.
const (
	Lease             = time.Minute
	HeartbeatInterval = 5 * time.Second
)

// MaxWait is how long an attempt may wait for and run on runners, beyond its own time limit, before that counts as a
// failed try.
const MaxWait = 24 * time.Hour

// FetchTimeout is the timeout for a runner to fetch a commit.
const FetchTimeout = 15 * time.Minute

// LongPoll is how long the server holds a request for an attempt.
const LongPoll = 25 * time.Second

// Offer is an attempt, or a run of tests, for a runner.
type Offer struct {
	Pass string `json:"pass"`
	Work Work   `json:"work"`
}

// Work is the input that a runner needs to run an attempt or tests.
type Work struct {
	Key        string      `json:"key"`        // of the attempt, for the runner's log
	Repository string      `json:"repository"` // identifies its mirror
	Start      string      `json:"start"`      // the commit that it starts from
	Coder      Coder       `json:"coder"`
	Hosts      []string    `json:"hosts,omitempty"` // hosts that setup commands may access
	Tests      *Tests      `json:"tests,omitempty"` // to run when the attempt reports that it is done; nil: none
	Run        *TestRun    `json:"run,omitempty"`   // instead of an attempt; nil: an attempt
	Input      agent.Input `json:"input"`
}

// TestRun is a run of tests on the commit [Work.Start], without an agent. Exactly one of its kinds is set. Of
// [Work.Input] it needs what [agent.Commands.Check] does.
type TestRun struct {
	Evidence bool          `json:"evidence,omitempty"` // compares the commit with the base of [Work.Tests]
	Affected bool          `json:"affected,omitempty"` // runs the tests that its changes since that base can affect
	Commands []string      `json:"commands,omitempty"` // "": the repository's tests
	Baseline *sia.CheckRun `json:"baseline,omitempty"` // of the repository's tests; nil: unknown
}

// Tests configures the run of the tests that changes can affect. An attempt receives those that fail with its changes
// and pass on the base.
type Tests struct {
	Base     string        `json:"base"` // commit
	Services []string      `json:"services,omitempty"`
	Within   time.Duration `json:"within"`
}

// Within returns how long a runner may have an attempt or a run of tests: its time limit, and an allowance for the
// start of a machine and the fetch of a commit. The time limit of an attempt includes setup; that of tests includes
// neither setup nor the fetch of the base.
func (w Work) Within() time.Duration {
	within := cmp.Or(w.Input.Limits.Time, sia.DefaultSettings().Agent.Timeout.D()) + overtime
	if w.Run != nil {
		within += FetchTimeout + agent.PrepareTimeout
	}
	return within
}

// Coder configures the agent of an attempt.
type Coder struct {
	Models []Model           `json:"models"` // the first is used, then its fallbacks
	Edit   agent.EditFormat  `json:"edit,omitempty"`
	Agent  sia.AgentSettings `json:"agent"` // of the repository, or the coder's own command
}

// Model is the configuration of a model, without its address and key.
type Model struct {
	Name      string        `json:"name"`
	Model     string        `json:"model"`
	Protocol  llm.Protocol  `json:"protocol,omitempty"`
	Reasoning string        `json:"reasoning,omitempty"`
	Price     llm.Price     `json:"price"`
	Window    int           `json:"window,omitempty"`
	MaxOutput int           `json:"max_output,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"`
	Learned   llm.Learned   `json:"learned"` // by the server
}

// Heartbeat answers a runner's heartbeat or report.
type Heartbeat struct {
	Stop bool `json:"stop"` // the runner has to stop the attempt
}

// Outcome is the outcome of an attempt on a runner.
type Outcome struct {
	Result   agent.Result `json:"result"`
	Failure  *Failure     `json:"failure,omitempty"`
	Commit   string       `json:"commit,omitempty"`    // of the change; empty: nothing changed
	TooLarge bool         `json:"too_large,omitempty"` // the change is larger than [MaxPack], and was not sent

	// of a [TestRun], by its kind; Failure is why there is none
	Evidence *sia.TestEvidence `json:"evidence,omitempty"`
	Affected *agent.TestsRun   `json:"affected,omitempty"`
	Checks   []sia.CheckRun    `json:"checks,omitempty"`
}

// ErrTooLarge is the reason why the change of [Outcome.TooLarge] is rejected.
var ErrTooLarge = fmt.Errorf("its change has more than %d MiB and was not sent", MaxPack>>20)

// ChangeAnswer answers a runner that asks about its change at [ChangePath].
type ChangeAnswer struct {
	Refused string `json:"refused,omitempty"` // why it must not be pushed; empty: nothing prevents it
	Unknown bool   `json:"unknown,omitempty"` // the server could not find out
}

// Failure is the error that an agent returned.
type Failure struct {
	Message    string        `json:"message"`
	Known      bool          `json:"known,omitempty"` // it is a [sia.Error]
	Permanent  bool          `json:"permanent,omitempty"`
	Outage     bool          `json:"outage,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

// clipAbout limits a runner's description to one line of at most MaxAbout bytes.
func clipAbout(about string) string { return text.HeadOf(text.OneLine(about), MaxAbout) }

// TokenPrefix and passPrefix begin tokens and identify their kind, also in a leaked log.
const (
	TokenPrefix = "sia-runner-"
	passPrefix  = "sia-attempt-"
)

// NewToken returns a new token for a runner. The server stores its [Hash].
func NewToken() string { return TokenPrefix + rand.Text() + rand.Text() }

func newPass() string { return passPrefix + rand.Text() + rand.Text() }

// isToken reports whether a text has the form of a token or pass, without a query of the database.
func isToken(text, prefix string) bool {
	secret, ok := strings.CutPrefix(text, prefix)
	return ok && len(secret) == 2*len(rand.Text()) && strings.Trim(secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Hash returns the stored form of a token.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
