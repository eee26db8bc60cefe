package github

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// requiredFor is how long it is remembered what a branch requires: long enough
// for the looks at one commit, short enough for a rule that somebody adds.
const requiredFor = time.Minute

// requirement is what is known about the checks that a branch requires.
type requirement struct {
	names []string
	known bool
}

// Required returns the names of the checks that must be green before something
// is merged into a branch, by the repository's rules and by branch protection,
// sorted. known is false when GitHub does not let the app see one of the two;
// names then holds what the other one says. Answers are remembered for a minute.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
// https://docs.github.com/en/rest/branches/branches#get-a-branch
func (r *Repo) Required(ctx context.Context, branch string) (names []string, known bool, err error) {
	if got, ok := r.required.get(branch); ok {
		return slices.Clone(got.names), got.known, nil
	}
	rules, rulesKnown, err := r.requiredByRules(ctx, branch)
	if err != nil {
		return nil, false, r.fail(err, "read the rules of branch %s of %s", branch, r.repo)
	}
	protection, protectionKnown, err := r.requiredByProtection(ctx, branch)
	if err != nil {
		return nil, false, r.fail(err, "read the protection of branch %s of %s", branch, r.repo)
	}
	names = slices.Concat(rules, protection)
	slices.Sort(names)
	names = slices.Compact(names)
	known = rulesKnown && protectionKnown
	r.required.put(branch, requirement{slices.Clone(names), known})
	return names, known, nil
}

// requiredByRules reads the rule sets. Unlike go-github it passes over kinds of
// rules that it does not know.
func (r *Repo) requiredByRules(ctx context.Context, branch string) (names []string, known bool, err error) {
	var rules []struct {
		Type       string          `json:"type"`
		Parameters json.RawMessage `json:"parameters"`
	}
	err = r.send(ctx, http.MethodGet, "rules/branches/"+url.PathEscape(branch)+"?per_page=100", nil, &rules)
	if hiddenFromApp(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for _, rule := range rules {
		if rule.Type != "required_status_checks" {
			continue
		}
		var p struct {
			Checks []struct {
				Context string `json:"context"`
			} `json:"required_status_checks"`
		}
		if err := json.Unmarshal(rule.Parameters, &p); err != nil {
			return nil, false, err
		}
		for _, c := range p.Checks {
			names = append(names, c.Context)
		}
	}
	return names, true, nil
}

// statusChecks is the required_status_checks of a protected branch.
type statusChecks struct {
	Contexts []string `json:"contexts"`
	Checks   []struct {
		Context string `json:"context"`
	} `json:"checks"`
}

func (s statusChecks) names() []string {
	names := slices.Clone(s.Contexts)
	for _, c := range s.Checks {
		names = append(names, c.Context)
	}
	return names
}

// requiredByProtection reads the branch, which says what its protection requires
// to everybody who can read it, and asks the protection itself, which takes
// administration rights, only when that says nothing.
func (r *Repo) requiredByProtection(ctx context.Context, branch string) (names []string, known bool, err error) {
	at := "branches/" + url.PathEscape(branch)
	var b struct {
		Protected  bool `json:"protected"`
		Protection *struct {
			Enabled bool          `json:"enabled"`
			Checks  *statusChecks `json:"required_status_checks"`
		} `json:"protection"`
	}
	err = r.send(ctx, http.MethodGet, at, nil, &b)
	switch {
	case hiddenFromApp(err):
	case err != nil:
		return nil, false, err
	case !b.Protected || (b.Protection != nil && !b.Protection.Enabled):
		return nil, true, nil
	case b.Protection != nil && b.Protection.Checks != nil:
		return b.Protection.Checks.names(), true, nil
	}
	var checks statusChecks
	err = r.send(ctx, http.MethodGet, at+"/protection/required_status_checks", nil, &checks)
	switch {
	case refusalSays(err, "not enabled") || refusalSays(err, "not protected"):
		return nil, true, nil
	case hiddenFromApp(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return checks.names(), true, nil
}

// hiddenFromApp reports whether GitHub hides something from the app.
func hiddenFromApp(err error) bool {
	s := statusOf(err)
	return s == http.StatusNotFound || s == http.StatusForbidden
}
