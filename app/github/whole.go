package github

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
)

// errNothing says that an answer of success holds no object. GitHub sends none such
// on purpose; taken for an object, it would be an issue without labels.
var errNothing = errors.New("an answer of success holds nothing")

// whole is [errNothing] when the id of what an answer holds is none.
func whole[T comparable](err error, id T) error {
	var none T
	if err == nil && id == none {
		return errNothing
	}
	return err
}

// holdsNothing reports whether an answer of success that must hold something is
// empty or null. What a write made is looked at by its id, see [whole].
func holdsNothing(req *http.Request, resp *http.Response, body []byte) bool {
	if req.Method != http.MethodGet && !strings.HasSuffix(req.URL.Path, "/graphql") {
		return false
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 || resp.StatusCode == http.StatusAccepted {
		return false
	}
	body = bytes.TrimSpace(body)
	return len(body) == 0 || bytes.Equal(body, []byte("null"))
}
