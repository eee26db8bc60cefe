package ghsim

import (
	"fmt"
	"slices"
	"strings"
)

// actor is who does something: a person, or an app through an installation.
type actor struct {
	user *user
	app  *app
	inst *installation
}

func (s *Server) who(u *user) actor { return actor{user: u} }

// person finds a repository and a person with at least a role in it; the mutex
// is held.
func (s *Server) person(repo, login, role string) (*repository, actor, error) {
	r, err := s.findRepo(repo)
	if err != nil {
		return nil, actor{}, err
	}
	u := s.users[lower(login)]
	if u == nil {
		return nil, actor{}, fmt.Errorf("no user %s: CreateUser makes one", login)
	}
	if have := r.role(login); !atLeast(have, role) {
		return nil, actor{}, fmt.Errorf("%s has the role %s in %s and needs %s: SetPermission gives it", login, have, repo, role)
	}
	return r, actor{user: u}, nil
}

// onIssue does something to an issue or pull request as a person.
func (s *Server) onIssue(repo string, number int, login, role string, do func(*repository, *issue, actor) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, a, err := s.person(repo, login, "read")
	if err != nil {
		return err
	}
	i := r.issue(number)
	if i == nil {
		return fmt.Errorf("%s has no issue %d", repo, number)
	}
	if have := r.role(login); !atLeast(have, role) && i.by != a.user {
		return fmt.Errorf("%s has the role %s in %s and needs %s: SetPermission gives it", login, have, repo, role)
	}
	return do(r, i, a)
}

// OpenIssue opens an issue as a person who can read the repository, and returns
// its number. Labels are created when the repository lacks them.
func (s *Server) OpenIssue(repo, login, title, body string, labels ...string) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, a, err := s.person(repo, login, "read")
	if err != nil {
		return 0, err
	}
	i := s.openIssue(r, a, title, body)
	for _, name := range labels {
		s.addLabel(r, i, a, s.ensureLabel(r, name))
	}
	return i.number, nil
}

// EditIssueBody replaces the text of an issue or pull request.
func (s *Server) EditIssueBody(repo string, number int, login, body string) error {
	return s.onIssue(repo, number, login, "write", func(r *repository, i *issue, a actor) error {
		s.editIssue(r, i, a, nil, &body)
		return nil
	})
}

// EditIssueTitle replaces the title of an issue or pull request.
func (s *Server) EditIssueTitle(repo string, number int, login, title string) error {
	return s.onIssue(repo, number, login, "write", func(r *repository, i *issue, a actor) error {
		s.editIssue(r, i, a, &title, nil)
		return nil
	})
}

// TickBox ticks a task list box in an issue's text. which is the box's index,
// "0" for the first, or the beginning of its text, such as "B" for a box whose
// text is "**B** …" or "B) …": marks and spaces before it don't count.
func (s *Server) TickBox(repo string, number int, login, which string) error {
	return s.onIssue(repo, number, login, "write", func(r *repository, i *issue, a actor) error {
		body, err := tick(i.body, which)
		if err != nil {
			return fmt.Errorf("ticking a box of %s#%d: %w", repo, number, err)
		}
		s.editIssue(r, i, a, nil, &body)
		return nil
	})
}

// CloseIssue closes an issue or a pull request.
func (s *Server) CloseIssue(repo string, number int, login string) error {
	return s.onIssue(repo, number, login, "triage", func(r *repository, i *issue, a actor) error {
		s.setState(r, i, a, "closed", "completed")
		return nil
	})
}

// ClosePull closes a pull request without merging it.
func (s *Server) ClosePull(repo string, number int, login string) error {
	return s.CloseIssue(repo, number, login)
}

// ReopenIssue opens a closed issue or pull request again.
func (s *Server) ReopenIssue(repo string, number int, login string) error {
	return s.onIssue(repo, number, login, "triage", func(r *repository, i *issue, a actor) error {
		s.setState(r, i, a, "open", "reopened")
		return nil
	})
}

// DeleteIssue deletes an issue for good.
func (s *Server) DeleteIssue(repo string, number int, login string) error {
	return s.onIssue(repo, number, login, "admin", func(r *repository, i *issue, a actor) error {
		s.emit(r, a, "issues", "deleted", object{"issue": s.issueJSON(r, i)})
		r.issues = slices.DeleteFunc(r.issues, func(x *issue) bool { return x == i })
		s.note(Entry{Kind: "issues.deleted", Actor: login, Repo: repo, Number: number})
		return nil
	})
}

// Label puts a label on an issue or pull request.
func (s *Server) Label(repo string, number int, login, name string) error {
	return s.onIssue(repo, number, login, "triage", func(r *repository, i *issue, a actor) error {
		s.addLabel(r, i, a, s.ensureLabel(r, name))
		return nil
	})
}

// Unlabel takes a label off.
func (s *Server) Unlabel(repo string, number int, login, name string) error {
	return s.onIssue(repo, number, login, "triage", func(r *repository, i *issue, a actor) error {
		if !s.removeLabel(r, i, a, name) {
			return fmt.Errorf("%s#%d has no label %s", repo, number, name)
		}
		return nil
	})
}

// Assign assigns somebody to an issue.
func (s *Server) Assign(repo string, number int, login, assignee string) error {
	return s.onIssue(repo, number, login, "triage", func(r *repository, i *issue, a actor) error {
		u := s.users[lower(assignee)]
		if u == nil {
			return fmt.Errorf("no user %s", assignee)
		}
		s.assign(r, i, a, u)
		return nil
	})
}

