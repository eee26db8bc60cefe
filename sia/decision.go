package sia

import (
	"encoding/json"
	"time"
)

// DecisionType says what is decided.
type DecisionType string

// The types of decision that are logged.
const (
	DecideTechnique DecisionType = "technique" // which technique the next attempt uses
	DecideRerun     DecisionType = "rerun"     // whether failed checks run again before anybody is blamed
	DecideInterrupt DecisionType = "interrupt" // whether an attempt that gets stuck is stopped
	DecideAssign    DecisionType = "assign"    // who makes the next attempt
	// how the work on a task hangs together: as a whole, or in which parts
	DecideDecompose DecisionType = "decompose"
	DecideRecover   DecisionType = "recover"  // what follows an attempt that failed
	DecideEscalate  DecisionType = "escalate" // whether a person is asked before another approach begins
)

// Decision is one choice with everything that it was made by. It is logged
// before it takes effect; what is logged never changes, but for its outcome.
type Decision struct {
	ID         string          `json:"id"` // unique for ever: an effect's key, or made from one
	Task       TaskID          `json:"task"`
	Repo       int64           `json:"repo"`    // GitHub's repository id
	Attempt    int             `json:"attempt"` // the attempt it was made after or in
	Type       DecisionType    `json:"type"`
	Policy     string          `json:"policy"`  // its id, such as "technique/1@1a2b3c4d5e6f"
	Context    json.RawMessage `json:"context"` // what it was decided by; empty is stored as null
	Options    json.RawMessage `json:"options"` // what could have been chosen, with scores; empty is stored as null
	Choice     string          `json:"choice"`
	Propensity float64         `json:"propensity"` // with which Choice was to be chosen, in 0–1
	Reason     string          `json:"reason"`     // in words, for people
	At         time.Time       `json:"at"`
	Outcome    string          `json:"outcome,omitempty"` // empty until it is known
	Credit     float64         `json:"credit,omitempty"`  // what the outcome exceeds the expectation by
}
