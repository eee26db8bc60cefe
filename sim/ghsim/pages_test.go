package ghsim_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"
)

const nasty = `<script>alert(1)</script><img src=x onerror=alert(2)>

[x](javascript:alert(3))

<!-- sia:v1 hidden -->
<details><summary>More</summary>

- [x] done
- [ ] **B** open

</details>`

func TestPagesAreSafeAndComplete(t *testing.T) {
	s := newSim(t, map[string]string{"README.md": "# Shop\n" + nasty, "src/a.txt": "<script>alert(4)</script>\n",
		"test.sh":                  "echo '<script>alert(5)</script>'; exit 1\n",
		".github/workflows/ci.yml": "on: push\njobs: {test: {steps: [{uses: actions/checkout@v4}, {run: sh ./test.sh}]}}\n"})
	n, err := s.OpenIssue(repoName, "dana", "<b>Title</b>", nasty, "sia")
	must(t, err)
	sha, err := s.PushFiles(repoName, "sia/issue-1", "dana", "<i>message</i>",
		map[string]string{"src/a.txt": "<script>alert(6)</script>\n", ".sia/tasks/1.md": "# Task 1\n"})
	must(t, err)
	p, err := s.OpenPull(repoName, "dana", "sia/issue-1", "main", "Pull", nasty, false)
	must(t, err)
	_, err = s.Comment(repoName, p, "dana", nasty)
	must(t, err)
	_, _, err = s.bot().Checks.CreateCheckRun(ctx, "acme", "shop",
		github.CreateCheckRunOptions{Name: "SIA", HeadSHA: sha, Conclusion: ptr("failure"),
			Output: &github.CheckRunOutput{Title: ptr("<u>t</u>"), Summary: ptr(nasty),
				Annotations: []*github.CheckRunAnnotation{
					{Path: ptr("src/a.txt"), StartLine: ptr(1), EndLine: ptr(1), AnnotationLevel: ptr("failure"),
						Message: ptr("<s>bad</s>")}}}})
	must(t, err)
	s.settle()

	alive := regexp.MustCompile(`(?i)<script|onerror=|"javascript:|sia:v1|<b>Title|<i>message|<u>t<|<s>bad`)
	pages := s.crawl()
	for path, body := range pages {
		plain := strings.Contains(path, "/raw/") || strings.Contains(path, "/commit/") || strings.Contains(path, "/files")
		if bad := alive.FindString(body); bad != "" && !plain {
			t.Errorf("%s holds %q", path, bad)
		}
	}
	for path, wants := range map[string][]string{
		"/": {"acme/shop"},
		fmt.Sprintf("/acme/shop/issues/%d", n): {"<details>", "<summary>More</summary>", `type="checkbox"`,
			"Tick “B open”", "added the label sia"},
		fmt.Sprintf("/acme/shop/pull/%d", p):          {"SIA", "test", "failure", "sia/issue-1"},
		"/acme/shop/blob/sia/issue-1/.sia/tasks/1.md": {"Task 1</h1>"},
		fmt.Sprintf("/acme/shop/pull/%d/files", p):    {"&lt;script&gt;alert(6)"},
	} {
		for _, want := range wants {
			if !strings.Contains(pages[path], want) {
				t.Errorf("%s has no %q", path, want)
			}
		}
	}
	logs := 0
	for _, body := range pages {
		if strings.Contains(body, "Process completed with exit code 1.") && strings.Contains(body, "&lt;script&gt;alert(5)") {
			logs++
		}
	}
	if logs == 0 {
		t.Error("no page shows the log")
	}
	if len(pages) < 15 {
		t.Errorf("only %d pages are linked", len(pages))
	}
}

var href = regexp.MustCompile(`href="(/[^"#]*|\?[^"]*)`)

// crawl follows every link of the pages; each must have a target.
func (s *sim) crawl() map[string]string {
	s.t.Helper()
	pages := map[string]string{}
	todo := []string{"/"}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		if _, seen := pages[path]; seen {
			continue
		}
		resp, body := s.do("GET", path, "", "")
		pages[path] = body
		if resp.StatusCode != 200 {
			s.t.Errorf("%s: %d %s", path, resp.StatusCode, body)
			continue
		}
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") &&
			!strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			s.t.Errorf("%s has no content security policy", path)
		}
		for _, m := range href.FindAllStringSubmatch(body, -1) {
			link := strings.ReplaceAll(m[1], "&amp;", "&")
			if strings.HasPrefix(link, "?") {
				link = strings.Split(path, "?")[0] + link
			}
			todo = append(todo, link)
		}
	}
	return pages
}

func TestFormsActAsAPerson(t *testing.T) {
	s := newSim(t, nil)
	post := func(path string, want int, fields ...string) {
		t.Helper()
		v := url.Values{"as": {"dana"}}
		for i := 0; i+1 < len(fields); i += 2 {
			v.Set(fields[i], fields[i+1])
		}
		resp, body := s.do("POST", "/acme/shop/"+path, "", v.Encode(), "Content-Type", "application/x-www-form-urlencoded",
			"Origin", s.URL())
		if resp.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", path, resp.StatusCode, body, want)
		}
	}
	post("issues/new", 303, "title", "T", "body", "- [ ] A\r\n- [ ] B\r\n", "label", "sia")
	post("issues/1/comment", 303, "body", "/sia stop")
	post("issues/1/tick", 303, "box", "1")
	post("issues/1/label", 303, "label", "bug")
	post("issues/1/unlabel", 303, "remove", "sia")
	post("issues/1/react", 303, "content", "+1")
	post("issues/1/close", 303)
	post("issues/1/reopen", 303)
	post("issues/1/comment", 422, "body", " ")
	post("issues/1/explode", 404)
	post("issues/1/close", 422, "as", "mallory")
	v, err := s.Issue(repoName, 1)
	must(t, err)
	if v.Body != "- [ ] A\r\n- [x] B\r\n" || len(v.Comments) != 1 || v.Author != "dana" || v.Labels[0] != "bug" ||
		len(v.Reactions) != 1 {
		t.Errorf("issue %+v", v)
	}
	resp, _ := s.do("POST", "/acme/shop/issues/1/close", "", "as=dana", "Content-Type",
		"application/x-www-form-urlencoded", "Origin", "http://evil.example")
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("from another origin: %d", resp.StatusCode)
	}
}
