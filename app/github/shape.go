package github

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
)

// shape describes the required parts of a response. A response that lacks one is an error for every caller: a branch
// without its protection in the response is not unprotected, and an issue without labels in the response has not lost
// its label.
type shape struct {
	kind     shapeKind
	fields   map[string]field // of the object, or of each element of the list
	fragment *shape           // fields of a fragment in a GraphQL query, which are required as well
}

type shapeKind int

const (
	scalarShape shapeKind = iota // string, number or boolean
	objectShape
	listShape
	eitherShape   // an object, or a list of objects
	anythingShape // any JSON
)

// field is one field of an object.
type field struct {
	shape
	need need
}

type need int

const (
	filled  need = iota // present, and not null, "" or 0
	notNull             // present, and not null
	present             // present; may be null or empty
	allowed             // optional; checked if present
)

// shapes are the shapes of successful responses, by request: "*" matches one part of the path, "**" the rest. They
// list fields that are always present by GitHub's description, if their absence could be mistaken for a value:
//
//	{name}      an object in which name is filled     {name?}      in which name is there
//	{a{b} c[]}  that holds an object, and a list      {a?{b}}      in which the object may be missing
//	[name]      a list of objects                     {name}|[b]   one or the other
//
// https://github.com/github/rest-api-description
var shapes = shapeTable{
	{"GET app", "{id slug permissions{}}"},
	{"GET app/hook/config", "{content_type}"},
	{"GET app/hook/deliveries", "[id guid event delivered_at status_code?]"},
	{"GET app/installations", "[id account?{login} permissions{}]"},
	{"POST app/installations/*/access_tokens", "{token expires_at}"},
	{"GET app/installations/*", "{id permissions{}}"},
	{"POST app-manifests/*/conversions", "{id pem webhook_secret client_id client_secret}"},
	{"GET installation/repositories", "{repositories[id name private default_branch owner{login}]}"},
	{"GET user", "{id login}"},
	{"GET user/installations", "{installations[id account?{login id} suspended_at?]}"},
	{"GET user/installations/*/repositories", "{repositories[id permissions?{}]}"},
	{"GET repositories/*", "{id full_name}"},
	{"GET repos/*/*", "{id name default_branch owner{login}}"},
	{"GET repos/*/*/installation", "{id permissions{}}"},
	{"GET repos/*/*/collaborators/*/permission", "{permission}"},
	{"GET repos/*/*/branches/*", "{protected? protection?{required_status_checks?{contexts[]}}}"},
	{"GET repos/*/*/branches/*/protection/required_status_checks", "{contexts[]}"},
	{"GET repos/*/*/rules/branches/*", "[type]"},
	{"GET repos/*/*/git/ref/**", "{object{sha}}"},
	{"POST repos/*/*/git/commits", "{sha verification{verified?}}"},
	{"GET repos/*/*/commits", "[sha]"},
	{"GET repos/*/*/commits/*", "{sha commit{verification{verified?}}}"},
	{"GET repos/*/*/commits/*/check-runs", "{check_runs[id name status conclusion?]}"},
	{"GET repos/*/*/commits/*/status", "{statuses[context state]}"},
	{"GET repos/*/*/contents/**", "{type name}|[type name path]"},
	{"POST repos/*/*/check-runs", "{id}"},
	{"GET repos/*/*/check-runs/*", "{id name head_sha status conclusion?}"},
	{"PATCH repos/*/*/check-runs/*", "{id}"},
	{"GET repos/*/*/check-runs/*/annotations", "[path annotation_level?]"},
	{"GET repos/*/*/actions/runs", "{workflow_runs[id head_sha event status path?]}"},
	{"GET repos/*/*/actions/runs/*/jobs", "{jobs[id run_attempt]}"},
	{"GET repos/*/*/actions/runs/*/artifacts", "{artifacts[id name expired?]}"},
	{"GET repos/*/*/actions/jobs/*", "{id status steps?[number]}"},
	{"GET repos/*/*/issues", "[number state labels[]]"},
	{"POST repos/*/*/issues", "{number}"},
	{"GET repos/*/*/issues/*", "{number state labels[]}"},
	{"PATCH repos/*/*/issues/*", "{number}"},
	{"GET repos/*/*/issues/*/dependencies/blocked_by", "[number state repository?{full_name}]"},
	{"GET repos/*/*/issues/comments", "[id user? created_at]"},
	{"GET repos/*/*/issues/*/comments", "[id user? created_at]"},
	{"POST repos/*/*/issues/*/comments", "{id}"},
	{"GET repos/*/*/issues/comments/*", "{id user?}"},
	{"PATCH repos/*/*/issues/comments/*", "{id}"},
	{"GET repos/*/*/issues/comments/*/reactions", "[id content user?]"},
	{"POST repos/*/*/issues/comments/*/reactions", "{id}"},
	{"POST repos/*/*/issues/*/reactions", "{id}"},
	{"POST repos/*/*/pulls/comments/*/reactions", "{id}"},
	{"GET repos/*/*/labels", "[name]"},
	{"POST repos/*/*/labels", "{name}"},
	{"PATCH repos/*/*/labels/*", "{name}"},
	{"GET repos/*/*/issues/*/labels", "[name]"},
	{"POST repos/*/*/issues/*/labels", "[name]"},
	{"GET repos/*/*/pulls", "[number state head{ref sha} base{ref}]"},
	{"POST repos/*/*/pulls", "{number}"},
	{"GET repos/*/*/pulls/*", "{number state merged? head{ref sha} base{ref}}"},
	{"PATCH repos/*/*/pulls/*", "{number}"},
	{"PUT repos/*/*/pulls/*/merge", "{sha merged?}"},
	{"GET repos/*/*/pulls/*/comments", "[id path user?]"},
	{"GET repos/*/*/pulls/comments/*", "{id}"},
	{"POST repos/*/*/pulls/*/comments/*/replies", "{id}"},
	{"GET repos/*/*/pulls/*/reviews", "[id state user?]"},
	{"POST repos/*/*/pulls/*/reviews", "{id}"},
}

