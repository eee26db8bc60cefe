package sia

import (
	"encoding/json"
	"time"
)

// DecisionType names a kind of decision.
type DecisionType string

// The types of decision that are logged.
const (
	DecideTechnique DecisionType = "technique" // which technique the next attempt uses
	DecideRerun     DecisionType = "rerun"     // whether failed checks run again before the attempt counts as failed
	DecideInterrupt DecisionType = "interrupt" // whether an attempt that gets stuck is stopped
	DecideAssign    DecisionType = "assign"    // who makes the next attempt
	// the structure of the work on a task: as a whole, or in parts
	DecideDecompose DecisionType = "decompose"
	DecideRecover   DecisionType = "recover"  // what follows an attempt that failed
	DecideEscalate  DecisionType = "escalate" // whether a person is asked before another approach begins
)

// Decision is one choice with all its inputs. It is logged before it takes effect;
// after that only its outcome changes.
type Decision struct {
	ID         string          `json:"id"` // unique and never reused: an effect's key, or derived from one
	Task       TaskID          `json:"task"`
	Repo       int64           `json:"repo"`    // GitHub's repository id
	Attempt    int             `json:"attempt"` // the attempt it was made after or in
	Type       DecisionType    `json:"type"`
	Policy     string          `json:"policy"`  // the policy's id, such as "technique/1@1a2b3c4d5e6f"
	Context    json.RawMessage `json:"context"` // the inputs; empty is stored as null
	Options    json.RawMessage `json:"options"` // the possible choices, with scores; empty is stored as null
	Choice     string          `json:"choice"`
	Propensity float64         `json:"propensity"` // probability with which Choice was chosen, 0–1
	Reason     string          `json:"reason"`     // for people
	At         time.Time       `json:"at"`
	Outcome    string          `json:"outcome,omitempty"` // empty until it is known
	Credit     float64         `json:"credit,omitempty"`  // outcome minus expectation
}
