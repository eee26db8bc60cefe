package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ErrorKind classifies errors by how they can be handled.
type ErrorKind string

// The kinds of error.
const (
	KindAuth          ErrorKind = "auth"           // the key is missing, wrong, or lacks access: requires action
	KindQuota         ErrorKind = "quota"          // the account is out of money: requires action
	KindRateLimit     ErrorKind = "rate_limit"     // too many requests or tokens: wait
	KindOverloaded    ErrorKind = "overloaded"     // the endpoint fails (5xx): wait
	KindContextLength ErrorKind = "context_length" // the conversation does not fit the model's window: shorten it
	KindModeration    ErrorKind = "moderation"     // the provider refuses the subject: requires action
	KindUnknownModel  ErrorKind = "unknown_model"  // the endpoint does not have the model: requires action
	KindDialect       ErrorKind = "dialect"        // the model requires another dialect: requires action
	KindNoTools       ErrorKind = "no_tools"       // the model, as it is served, can't call tools: requires action
	KindBadRequest    ErrorKind = "bad_request"    // the endpoint refuses the request
	KindNetwork       ErrorKind = "network"        // no connection, or a lost one
	KindTimeout       ErrorKind = "timeout"        // no answer within Config.Timeout
	KindMalformed     ErrorKind = "malformed"      // an invalid answer, or not the JSON that was requested
)

// Error is the error of a call. Its text never contains the API key.
type Error struct {
	Client     string // Config.Name
	Kind       ErrorKind
	Status     int           // HTTP status; 0: no response
	Code       string        // the endpoint's own code, such as "insufficient_quota"
	Message    string        // the endpoint's message, at most 500 bytes
	RetryAfter time.Duration // how long the endpoint asks to wait; 0: unknown
	Tries      int           // number of tries
	Err        error         // cause, if there was no response

	allText string // all text of the error, as returned by errorBody.text, for lessons; it may contain the API key
}

// Error returns the model, the kind and the endpoint's message.
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

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same call may succeed later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case KindRateLimit, KindOverloaded, KindNetwork, KindTimeout:
		return true
	}
	return e.Kind == KindMalformed && !errors.Is(e.Err, errLimitExceeded)
}

// Reason returns in a few words why there was no answer.
func (e *Error) Reason() string {
	switch e.Kind {
	case KindTimeout, KindMalformed, KindNetwork: // the kind alone is vague
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

// reasons describes the kinds of error.
var reasons = map[ErrorKind]string{
	KindAuth: "its key is refused", KindQuota: "its account is out of money", KindRateLimit: "it is asked too often",
	KindOverloaded: "its endpoint has trouble", KindModeration: "its provider refuses the subject",
	KindUnknownModel: "its endpoint does not know it", KindDialect: "its endpoint speaks another dialect",
	KindNoTools: "it can't call tools", KindBadRequest: "its endpoint refuses the request",
}

// Advice returns how to fix the error.
func (e *Error) Advice() string {
	switch e.Kind {
	case KindAuth:
		const check = "Check the API key of the model in the server's configuration, and that it may use this model"
		if e.Status == http.StatusForbidden { // 403 has many causes
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
		message := strings.TrimRight(strings.TrimSpace(e.Message), ".")
		switch {
		case message == "":
			return check
		case e.Status == http.StatusBadRequest: // the endpoint has the model and describes the error
			return "The endpoint says: " + message + "."
		}
		return check + " The endpoint says: " + message + "."
	case KindTimeout:
		return "Check that the model's endpoint is up and fast enough, or raise the model's timeout."
	case KindOverloaded:
		return "Wait, or give another endpoint" + e.words() + "."
	case KindNetwork:
		return "Check that the model's endpoint is up and can be reached from this machine."
	}
	if errors.Is(e.Err, errLimitExceeded) {
		return "The model does not come to an end, and its endpoint does not bound its answers. Use another model, or set " +
			"a bound on its server."
	}
	return "Check that the configured address is an endpoint of one of the protocols that SIA speaks: chat completions, " +
		"Responses or Messages."
}

// useTools is the advice for a model that calls no tools.
const useTools = "Use a model that can call tools, or switch on its server's parser for tool calls " +
	"(vLLM: --enable-auto-tool-choice, llama.cpp: --jinja)."

// words returns the endpoint's message in parentheses, for use in a sentence.
func (e *Error) words() string {
	message := strings.TrimRight(strings.TrimSpace(e.Message), ".")
	if message == "" {
		return ""
	}
	return " (it says: " + message + ")"
}
