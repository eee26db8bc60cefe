package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// garbage are successful responses of failing servers and proxies.
var garbage = map[string]string{
	"nothing": "", "null": "null", "an object": "{}", "a list of null": "[null]", "a list of objects": "[{}]",
	"a list of numbers": "[1]", "words": `{"message":"Server Error"}`, "HTML": "<!DOCTYPE html><html>Unicorn!</html>",
	"half": `{"id":1,"number":1,"name":"x`,
	"text": `"ok"`, "a number": "7", "truth": "true", "another object": `{"ok":true}`,
	"lists that are null": `{"check_runs":null,"statuses":null,"workflow_runs":null,"jobs":null,"artifacts":null,
		"repositories":null,"installations":null,"contexts":null,"total_count":0}`,
	"pages that hold nothing": `{"check_runs":[],"statuses":[],"workflow_runs":[],"jobs":[],"artifacts":[],
		"repositories":[],"installations":[],"total_count":3}`,
	"GraphQL without data": `{"data":null}`, "GraphQL, hollow": `{"data":{}}`,
	"GraphQL, no repository":       `{"data":{"repository":null}}`,
	"GraphQL, an empty repository": `{"data":{"repository":{}}}`,
	"GraphQL, null nodes": `{"data":{"repository":{"nameWithOwner":"a/b","object":{
		"checkSuites":{"pageInfo":{"hasNextPage":false},
		"nodes":[null]},"status":null},"pullRequest":null}},"errors":[{"type":"INTERNAL","message":"Something went wrong"}]}`,
}

// For any request and any garbage, the result is a transient error with a message for people, never "no checks", "no
// rules", "closed" or "no permission".
func TestGarbageIsNoAnswer(t *testing.T) {
	for name, body := range garbage {
		t.Run(name, func(t *testing.T) {
			for _, what := range slices.Sorted(maps.Keys(asks(start(t, "/")))) {
				w := startAnswering(t, body)
				err := asks(w)[what](t.Context())
				var known *sia.Error
				if !errors.As(err, &known) || known.Permanent || known.Message == "" {
					t.Errorf("%s: got %v", what, err)
				}
			}
		})
	}
}

// Garbage is no token either: the first request of all asks for one.
func TestGarbageIsNoToken(t *testing.T) {
	bodies := maps.Clone(garbage)
	bodies["no token"] = `{"expires_at":"2030-01-01T00:00:00Z"}`
	bodies["a token without an end"] = `{"token":"ghs_secretsecret0001"}`
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			w := start(t, "/")
			mux := http.NewServeMux()
			mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 200, body) })
			w.ServeMux = mux
			_, err := w.repo().Issue(t.Context(), 12)
			var known *sia.Error
			if !errors.As(err, &known) || known.Permanent || known.Message == "" {
				t.Errorf("got %v", err)
			}
			if asked := w.got("GET /repos"); len(asked) > 0 {
				t.Errorf("it was used: %v", asked)
			}
		})
	}
}

// The same holds for requests as a user, and for a new app's keys: garbage neither signs anybody in, nor empties what
// a user sees, nor registers an app without keys.
func TestGarbageIsNoAnswerToPeople(t *testing.T) {
	bodies := maps.Clone(garbage)
	for name, body := range map[string]string{
		"nobody": `{"id":0,"login":""}`, "a number alone": `{"id":7}`, "a name alone": `{"login":"ada"}`,
		"no number":           `{"total_count":1,"installations":[{"account":null,"suspended_at":null}]}`,
		"suspended or not":    `{"total_count":1,"installations":[{"id":1,"account":{"id":7,"login":"ada"}}]}`,
		"an account of no id": `{"total_count":1,"installations":[{"id":1,"account":{"login":"ada"},"suspended_at":null}]}`,
		"a repository of no id": `{"total_count":1,"installations":[{"id":1,"account":null,"suspended_at":null}],
			"repositories":[{"permissions":{"push":true}}]}`,
		"no private key": `{"id":1,"slug":"s","webhook_secret":"w","client_id":"c","client_secret":"s"}`,
		"no secret":      `{"id":1,"slug":"s","pem":"p","webhook_secret":null,"client_id":"c","client_secret":"s"}`,
		"no client":      `{"id":1,"slug":"s","pem":"p","webhook_secret":"w"}`,
	} {
		bodies[name] = body
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 200, body) }))
			defer srv.Close()
			for what, ask := range peopleAsk(t, srv.URL+"/") {
				if err := ask(t.Context()); err == nil {
					t.Errorf("%s: taken for an answer", what)
				}
			}
		})
	}
}

// A 202 is no answer either.
func TestAcceptedIsNoAnswer(t *testing.T) {
	for _, what := range slices.Sorted(maps.Keys(asks(start(t, "/")))) {
		w := start(t, "/")
		mux := http.NewServeMux()
		mux.HandleFunc("POST /app/installations/{id}/access_tokens", w.mint)
		mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 202, "{}") })
		w.ServeMux = mux
		if err := asks(w)[what](t.Context()); err == nil || sia.IsPermanent(err) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// Every method that sends a request is tried with garbage.
