package github

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// reaching returns a client of a GitHub in which a user can access an installation with one repository on each of
// some pages. It calls take before each response.
func reaching(t *testing.T, pages int, take func(*http.Request) error) *People {
	t.Helper()
	p, err := NewPeople("https://github.test/", transport(func(r *http.Request) (*http.Response, error) {
		if err := take(r); err != nil {
			return nil, err
		}
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r}
		body := `{"total_count":1,"installations":[{"id":5,"account":{"login":"acme","id":6},"suspended_at":null}]}`
		if !strings.HasSuffix(r.URL.Path, "/installations") {
			n, err := strconv.Atoi(r.URL.Query().Get("page"))
			if err != nil {
				return nil, err
			}
			body = fmt.Sprintf(`{"repositories":[{"id":%d,"permissions":{"push":true}}]}`, n)
			if n < pages {
				resp.Header.Set("Link", fmt.Sprintf(`<https://github.test/?page=%d>; rel="next", `+
					`<https://github.test/?page=%d>; rel="last"`, n+1, pages))
			}
		}
		resp.Body = io.NopCloser(strings.NewReader(body))
		return resp, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The pages of a long list are read concurrently, up to a limit.
func TestReachAsksForPagesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		under, answer := make(chan string, 100), make(chan struct{})
		p := reaching(t, 20, func(r *http.Request) error {
			if n := r.URL.Query().Get("page"); n != "1" {
				under <- n
				<-answer
			}
			return nil
		})
		done := make(chan struct{})
		go func() {
			defer close(done)
			all, complete, err := p.Reach(t.Context(), "t", 100)
			if err != nil || !complete || len(all) != 1 || len(all[0].Repos) != 20 || !all[0].Repos[20]["push"] {
				t.Errorf("%+v, whole: %v, %v", all, complete, err)
			}
		}()
		synctest.Wait()
		if n := len(under); n != reachConcurrency {
			t.Errorf("%d pages are asked for at once", n)
		}
		close(answer)
		<-done
	})
}

// A lookup ends at the time limit with the results so far. Without any, it is an error.
func TestReachEndsInTime(t *testing.T) {
	for took, want := range map[time.Duration]int{time.Second: 40, 9 * time.Second: 9, 16 * time.Second: 0} {
		synctest.Test(t, func(t *testing.T) {
			p := reaching(t, 40, func(r *http.Request) error {
				select {
				case <-time.After(took):
					return nil
				case <-r.Context().Done():
					return r.Context().Err()
				}
			})
			all, complete, err := p.Reach(t.Context(), "t", 100)
			found := 0
			for _, in := range all {
				found += len(in.Repos)
			}
			if found != want || complete != (want == 40) || errors.Is(err, errReachTimeout) != (want == 0) {
				t.Errorf("answers take %s: %d repositories are found, whole: %v, %v", took, found, complete, err)
			}
		})
	}
}

// No more pages are read than allowed.
func TestReachIsBounded(t *testing.T) {
	p := reaching(t, 1_000_000, func(*http.Request) error { return nil })
	all, complete, err := p.Reach(t.Context(), "t", 10)
	if err != nil || complete || len(all) != 1 || len(all[0].Repos) != 9 {
		t.Errorf("%+v, whole: %v, %v", all, complete, err)
	}
}

// A user's token is used right after it was issued, when some of GitHub's replicas may not have it.
func TestWhoHasANewToken(t *testing.T) {
	for refusals, want := range map[int]string{0: "", 2: "", 3: ErrRevoked.Error()} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			p, err := NewPeople("https://github.test/", transport(func(r *http.Request) (*http.Response, error) {
				asked++
				code, body := http.StatusOK, `{"login":"ann","id":5}`
				if asked <= refusals {
					code, body = http.StatusUnauthorized, `{"message":"Bad credentials"}`
				}
				return &http.Response{StatusCode: code, Header: http.Header{}, Request: r, Body: readCloser(body)}, nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			who, err := p.Who(t.Context(), "t")
			if (want == "") != (who.Login == "ann") || err != nil && !strings.Contains(err.Error(), want) ||
				asked != min(refusals, 2)+1 {
				t.Errorf("%d refusals: %+v, %v, asked %d times", refusals, who, err, asked)
			}
			time.Sleep(requestTimeout) // in the bubble's time, for net/http's remaining goroutines
		})
	}
}
