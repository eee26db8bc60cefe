package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// errNothing says that an answer of success does not hold what was asked for. GitHub sends none such
// on purpose; taken for an object, it would be an issue without labels.
var errNothing = errors.New("GitHub's answer holds nothing")

// whole is [errNothing] when what an answer has to hold, such as an id, is missing.
func whole[T comparable](err error, id T) error {
	var none T
	if err == nil && id == none {
		return errNothing
	}
	return err
}

// wholeAnswers is a round tripper that takes no answer which lacks what it has to hold, or is larger than it may be.
// The app's own requests have [outerTransport].
type wholeAnswers struct {
	next http.RoundTripper
	most int64 // bytes
}

// RoundTrip implements http.RoundTripper.
func (t wholeAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := readWhole(r, resp, t.most)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// readWhole reads an answer of at most a number of bytes to its end. One that lacks what it has to hold is an error.
func readWhole(req *http.Request, resp *http.Response, most int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("answer is larger than %d MiB", most>>20)
	}
	return body, empty(req, resp, body)
}

// refusalKeys are what GitHub's refusals are made of.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
var refusalKeys = map[string]bool{"message": true, "documentation_url": true, "status": true, "errors": true}

// empty is [errNothing] when an answer of success that must hold something is empty, null, an object without
// anything in it, or words in the place of what was asked for, as a server that fails behind GitHub's front writes
// them. What else an answer has to hold, [shapes] say; of GraphQL, the query ([queryShape]).
func empty(req *http.Request, resp *http.Response, body []byte) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 || resp.StatusCode == http.StatusAccepted {
		return nil
	}
	reads := req.Method == http.MethodGet || strings.HasSuffix(req.URL.Path, "/graphql")
	body = bytes.TrimSpace(body)
	if reads && (len(body) == 0 || bytes.Equal(body, []byte("null"))) {
		return errNothing
	}
	words, only := onlyWords(body)
	switch {
	case only && words != "":
		return fmt.Errorf("%w but the words %q", errNothing, words)
	case only && reads:
		return errNothing
	}
	return lacking(req.Method, req.URL, body)
}

// onlyWords reports whether a body is an object that holds nothing but what a refusal is made of, and its message.
func onlyWords(body []byte) (message string, only bool) {
	if len(body) > maxRefusal || !bytes.HasPrefix(body, []byte("{")) {
		return "", false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return "", false // who reads it says so
	}
	for key := range fields {
		if !refusalKeys[key] {
			return "", false
		}
	}
	if fields["message"] == nil && fields["errors"] != nil {
		return "", false // GraphQL says so what went wrong
	}
	_ = json.Unmarshal(fields["message"], &message) // what is no text says nothing
	return scrubbedLine(message), true
}

// maxRefusal bounds what is looked through for a refusal, in bytes.
const maxRefusal = 64 << 10
