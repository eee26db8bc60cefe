package pages

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// act carries out a form of a page, as the person chosen in it, and redirects to the page. Requests from other origins
// are refused before this.
func (st *site) act(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	if err := r.ParseForm(); err != nil {
		st.refuse(w, r, http.StatusBadRequest, "form: "+err.Error())
		return
	}
	repo, as := r.PathValue("owner")+"/"+r.PathValue("repo"), r.PostForm.Get("as")
	back, err := st.perform(repo, as, r.PathValue("verb"), r.Form.Get)
	if err != nil {
		code := http.StatusUnprocessableEntity
		if errors.Is(err, errNoPage) {
			code = http.StatusNotFound
		}
		st.refuse(w, r, code, err.Error())
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "as", Value: as, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/"+repo+back, http.StatusSeeOther)
}

// perform carries out one form and returns the page of the repository that shows the result.
func (st *site) perform(repo, as, verb string, field func(string) string) (string, error) {
	if verb == "issues/new" {
		if strings.TrimSpace(field("title")) == "" {
			return "", errors.New("an issue needs a title")
		}
		var labels []string
		if l := field("label"); l != "" {
			labels = append(labels, l)
		}
		n, err := st.people.OpenIssue(repo, as, field("title"), field("body"), labels...)
		return fmt.Sprintf("/issues/%d", n), err
	}
	part := strings.Split(verb, "/")
	if len(part) != 3 || !slices.Contains([]string{"issues", "runs"}, part[0]) {
		return "", fmt.Errorf("%s: %w", verb, errNoPage)
	}
	n := number(part[1])
	back := "/" + part[0] + "/" + part[1]
	if part[0] == "runs" {
		switch part[2] {
		case "press":
			return back, st.people.PressCheckButton(repo, int64(n), as, field("identifier"))
		case "rerequest":
			return back, st.people.RerequestCheckRun(repo, int64(n), as)
		}
		return "", fmt.Errorf("%s: %w", verb, errNoPage)
	}
	switch part[2] {
	case "comment":
		if strings.TrimSpace(field("body")) == "" {
			return "", errors.New("a comment needs text")
		}
		_, err := st.people.Comment(repo, n, as, field("body"))
		return back, err
	case "label":
		return back, st.people.Label(repo, n, as, field("label"))
	case "unlabel":
		return back, st.people.Unlabel(repo, n, as, field("remove"))
	case "tick":
		return back, st.people.TickBox(repo, n, as, field("box"))
	case "react":
		return back, st.people.React(repo, n, int64(number(field("comment"))), as, field("content"))
	case "close":
		return back, st.people.CloseIssue(repo, n, as)
	case "reopen":
		return back, st.people.ReopenIssue(repo, n, as)
	case "merge":
		_, err := st.people.MergePull(repo, n, as)
		return back, err
	}
	return "", fmt.Errorf("%s: %w", verb, errNoPage)
}