// Comment comments on an issue or pull request and returns the comment's id.
func (s *Server) Comment(repo string, number int, login, body string) (id int64, err error) {
	err = s.onIssue(repo, number, login, "read", func(r *repository, i *issue, a actor) error {
		id = s.addComment(r, i, a, body).id
		return nil
	})
	return id, err
}

// EditComment replaces the text of a comment.
func (s *Server) EditComment(repo string, id int64, login, body string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, a, err := s.person(repo, login, "read")
	if err != nil {
		return err
	}
	c := r.comment(id)
	if c == nil {
		return fmt.Errorf("%s has no comment %d", repo, id)
	}
	s.editComment(r, c, a, body)
	return nil
}

// React adds a reaction (+1, -1, laugh, confused, heart, hooray, rocket, eyes)
// to a comment, or with commentID 0 to the issue itself. As on GitHub there is
// no webhook.
func (s *Server) React(repo string, number int, commentID int64, login, content string) error {
	if !slices.Contains(reactionKinds, content) {
		return fmt.Errorf("reaction %q: want one of %s", content, strings.Join(reactionKinds, ", "))
	}
	return s.onIssue(repo, number, login, "read", func(r *repository, i *issue, a actor) error {
		list, detail := &i.reactions, content
		if commentID != 0 {
			c := r.comment(commentID)
			if c == nil || c.issue != i {
				return fmt.Errorf("%s#%d has no comment %d", repo, number, commentID)
			}
			list = &c.reactions
		}
		s.react(r, i, commentID, list, a, detail)
		return nil
	})
}

// Review submits a review: approved, changes_requested or commented.
func (s *Server) Review(repo string, number int, login, state, body string) error {
	return s.onIssue(repo, number, login, "read", func(r *repository, i *issue, a actor) error {
		if i.pull == nil {
			return fmt.Errorf("%s#%d is not a pull request", repo, number)
		}
		s.submitReview(r, i, a, state, body)
		return nil
	})
}

// OpenPull opens a pull request from a branch of the same repository.
func (s *Server) OpenPull(repo, login, head, base, title, body string, draft bool) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, a, err := s.person(repo, login, "write")
	if err != nil {
		return 0, err
	}
	i, err := s.openPull(r, a, pullSpec{Title: title, Body: body, Head: head, Base: base, Draft: draft})
	if err != nil {
		return 0, err
	}
	return i.number, nil
}

// MergePull merges a pull request with a merge commit and returns its SHA.
func (s *Server) MergePull(repo string, number int, login string) (sha string, err error) {
	err = s.onIssue(repo, number, login, "write", func(r *repository, i *issue, a actor) error {
		sha, err = s.mergePull(r, i, a)
		return err
	})
	return sha, err
}

// CreateStatus sets a commit status (error, failure, pending or success) as
// an outside CI service with write access would.
func (s *Server) CreateStatus(repo, sha, login, context, state, description string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, a, err := s.person(repo, login, "write")
	if err != nil {
		return err
	}
	full, ok := s.commitOf(r, sha)
	if !ok {
		return fmt.Errorf("%s has no commit %s", repo, sha)
	}
	s.addStatus(r, a, &status{sha: full, context: context, state: state, description: description})
	return nil
}

// PressCheckButton presses a button of a check run ([actions] of the REST API).
func (s *Server) PressCheckButton(repo string, checkRun int64, login, identifier string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, a, err := s.person(repo, login, "write")
	if err != nil {
		return err
	}
	c := r.check(checkRun)
	if c == nil {
		return fmt.Errorf("%s has no check run %d", repo, checkRun)
	}
	if !slices.ContainsFunc(c.actions, func(o object) bool { return o["identifier"] == identifier }) {
		return fmt.Errorf("check run %d of %s has no button %q", checkRun, repo, identifier)
	}
	s.note(Entry{Kind: "check_run.requested_action", Actor: login, Repo: repo, Ref: c.name, SHA: c.sha, Detail: identifier})
	s.emitCheck(r, a, c, "requested_action", object{"requested_action": object{"identifier": identifier}})
	return nil
}

// RerequestCheckRun asks for a check run to be run again, as the "Re-run"
// button does.
func (s *Server) RerequestCheckRun(repo string, checkRun int64, login string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, a, err := s.person(repo, login, "write")
	if err != nil {
		return err
	}
	c := r.check(checkRun)
	if c == nil {
		return fmt.Errorf("%s has no check run %d", repo, checkRun)
	}
	return s.rerequestCheck(r, a, c)
}

// DeleteRepo deletes a repository; installations lose it.
func (s *Server) DeleteRepo(repo string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findRepo(repo)
	if err != nil {
		return err
	}
	delete(s.repos, lower(repo))
	s.note(Entry{Kind: "repository.deleted", Actor: r.owner.login, Repo: r.fullName()})
	for _, i := range s.insts {
		if !i.has(r) || i.removed {
			continue
		}
		i.repos = slices.DeleteFunc(i.repos, func(x *repository) bool { return x == r })
		s.emitInstallation(i, s.who(r.owner), "installation_repositories", "removed", object{
			"repository_selection": i.selection(), "repositories_added": []object{},
			"repositories_removed": repoStubs([]*repository{r}), "requester": nil,
		})
	}
	return nil
}

func lower(s string) string { return strings.ToLower(s) }
