package runner

import (
	"encoding/json"
	"strings"
)

// plain converts a value to JSON's types, for expressions.
func plain(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}

// github is the context github, from the event.
// https://docs.github.com/en/actions/reference/workflows-and-actions/contexts#github-context
func (e Event) github() map[string]any {
	event := plain(e.Payload)
	at := func(path ...string) any {
		v := event
		for _, name := range path {
			v = property(v, name)
		}
		return v
	}
	out := map[string]any{"event_name": e.Name, "event": event, "ref": at("ref"), "actor": at("sender", "login"),
		"repository": at("repository", "full_name"), "repository_owner": at("repository", "owner", "login"),
		"head_ref": "", "base_ref": "", "sha": at("after")}
	if e.Name == "pull_request" {
		out["ref"] = "refs/pull/" + asText(at("number")) + "/merge"
		out["head_ref"], out["base_ref"] = at("pull_request", "head", "ref"), at("pull_request", "base", "ref")
		out["sha"] = at("pull_request", "head", "sha")
	}
	if e.Name == "merge_group" {
		out["ref"], out["sha"] = at("merge_group", "head_ref"), at("merge_group", "head_sha")
	}
	ref := asText(out["ref"])
	for _, kind := range []string{"refs/heads/", "refs/tags/", "refs/pull/"} {
		ref = strings.TrimPrefix(ref, kind)
	}
	out["ref_name"] = ref
	return out
}

// withEnvironment adds the values of a job's environment to the context github.
func withEnvironment(github map[string]any, env map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range github {
		out[k] = v
	}
	for k, v := range env {
		if name, is := strings.CutPrefix(k, "GITHUB_"); is {
			out[strings.ToLower(name)] = v
		}
	}
	return out
}

// Need is the result of a job that another needs.
type Need struct {
	Result  string // success, failure, cancelled or skipped
	Outputs map[string]string
}

// contextOf is the context needs.
func contextOf(needs map[string]Need) map[string]any {
	out := map[string]any{}
	for key, n := range needs {
		key = key[strings.LastIndex(key, "/")+1:] // names within a reusable workflow
		key = strings.TrimSpace(key)
		outputs := map[string]any{}
		for k, v := range n.Outputs {
			outputs[k] = v
		}
		out[key] = map[string]any{"result": n.Result, "outputs": outputs}
	}
	return out
}
