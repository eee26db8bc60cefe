package scripted

import (
	"encoding/json"
	"net/http"
)

// protocol is one API: how a request is read, as a chat request, and how an answer is written.
type protocol struct {
	read       func(body []byte) (Request, error)
	whole      func(w http.ResponseWriter, q Request, a Answer)
	stream     func(w http.ResponseWriter, q Request, a Answer) // nil: as a chat; only such streams can break (stream.go)
	authorized func(r *http.Request, key string) bool
}

// chat is POST /v1/chat/completions.
// https://platform.openai.com/docs/api-reference/chat
var chat = protocol{whole: whole, authorized: bearer, read: func(body []byte) (q Request, err error) {
	err = json.Unmarshal(body, &q)
	return q, err
}}

func bearer(r *http.Request, key string) bool { return r.Header.Get("Authorization") == "Bearer "+key }
