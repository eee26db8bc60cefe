package ghsim

import (
	"fmt"
	"net/http"
	"strconv"
)

// apiError is an error answer as GitHub's REST API gives it.
type apiError struct {
	code    int
	message string
	errors  []object
	doc     string
	header  map[string]string
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.code, e.message) }

func (e *apiError) body() object {
	doc := e.doc
	if doc == "" {
		doc = "https://docs.github.com/rest"
	}
	b := object{"message": e.message, "documentation_url": doc, "status": strconv.Itoa(e.code)}
	if len(e.errors) > 0 {
		b["errors"] = e.errors
	}
	return b
}

func notFound() error { return &apiError{code: http.StatusNotFound, message: "Not Found"} }

func badCredentials() error {
	return &apiError{code: http.StatusUnauthorized, message: "Bad credentials"}
}

func badJWT(message string) error {
	return &apiError{code: http.StatusUnauthorized, message: message}
}

func notAccessible() error {
	return &apiError{code: http.StatusForbidden, message: "Resource not accessible by integration"}
}

func unprocessable(message string) error {
	return &apiError{code: http.StatusUnprocessableEntity, message: message}
}

// invalid is a validation error about one field; code is GitHub's: missing,
// missing_field, invalid, already_exists, unprocessable or custom.
func invalid(resource, field, code, message string) error {
	e := object{"resource": resource, "field": field, "code": code}
	if message != "" {
		e["message"] = message
	}
	return &apiError{code: http.StatusUnprocessableEntity, message: "Validation Failed", errors: []object{e}}
}
