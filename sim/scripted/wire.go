package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// created is the timestamp of every answer: the same in every run.
const created = 1_700_000_000

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func usageOf(q Request, a Answer, m Message) usage {
	u := usage{Prompt: q.tokens(), Completion: m.tokens()}
	if a.Usage != nil {
		u.Prompt, u.Completion, u.Details.Cached = a.Usage.Input, a.Usage.Output, a.Usage.Cached
	}
	u.Total = u.Prompt + u.Completion
	return u
}

func id(q Request) string { return fmt.Sprintf("chatcmpl-%s-%d", q.Model, q.Turn()) }

// whole sends the answer without streaming.
func whole(w http.ResponseWriter, q Request, a Answer) {
	m, finish, err := a.message(q.Turn())
	if err != nil {
		fail(w, http.StatusInternalServerError, "script", err.Error())
		return
	}
	send(w, http.StatusOK, map[string]any{
		"id": id(q), "object": "chat.completion", "created": created, "model": q.Model,
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": finish}},
		"usage":   usageOf(q, a, m),
	})
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client is gone
}

func fail(w http.ResponseWriter, status int, code, message string) {
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "server_error"
	}
	send(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "code": code}})
}
