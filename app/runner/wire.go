// Package runner has attempts made on other machines, which hold neither GitHub's nor a model's keys.
//
// Concepts:
//
//   - runner: such a machine, with a token of its own. It calls out only: it asks for an attempt and waits for the
//     answer. Package app/runner/worker is what runs there (`sia runner`); app/runner/pods has each attempt made in a
//     Pod of Kubernetes instead.
//   - [Dispatcher]: gives an [agent.Agent] for an attempt. It offers the attempt in the database, passes the turns on
//     that a runner reports, and makes in the attempt's work tree what the runner changed. Everything else goes on as
//     if the attempt had been made here.
//   - [Door] and [Client]: both sides of the HTTP API of runners, below [Prefix]. Any server of a database answers any
//     runner: what one has to know is in the database (app/store/runnerattempt.go), and what goes between them waits
//     there.
//   - pass: the token of one runner for one attempt. It is valid while the runner sends heartbeats, until another
//     runner or server takes the attempt up.
//   - The model is asked through the door, with the pass, by the rules of agent/gateway. What calls cost is counted
//     there; what a runner says of it can only be more.
//
// What comes from a runner is input of somebody who is trusted less than the server: bounded, looked at, and masked.
// The package may import agent, agent/gateway, agent/llm, app/store, app/clientaddr, gitops and sia. Start reading at
// dispatch.go, then attempt.go; docs/adr/0033-runners.md has the reasons.
package runner

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Prefix is where a server answers runners.
const Prefix = "/runner/"

// Paths below [Prefix]; ModelPath is followed by a number of [Coder.Models].
const (
	NextPath    = "next"
	WorkPath    = "work"
	BasePath    = "base"
	BeatPath    = "beat"
	TurnPath    = "turn"
	ResultPath  = "result"
	ReleasePath = "release"
	ModelPath   = "model/"
)

// BaseOfTests is the field of the query with which [BasePath] sends the base that tests are compared with, and not the
// commit that the attempt begins on.
const BaseOfTests = "tests"

// ReleaseLost is the field of a release's query that says that the attempt could not be made.
const ReleaseLost = "lost"

// Bounds of what crosses.
const (
	MaxWork   = 32 << 20 // bytes of what a runner is given
	MaxTurn   = 16 << 20
	MaxResult = 1 << 20
	MaxPack   = 32 << 20 // as of a commit that is kept
	MaxBase   = 4 << 30
	MaxAbout  = 200 // bytes of what a runner says of itself
)

// BodyWithin is how long a body may take to cross.
const BodyWithin = 2 * time.Minute

// Lease is how long a runner keeps an attempt without a heartbeat; Beat is the time between two heartbeats.
const (
	Lease = time.Minute
	Beat  = 5 * time.Second
)

// MostWait is how long an attempt may wait for runners and be with them, beyond its own time, before that counts as a
// failed try.
const MostWait = 24 * time.Hour

// LongPoll is how long a runner waits for an attempt with one request.
const LongPoll = 25 * time.Second

// Offer is an attempt for a runner.
type Offer struct {
	Pass string `json:"pass"`
	Work Work   `json:"work"`
}

// Work is what a runner needs to make an attempt.
type Work struct {
	Key        string      `json:"key"`        // of the attempt, for its log
	Repository string      `json:"repository"` // names its mirror
	Start      string      `json:"start"`      // the commit that it begins on
	Coder      Coder       `json:"coder"`
	Hosts      []string    `json:"hosts,omitempty"` // that setup commands may fetch from
	Tests      *Tests      `json:"tests,omitempty"` // to be run when the attempt says that it is done; nil: none
	Input      agent.Input `json:"input"`
}

// Tests says how the tests are run that an attempt's changes can reach. The attempt is told which of them fail with its
// changes and pass on the base.
type Tests struct {
	Base     string        `json:"base"` // commit
	Services []string      `json:"services,omitempty"`
	Within   time.Duration `json:"within"`
}

// Within is how long a runner may have an attempt: the time that it may take, and what may pass before and after it,
// for a machine that has to start and a commit that is fetched.
func (w Work) Within() time.Duration {
	return cmp.Or(w.Input.Limits.Time, sia.DefaultSettings().Agent.Timeout.D()) + overtime
}

// Coder says how the attempt is made.
type Coder struct {
	Models []Model           `json:"models"` // the first is asked, then those that stand in for it
	Edit   agent.EditFormat  `json:"edit,omitempty"`
	Agent  sia.AgentSettings `json:"agent"` // of the repository, or the coder's own command
}

// Model is a model as the server asks it, without its address and key.
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
	Stop bool `json:"stop"` // the runner has to end the attempt
}

// Outcome is how an attempt ended on a runner.
type Outcome struct {
	Result   agent.Result `json:"result"`
	Failure  *Failure     `json:"failure,omitempty"`
	Commit   string       `json:"commit,omitempty"`    // of what it changed; empty: nothing
	TooLarge bool         `json:"too_large,omitempty"` // what it changed is more than [MaxPack], and was not sent
}

// Failure is the error with which an agent ended.
type Failure struct {
	Message    string        `json:"message"`
	Known      bool          `json:"known,omitempty"` // the words are for people
	Permanent  bool          `json:"permanent,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

// clipAbout is what a runner says of itself, as it crosses.
func clipAbout(about string) string { return text.HeadOf(text.OneLine(about), MaxAbout) }

// Prefixes of tokens: they say what kind of token it is, also in a log.
const (
	tokenPrefix = "sia-runner-"
	passPrefix  = "sia-attempt-"
)

// NewToken makes a token for a runner. The server keeps [Hash] of it.
func NewToken() string { return tokenPrefix + rand.Text() + rand.Text() }

func newPass() string { return passPrefix + rand.Text() + rand.Text() }

// isToken reports whether a text may be a token or pass: that costs no look into the database.
func isToken(text, prefix string) bool {
	secret, ok := strings.CutPrefix(text, prefix)
	return ok && len(secret) == 2*len(rand.Text()) && strings.Trim(secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Hash is what is kept of a token.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
