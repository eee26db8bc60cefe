package probe_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sia-bot/sia/app/github"
)

// tape records GitHub's responses and replays them, also with faults. Runs with the same name send the same requests.
type tape struct {
	mu      sync.Mutex
	answers map[string][]answered // by request, in order
	played  map[string]int
	fault   *fault
}

// answered is one recorded response.
type answered struct {
	status int
	header http.Header
	body   []byte
}

// fault changes the responses to some requests, matched as method, path and body.
type fault struct {
	on *regexp.Regexp
	do func(*answered)
}

// through returns a repository accessed through the tape.
func (t *tape) through(raw github.Raw, record bool) github.Raw {
	if record {
		raw.Network, raw.AsApp = recorder{t, raw.Network}, recorder{t, raw.AsApp}
		return raw
	}
	raw.Network, raw.AsApp = player{t}, player{t}
	return raw
}

// asked formats a request on one line.
func asked(req *http.Request) string {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	path := req.URL.RequestURI()
	for _, prefix := range []string{"/api/v3/repos/" + scratchName, "/api/v3/", "/"} {
		if rest, is := strings.CutPrefix(path, prefix); is {
			path = rest
			break
		}
	}
	return req.Method + " " + path + " " + string(body)
}

type recorder struct {
	tape *tape
	next http.RoundTripper
}

func (r recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	key := asked(req)
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	r.tape.mu.Lock()
	defer r.tape.mu.Unlock()
	r.tape.answers[key] = append(r.tape.answers[key], answered{resp.StatusCode, resp.Header.Clone(), body})
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

type player struct{ tape *tape }

// RoundTrip replays the recorded responses to a request; the last one is repeated.
func (p player) RoundTrip(req *http.Request) (*http.Response, error) {
	key := asked(req)
	p.tape.mu.Lock()
	defer p.tape.mu.Unlock()
	a := answered{status: http.StatusNotFound, header: http.Header{}, body: []byte(`{"message":"not on the tape"}`)}
	if all := p.tape.answers[key]; len(all) > 0 {
		n := min(p.tape.played[key], len(all)-1)
		p.tape.played[key]++
		a = answered{all[n].status, all[n].header.Clone(), bytes.Clone(all[n].body)}
	}
	if f := p.tape.fault; f != nil && f.on.MatchString(key) {
		f.do(&a)
	}
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)),
		Request: req}, nil
}

// Changes that faults make to a response.

func status(from, to int) func(*answered) {
	return func(a *answered) {
		if from == 0 || a.status == from {
			a.status = to
		}
	}
}

func without(header string) func(*answered) {
	return func(a *answered) { a.header.Del(header) }
}

func replaced(old, by string) func(*answered) {
	return func(a *answered) { a.body = regexp.MustCompile(old).ReplaceAll(a.body, []byte(by)) }
}

// set sets the value at a path, or changes nothing if the path does not exist.
func set(path string, value any) func(*answered) {
	return changed(path, func(o map[string]any, name string) { o[name] = value })
}

func dropped(path string) func(*answered) {
	return changed(path, func(o map[string]any, name string) { delete(o, name) })
}

func changed(path string, change func(o map[string]any, name string)) func(*answered) {
	return func(a *answered) {
		var root any
		numbers := json.NewDecoder(bytes.NewReader(a.body))
		numbers.UseNumber()
		if numbers.Decode(&root) != nil {
			return
		}
		names, v := strings.Split(path, "."), root
		for _, name := range names[:len(names)-1] {
			switch x := v.(type) {
			case map[string]any:
				v = x[name]
			case []any:
				if n, err := strconv.Atoi(name); err == nil && n < len(x) {
					v = x[n]
				}
			}
		}
		if o, is := v.(map[string]any); is {
			change(o, names[len(names)-1])
			a.body, _ = json.Marshal(root)
		}
	}
}

// ended changes the conclusion of the run of one of the bench's workflows.
func ended(file, conclusion string) func(*answered) {
	return func(a *answered) {
		for i := range 10 {
			at := fmt.Sprintf("workflow_runs.%d.", i)
			changed(at+"conclusion", func(o map[string]any, name string) {
				if strings.HasSuffix(fmt.Sprint(o["path"]), "-"+file+".yml") {
					o[name] = conclusion
				}
			})(a)
		}
	}
}