// shapeTable is the text form of shapes.
type shapeTable []struct{ request, holds string }

// parsedShape is a parsed line of the table.
type parsedShape struct {
	request      []string
	alternatives []shape // alternatives
}

var parsedShapes = sync.OnceValue(func() (all []parsedShape) {
	for _, line := range shapes {
		p := parsedShape{request: strings.FieldsFunc(line.request, func(r rune) bool { return r == ' ' || r == '/' })}
		for one := range strings.SplitSeq(line.holds, "|") {
			s, rest := parseShape(one)
			if rest != "" {
				panic("the shape " + line.holds + " can't be read") // a test reads them all
			}
			p.alternatives = append(p.alternatives, s)
		}
		all = append(all, p)
	}
	return all
})

// parseShape reads one object or list from the beginning of text.
func parseShape(text string) (shape, string) {
	s := shape{kind: objectShape, fields: map[string]field{}}
	end := "}"
	if strings.HasPrefix(text, "[") {
		s.kind, end = listShape, "]"
	}
	for text = text[1:]; !strings.HasPrefix(text, end); text = strings.TrimPrefix(text, " ") {
		n := strings.IndexAny(text, " ?{}[]")
		if n <= 0 {
			return s, "!" + text
		}
		name, f := text[:n], field{}
		text = text[n:]
		maybe := strings.HasPrefix(text, "?")
		text = strings.TrimPrefix(text, "?")
		switch {
		case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
			if f.shape, text = parseShape(text); maybe {
				f.need = allowed
			}
		case maybe:
			f.kind, f.need = anythingShape, present
		}
		s.fields[name] = f
	}
	return s, text[1:]
}

