package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ErrorKind sorts errors by what can be done about them.
type ErrorKind string

// The kinds of error.
const (
	KindAuth          ErrorKind = "auth"           // the key is missing, wrong, or lacks access: a person must act
	KindQuota         ErrorKind = "quota"          // the account is out of money: a person must act
	KindRateLimit     ErrorKind = "rate_limit"     // too many requests or tokens: wait
	KindOverloaded    ErrorKind = "overloaded"     // the endpoint has trouble (5xx): wait
	KindContextLength ErrorKind = "context_length" // the conversation does not fit the model's window: shorten it
	KindModeration    ErrorKind = "moderation"     // the provider refuses the conversation's subject: a person must act
	KindUnknownModel  ErrorKind = "unknown_model"  // the endpoint knows no such model: a person must act
	KindDialect       ErrorKind = "dialect"        // the model wants to be asked in another dialect: a person must act
	KindNoTools       ErrorKind = "no_tools"       // the model, as it is served, can't call tools: a person must act
	KindBadRequest    ErrorKind = "bad_request"    // the endpoint refuses the request
	KindNetwork       ErrorKind = "network"        // no connection, or a broken one
	KindTimeout       ErrorKind = "timeout"        // no answer within Config.Timeout
	KindMalformed     ErrorKind = "malformed"      // an answer that can't be read, or not the JSON asked for
)

// Error is a call that did not succeed. Its text never holds the API key.
type Error struct {
	Client     string // Config.Name
	Kind       ErrorKind
	Status     int           // HTTP status; 0 when there was no answer
	Code       string        // the endpoint's own code, such as "insufficient_quota"
	Message    string        // the endpoint's words, at most 500 bytes
	RetryAfter time.Duration // how long the endpoint asked to wait; 0 when it did not say
	Tries      int           // how many times the call was made
	Err        error         // the cause, when there was no answer

	said string // all that the endpoint says, as said.text has it, for what learns from it; it may hold the API key
}

// Error names the model, the kind and the endpoint's words.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "call model %s: %s", e.Client, e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	if e.Tries > 1 {
		fmt.Fprintf(&b, " (tried %d times)", e.Tries)
	}
	return b.String()
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same call may succeed later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case KindRateLimit, KindOverloaded, KindNetwork, KindTimeout:
		return true
	}
	return e.Kind == KindMalformed && !errors.Is(e.Err, errTooMuch)
}

// Reason is why there was no answer, in a few words.
func (e *Error) Reason() string {
	switch e.Kind {
	case KindTimeout, KindMalformed, KindNetwork: // the kind alone says little
		if e.Message != "" {
			return e.Message
		}
	}
	words := cmp.Or(reasons[e.Kind], strings.ReplaceAll(string(e.Kind), "_", " "))
	if e.Status != 0 {
		words += fmt.Sprintf(", HTTP %d", e.Status)
	}
	return words
}

// reasons are kinds of error in words.
var reasons = map[ErrorKind]string{
	KindAuth: "its key is refused", KindQuota: "its account is out of money", KindRateLimit: "it is asked too often",
	KindOverloaded: "its endpoint has trouble", KindModeration: "its provider refuses the subject",
	KindUnknownModel: "its endpoint does not know it", KindDialect: "its endpoint speaks another dialect",
	KindNoTools: "it can't call tools", KindBadRequest: "its endpoint refuses the request",
}

// Advice tells a person what to do about the error.
func (e *Error) Advice() string {
	switch e.Kind {
	case KindAuth:
		const check = "Check the API key of the model in the server's configuration, and that it may use this model"
		if e.Status == http.StatusForbidden { // which has many reasons
			return check + e.words() + "."
		}
		return check + "."
	case KindQuota:
		return "Check the balance and the billing of the model's account" + e.words() + "."
	case KindRateLimit:
		return "The endpoint limits how much may be asked" + e.words() + "; wait, or raise the account's limit."
	case KindContextLength:
		return "The task needs more context than the model has; use a model with a larger window, or make the task smaller."
	case KindModeration:
		return "The model's provider refuses what the task is about" + e.words() +
			". Say it differently, or use a model of another provider."
	case KindUnknownModel:
		return "The endpoint does not know the model" + e.words() + ". Check the model's name in the server's configuration."
	case KindDialect:
		return "Set `protocol` of the model to auto, or to the dialect that the endpoint names" + e.words() + "."
	case KindNoTools:
		return "The model can't call tools as it is served" + e.words() + ". " + useTools
	case KindBadRequest:
		const check = "Check the model's name and the endpoint's address, which often ends in /v1, in the server's " +
			"configuration."
		said := strings.TrimRight(strings.TrimSpace(e.Message), ".")
		switch {
		case said == "":
			return check
		case e.Status == http.StatusBadRequest: // it knows the model, and says what is wrong
			return "The endpoint says: " + said + "."
		}
		return check + " The endpoint says: " + said + "."
	case KindTimeout:
		return "Check that the model's endpoint is up and fast enough, or raise the model's timeout."
	case KindOverloaded:
		return "Wait, or give another endpoint" + e.words() + "."
	case KindNetwork:
		return "Check that the model's endpoint is up and can be reached from this machine."
	}
	if errors.Is(e.Err, errTooMuch) {
		return "The model does not come to an end, and its endpoint does not bound its answers. Use another model, or set " +
			"a bound on its server."
	}
	return "Check that the configured address is an endpoint of one of the protocols that SIA speaks: chat completions, " +
		"Responses or Messages."
}

// useTools is the advice for a model that calls none.
const useTools = "Use a model that can call tools, or switch on its server's parser for tool calls " +
	"(vLLM: --enable-auto-tool-choice, llama.cpp: --jinja)."

// words are the endpoint's, to be put into a sentence.
func (e *Error) words() string {
	said := strings.TrimRight(strings.TrimSpace(e.Message), ".")
	if said == "" {
		return ""
	}
	return " (it says: " + said + ")"
}