func TestEveryCallIsTried(t *testing.T) {
	b, err := os.ReadFile("dressed_test.go")
	if err != nil {
		t.Fatal(err)
	}
	source := string(b)
	for _, of := range []reflect.Type{reflect.TypeFor[*App](), reflect.TypeFor[*Repo](), reflect.TypeFor[*Actions](),
		reflect.TypeFor[*Checks](), reflect.TypeFor[*CheckRuns](), reflect.TypeFor[*Rules](), reflect.TypeFor[*People]()} {
		for m := range of.Methods() {
			asksGitHub := m.Type.NumIn() > 1 && m.Type.In(1) == reflect.TypeFor[context.Context]()
			// These return tokens or URLs for other requests, or read nothing from a response.
			exempt := slices.Contains([]string{"Redeliver", "RerunChecks", "RevokeToken"}, m.Name)
			if asksGitHub && !exempt && !strings.Contains(source, "."+m.Name+"(ctx") {
				t.Errorf("%s.%s is not tried", of, m.Name)
			}
		}
	}
}

// Each line of the table is checked in full: a complete response passes, one without a required part fails.
func TestEveryPartIsAskedFor(t *testing.T) {
	for _, line := range shapes {
		method, path, _ := strings.Cut(line.request, " ")
		at, err := url.Parse("https://api.github.com/" + strings.NewReplacer("**", "a/b", "*", "1").Replace(path))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := shapeOf(method, at); got != line {
			t.Errorf("%s: an earlier line has this request: %s", line.request, got.request)
		}
		filled, present := strings.Fields(line.filled), strings.Fields(line.present)
		fields := slices.Concat(filled, present)
		if len(fields) == 0 {
			t.Errorf("%s: nothing is required", line.request)
		}
		check := func(without string, value any) error {
			return checkShape(method, at, line.example(t, fields, without, value))
		}
		if err := check("", nil); err != nil {
			t.Errorf("%s: a good answer: %v", line.request, err)
		}
		for _, field := range fields {
			if err := check(field, absent); !errors.Is(err, errIncomplete) {
				t.Errorf("%s without %s: got %v", line.request, field, err)
			}
			parent, _, nested := strings.Cut(field, ".")
			if err := check(parent, nil); nested && !errors.Is(err, errIncomplete) {
				t.Errorf("%s: %s is null: got %v", line.request, parent, err)
			}
		}
		for _, empty := range []any{nil, "", 0} {
			for _, field := range filled {
				if err := check(field, empty); !errors.Is(err, errIncomplete) {
					t.Errorf("%s: %s is %v: got %v", line.request, field, empty, err)
				}
			}
			for _, field := range present {
				if err := check(field, empty); err != nil {
					t.Errorf("%s: %s is %v: got %v", line.request, field, empty, err)
				}
			}
		}
	}
}

// absent stands for a field that a response lacks.
var absent = struct{}{}

// example returns a response with some fields; one of them has another value, or is absent.
func (s shape) example(t *testing.T, fields []string, other string, value any) []byte {
	t.Helper()
	object := map[string]any{}
	set := func(field string, v any) {
		in := object
		parts := strings.Split(field, ".")
		for _, p := range parts[:len(parts)-1] {
			if in[p] == nil {
				in[p] = map[string]any{}
			}
			in = in[p].(map[string]any)
		}
		if last := parts[len(parts)-1]; v == absent {
			delete(in, last)
		} else {
			in[last] = v
		}
	}
	for _, f := range fields {
		set(f, "x")
	}
	if other != "" {
		set(other, value)
	}
	var answer any = object
	if s.list != "" {
		answer = []any{object}
	}
	if s.list != "" && s.list != "@this" && s.list != objectOrList {
		answer = map[string]any{s.list: answer}
	}
	b, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A list with a bad link to the next page is an error, and links to other hosts are not followed.
func TestPagesThatCannotBeFollowed(t *testing.T) {
	for name, link := range map[string]string{
		"the same page":   `<%s?page=1>; rel="next"`,
		"a page before":   `<%s?page=0>; rel="next"`,
		"no number":       `<%s?after=xyz>; rel="next"`,
		"without quotes":  `<%s?page=1>; rel=next`,
		"on and on":       "",
		"an address only": `<http://evil.test/?page=1>; rel="next"`,
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, "/")
			asked := 0
			w.HandleFunc("GET /repos/acme/shop/pulls/1/reviews", func(rw http.ResponseWriter, req *http.Request) {
				asked++
				is := link
				if is == "" {
					is = fmt.Sprintf(`<%%s?page=%d>; rel="next"`, asked+1)
				}
				if strings.Contains(is, "%s") {
					is = fmt.Sprintf(is, w.base)
				}
				rw.Header().Set("Link", is)
				answer(rw, 200, `[{"id":1,"state":"APPROVED","user":null}]`)
			})
			if got, err := w.repo().Reviews(t.Context(), 1); err == nil || !errors.Is(err, errPages) || asked > maxPages {
				t.Errorf("%d of %d pages, %v", len(got), asked, err)
			}
		})
	}
}
