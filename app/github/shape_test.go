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
	for _, of := range []reflect.Type{reflect.TypeFor[*App](), reflect.TypeFor[*Repo](), reflect.TypeFor[*People]()} {
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

// Each line of the table, and each selection of a query, is checked in full: a complete response passes, one without
// a required part fails.
func TestEveryPartIsAskedFor(t *testing.T) {
	for i, line := range shapes {
		p := parsedShapes()[i]
		path := strings.NewReplacer("**", "a/b", "*", "1").Replace(strings.Join(p.request[1:], "/"))
		at, err := url.Parse("https://api.github.com/" + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := expectedShapes(p.request[0], at); len(got) == 0 || !reflect.DeepEqual(got, p.alternatives) {
			t.Errorf("%s: another line has this request", line.request)
		}
		for _, s := range p.alternatives {
			everyPart(t, line.request, s, func(body []byte) error { return checkShape(p.request[0], at, body) })
		}
	}
	for name, query := range map[string]string{"ready": readyMutation, "closing": "query { repository { " +
		closingSelection + sinceSelection + commitRulesSelection + " } }",
		"look": "query { repository { object { ...judges }" +
			pullSelection + baseSelection + branchSelection + mergedSelection + " } } " + judgesFragment + rollupFragment} {
		s := queryShape(query)
		everyPart(t, name, s, func(body []byte) error {
			var got any
			if err := json.Unmarshal(body, &got); err != nil {
				return err
			}
			return s.check(got, "data")
		})
	}
}

func everyPart(t *testing.T, name string, s shape, read func([]byte) error) {
	t.Helper()
	good := s.example()
	all, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	if err := read(all); err != nil {
		t.Errorf("%s: a good answer: %v\n%s", name, err, all)
	}
	parts := 0
	s.without(good, func(way string) {
		parts++
		b, err := json.Marshal(good)
		if err != nil {
			t.Fatal(err)
		}
		if err := read(b); !errors.Is(err, errIncomplete) {
			t.Errorf("%s without %s: got %v", name, way, err)
		}
	})
	if parts == 0 && len(s.fields) > 0 {
		t.Errorf("%s: no part was taken out", name)
	}
}

// example returns a response with the shape.
func (s shape) example() any {
	if s.kind == scalarShape || s.kind == anythingShape {
		return "x"
	}
	out := map[string]any{}
	for name, f := range s.fields {
		out[name] = f.example()
	}
	if s.kind == listShape {
		return []any{out}
	}
	return out
}

// without removes each part of an example in turn.
func (s shape) without(example any, then func(way string)) {
	if l, ok := example.([]any); ok {
		example = l[0]
	}
	of, _ := example.(map[string]any)
	for name, f := range s.fields {
		was := of[name]
		if f.need != allowed {
			delete(of, name)
			then(name)
		}
		if f.need == filled || f.need == notNull {
			of[name] = nil
			then(name + " (null)")
		}
		of[name] = was
		f.without(was, func(way string) { then(name + "." + way) })
	}
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
