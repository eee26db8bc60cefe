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

// errIncomplete reports that a successful response lacks the requested object or part of it. GitHub never sends that
// on purpose. Taken for an object, it would be an issue without labels.
var errIncomplete = errors.New("GitHub's answer holds nothing")

// require returns [errIncomplete] if err is nil and a required part of the response, such as an id, is empty.
func require[T comparable](err error, id T) error {
	var none T
	if err == nil && id == none {
		return errIncomplete
	}
	return err
}

// strictTransport is a round tripper that rejects responses that are incomplete or too large. The app's own requests
// have [outerTransport] instead.
type strictTransport struct {
	next  http.RoundTripper
	limit int64 // maximum size of a response, in bytes
}

// RoundTrip implements http.RoundTripper.
func (t strictTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := readResponse(r, resp, t.limit)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// readResponse reads the body of a response, up to a maximum of bytes. An incomplete one is an error.
func readResponse(req *http.Request, resp *http.Response, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("answer is larger than %d MiB", limit>>20)
	}
	return body, checkBody(req, resp, body)
}

// refusalKeys are the fields of GitHub's refusals.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
var refusalKeys = map[string]bool{"message": true, "documentation_url": true, "status": true, "errors": true}

// checkBody returns [errIncomplete] if a successful response is empty, null, an empty object, or an error message
// instead of the object, as a failing server behind GitHub's proxy sends it. The other required parts are in
// [shapes].
func checkBody(req *http.Request, resp *http.Response, body []byte) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 || resp.StatusCode == http.StatusAccepted {
		return nil
	}
	reads := req.Method == http.MethodGet || strings.HasSuffix(req.URL.Path, "/graphql")
	body = bytes.TrimSpace(body)
	if reads && (len(body) == 0 || bytes.Equal(body, []byte("null"))) {
		return errIncomplete
	}
	message, isRefusal := refusalMessage(body)
	switch {
	case isRefusal && message != "":
		return fmt.Errorf("%w but the words %q", errIncomplete, message)
	case isRefusal && reads:
		return errIncomplete
	}
	return checkShape(req.Method, req.URL, body)
}

// refusalMessage reports whether a body is an object with the fields of a refusal and no others, and returns its
// message.
func refusalMessage(body []byte) (message string, isRefusal bool) {
	if len(body) > maxRefusal || !bytes.HasPrefix(body, []byte("{")) {
		return "", false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return "", false // the caller's decoding reports the error
	}
	for key := range fields {
		if !refusalKeys[key] {
			return "", false
		}
	}
	if fields["message"] == nil && fields["errors"] != nil {
		return "", false // an error of GraphQL
	}
	_ = json.Unmarshal(fields["message"], &message) // no message if it is no text
	return scrubbedLine(message), true
}

// maxRefusal is the maximum size of a body that is searched for a refusal, in bytes.
const maxRefusal = 64 << 10
