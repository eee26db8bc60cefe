// Package refusal has GitHub's errors, with the status and the body of the REST API's answers.
package refusal

import (
	"fmt"
	"net/http"
	"strconv"
)

// Error is an error answer of GitHub's REST API.
type Error struct {
	Code     int
	Message  string
	Doc      string // address of the documentation; default that of the whole API
	Location string // redirect address; empty: none
	errors   []object
	simple   []string // instead of errors, where GitHub sends only strings
}

type object = map[string]any

func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// Body is the JSON object of the answer.
func (e *Error) Body() map[string]any {
	doc := e.Doc
	if doc == "" {
		doc = "https://docs.github.com/rest"
	}
	b := object{"message": e.Message, "documentation_url": doc, "status": strconv.Itoa(e.Code)}
	if e.Location != "" {
		b["url"] = e.Location
	}
	if len(e.errors) > 0 {
		b["errors"] = e.errors
	}
	if len(e.simple) > 0 {
		b["errors"] = e.simple
	}
	return b
}

// NotFound is also the answer about objects that the caller may not see.
func NotFound() error { return &Error{Code: http.StatusNotFound, Message: "Not Found"} }

// BadCredentials refuses a token.
func BadCredentials() error {
	return &Error{Code: http.StatusUnauthorized, Message: "Bad credentials"}
}

// BadJWT refuses an app's JSON Web Token.
func BadJWT(message string) error {
	return &Error{Code: http.StatusUnauthorized, Message: message}
}

// Forbidden refuses an action that is not permitted now, or not to the caller.
func Forbidden(message string) error {
	return &Error{Code: http.StatusForbidden, Message: message}
}

// NotAccessible is the answer to a token that lacks a permission.
func NotAccessible() error {
	return Forbidden("Resource not accessible by integration")
}

// Unprocessable refuses the content of a request.
func Unprocessable(message string) error {
	return &Error{Code: http.StatusUnprocessableEntity, Message: message}
}

// Unresolved refuses the content of a request with reasons that are only strings.
func Unresolved(reasons ...string) error {
	return &Error{Code: http.StatusUnprocessableEntity, Message: "Unprocessable Entity", simple: reasons}
}

// Invalid is a validation error about one field; code is GitHub's: missing,
// missing_field, invalid, already_exists, unprocessable or custom.
func Invalid(resource, field, code, message string) error {
	e := object{"resource": resource, "field": field, "code": code}
	if message != "" {
		e["message"] = message
	}
	return &Error{Code: http.StatusUnprocessableEntity, Message: "Validation Failed", errors: []object{e}}
}