// expectedShapes returns the alternative shapes of a request's response, or nil if the table has none.
func expectedShapes(method string, at *url.URL) []shape {
	path := at.EscapedPath()
	if i := strings.Index(path, enterprisePath); i >= 0 {
		path = path[i+len(enterprisePath):]
	}
	parts := append([]string{method}, strings.Split(strings.Trim(path, "/"), "/")...)
	if len(parts) > 3 && parts[1] == "repositories" { // by id, as redirects of renamed repositories use it
		parts = append([]string{method, "repos", "*", "*"}, parts[3:]...)
	}
	var best *parsedShape
	for i, p := range parsedShapes() {
		if p.matches(parts) && (best == nil || p.isNarrower(best)) {
			best = &parsedShapes()[i]
		}
	}
	if best == nil {
		return nil
	}
	return best.alternatives
}

// isNarrower reports whether p has fewer wildcards than other, as "issues/comments" has compared to "issues/*".
func (p parsedShape) isNarrower(other *parsedShape) bool {
	return strings.Count(strings.Join(p.request, "/"), "*") < strings.Count(strings.Join(other.request, "/"), "*")
}

func (p parsedShape) matches(parts []string) bool {
	for i, want := range p.request {
		switch {
		case want == "**":
			return true
		case i >= len(parts), want != "*" && want != parts[i]:
			return false
		}
	}
	return len(parts) == len(p.request)
}

// checkShape returns [errIncomplete] with the first missing part of a successful response. Malformed JSON is an error
// of its own.
func checkShape(method string, at *url.URL, body []byte) error {
	alternatives := expectedShapes(method, at)
	if alternatives == nil {
		return nil
	}
	if len(body) == 0 {
		return errIncomplete
	}
	var got any
	if err := json.Unmarshal(body, &got); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var err error
	for _, s := range alternatives {
		if err = s.check(got, ""); err == nil {
			return checkPage(got, at)
		}
	}
	return err
}

// checkPage returns an error for a first page with a positive total_count and no elements.
func checkPage(got any, at *url.URL) error {
	answer, _ := got.(map[string]any)
	total, counted := answer["total_count"].(float64)
	if page := at.Query().Get("page"); !counted || total <= 0 || page != "" && page != "1" {
		return nil
	}
	for name, v := range answer {
		if elements, ok := v.([]any); ok && len(elements) == 0 {
			return fmt.Errorf("%w: of %.0f %s it holds none", errIncomplete, total, name)
		}
	}
	return nil
}

// check returns an error that names the first missing part; at is the path to got.
func (s shape) check(got any, at string) error {
	missing := func(what string) error {
		return fmt.Errorf("%w that can be used: %s", errIncomplete, strings.TrimPrefix(at+" is "+what, " "))
	}
	switch got := got.(type) {
	case map[string]any:
		if s.kind != objectShape && s.kind != eitherShape && s.kind != anythingShape {
			return missing("an object")
		}
		for name, f := range s.fields {
			v, there := got[name]
			if err := f.check(v, there, strings.TrimPrefix(at+"."+name, ".")); err != nil {
				return err
			}
		}
	case []any:
		if s.kind != listShape && s.kind != eitherShape && s.kind != anythingShape {
			return missing("a list")
		}
		for i, v := range got {
			if len(s.fields) == 0 {
				break
			}
			if err := (shape{kind: objectShape, fields: s.fields}).check(v, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case nil:
		return missing("missing")
	default:
		if s.kind != scalarShape && s.kind != anythingShape {
			return missing("neither object nor list")
		}
	}
	return nil
}

func (f field) check(v any, there bool, at string) error {
	switch {
	case v == nil && (f.need == allowed || f.need == present && there):
		return nil
	case !there || v == nil, f.need == filled && f.kind == scalarShape && (v == "" || v == 0.0):
		return fmt.Errorf("%w that can be used: %s is missing", errIncomplete, at)
	}
	return f.shape.check(v, at)
}
