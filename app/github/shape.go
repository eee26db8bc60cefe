package github

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tidwall/gjson"
)

// shape is what the successful response to a request has to hold. A response that lacks part of it is an error for
// every caller: a branch without its protection in the response is not unprotected, and an issue without labels in
// the response has not lost its label.
type shape struct {
	request string // method and path: "*" matches one part of the path, "**" the rest
	list    string // the list, of which each element has the fields; "@this": the response itself; "": it is no list
	filled  string // fields that are not null, "" or 0
	present string // fields that may be null or empty
}

// objectOrList is a list that has the only element if the response is an object.
const objectOrList = "[@this].@flatten"

// shapes has the requests whose responses could be mistaken for something else if a part were missing, which GitHub's
// description says is always there. The first line that matches counts. Requests for which the caller needs nothing
// but an id or a number check it themselves ([require]). Lists and fields are paths of gjson.
// https://github.com/github/rest-api-description
var shapes = []shape{
	{"GET app", "", "id slug permissions", ""},
	{"GET app/hook/config", "", "content_type", ""},
	{"GET app/hook/deliveries", "@this", "id guid event delivered_at", "status_code"},
	{"GET app/installations", "@this", "id permissions", ""},
	{"POST app/installations/*/access_tokens", "", "token expires_at", ""},
	{"GET app/installations/*", "", "id permissions", ""},
	{"POST app-manifests/*/conversions", "", "id pem webhook_secret client_id client_secret", ""},
	{"GET installation/repositories", "repositories", "id name private default_branch owner.login", ""},
	{"GET user", "", "id login", ""},
	{"GET user/installations", "installations", "id", "suspended_at"},
	{"GET user/installations/*/repositories", "repositories", "id", ""},
	{"GET repositories/*", "", "id full_name", ""},
	{"GET repos/*/*", "", "id name default_branch owner.login", ""},
	{"GET repos/*/*/installation", "", "id permissions", ""},
	{"GET repos/*/*/collaborators/*/permission", "", "permission", ""},
	{"GET repos/*/*/branches/*", "", "", "protected"},
	{"GET repos/*/*/branches/*/protection/required_status_checks", "", "contexts", ""},
	{"GET repos/*/*/rules/branches/*", "@this", "type", ""},
	{"GET repos/*/*/git/ref/**", "", "object.sha", ""},
	{"POST repos/*/*/git/commits", "", "sha", "verification.verified"},
	{"GET repos/*/*/commits", "@this", "sha", ""},
	{"GET repos/*/*/commits/*", "", "sha", "commit.verification.verified"},
	{"GET repos/*/*/commits/*/check-runs", "check_runs", "id name status", "conclusion"},
	{"GET repos/*/*/commits/*/status", "statuses", "context state", ""},
	{"GET repos/*/*/contents/**", objectOrList, "type name path", ""},
	{"GET repos/*/*/check-runs/*", "", "id name head_sha status", "conclusion"},
	{"GET repos/*/*/check-runs/*/annotations", "@this", "path", "annotation_level"},
	{"GET repos/*/*/actions/runs", "workflow_runs", "id head_sha event status", "path"},
	{"GET repos/*/*/actions/runs/*/jobs", "jobs", "id run_attempt", ""},
	{"GET repos/*/*/actions/runs/*/artifacts", "artifacts", "id name", "expired"},
	{"GET repos/*/*/actions/jobs/*", "", "id status", ""},
	{"GET repos/*/*/issues", "@this", "number state labels", ""},
	{"GET repos/*/*/issues/comments", "@this", "id created_at", "user"},
	{"GET repos/*/*/issues/*", "", "number state labels", ""},
	{"PATCH repos/*/*/issues/*", "", "number", ""},
	{"GET repos/*/*/issues/*/dependencies/blocked_by", "@this", "number state", ""},
	{"GET repos/*/*/issues/*/comments", "@this", "id created_at", "user"},
	{"GET repos/*/*/issues/comments/*", "", "id", "user"},
	{"GET repos/*/*/issues/comments/*/reactions", "@this", "id content", "user"},
	{"POST repos/*/*/issues/comments/*/reactions", "", "id", ""},
	{"POST repos/*/*/issues/*/reactions", "", "id", ""},
	{"POST repos/*/*/pulls/comments/*/reactions", "", "id", ""},
	{"GET repos/*/*/labels", "@this", "name", ""},
	{"POST repos/*/*/labels", "", "name", ""},
	{"PATCH repos/*/*/labels/*", "", "name", ""},
	{"GET repos/*/*/issues/*/labels", "@this", "name", ""},
	{"POST repos/*/*/issues/*/labels", "@this", "name", ""},
	{"GET repos/*/*/pulls", "@this", "number state head.ref head.sha base.ref", ""},
	{"GET repos/*/*/pulls/*", "", "number state head.ref head.sha base.ref", "merged"},
	{"PUT repos/*/*/pulls/*/merge", "", "sha", "merged"},
	{"GET repos/*/*/pulls/*/comments", "@this", "id path", "user"},
	{"GET repos/*/*/pulls/comments/*", "", "id", ""},
	{"POST repos/*/*/pulls/*/comments/*/replies", "", "id", ""},
	{"GET repos/*/*/pulls/*/reviews", "@this", "id state", "user"},
}

// shapeOf returns the line of a request in the table, or false if there is none.
func shapeOf(method string, at *url.URL) (shape, bool) {
	path := at.EscapedPath()
	if i := strings.Index(path, enterprisePath); i >= 0 {
		path = path[i+len(enterprisePath):]
	}
	path = strings.Trim(path, "/")
	if rest, byID := strings.CutPrefix(path, "repositories/"); byID { // as redirects of renamed repositories use it
		if _, rest, longer := strings.Cut(rest, "/"); longer {
			path = "repos/by/id/" + rest
		}
	}
	for _, s := range shapes {
		if doublestar.MatchUnvalidated(s.request, method+" "+path) {
			return s, true
		}
	}
	return shape{}, false
}

// checkShape returns [errIncomplete] with the first missing part of a successful response. Malformed JSON is an error
// of its own.
func checkShape(method string, at *url.URL, body []byte) error {
	s, known := shapeOf(method, at)
	switch {
	case !known:
		return nil
	case len(body) == 0:
		return errIncomplete
	case !gjson.ValidBytes(body):
		return errors.New("read the answer: it is not JSON")
	}
	answer := gjson.ParseBytes(body)
	if s.list == "" {
		return s.check(answer)
	}
	list := answer.Get(s.list)
	if !list.IsArray() {
		return fmt.Errorf("%w that can be used: %s is no list", errIncomplete, strings.TrimPrefix(s.list, "@"))
	}
	elements := list.Array()
	page := at.Query().Get("page")
	if total := answer.Get("total_count").Int(); total > 0 && len(elements) == 0 && (page == "" || page == "1") {
		return fmt.Errorf("%w: of %d %s it holds none", errIncomplete, total, s.list)
	}
	for _, e := range elements {
		if err := s.check(e); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error that names the first field that an object lacks.
func (s shape) check(object gjson.Result) error {
	missing := func(field string) error {
		return fmt.Errorf("%w that can be used: %s is missing", errIncomplete, field)
	}
	for field := range strings.FieldsSeq(s.filled) {
		if v := object.Get(field); v.Type == gjson.Null || v.Raw == `""` || v.Type == gjson.Number && v.Num == 0 {
			return missing(field)
		}
	}
	for field := range strings.FieldsSeq(s.present) {
		if !object.Get(field).Exists() {
			return missing(field)
		}
	}
	return nil
}
