package ghsim

import (
	"errors"
	"fmt"
)

// Deleted as a file's content in [Server.PushFiles] deletes the file.
const Deleted = "\x00deleted"

// PushFiles commits files on top of a branch as a person and pushes it,
// returning the new head. A branch that does not exist starts at the default
// branch. The message's author is the person.
func (s *Server) PushFiles(repo, branch, login, message string, files map[string]string) (string, error) {
	return s.pushAs(repo, branch, login, func(r *repository, a actor) (string, error) {
		parent := r.head(branch)
		if parent == "" {
			parent = r.head(r.defaultBranch)
		}
		var parents []string
		if parent != "" {
			parents = []string{parent}
		}
		return s.git.commit(r.dir, parents, files, message, ident{a.user.login, s.email(a.user), s.now()})
	})
}

// ForcePush moves a branch to a commit that the repository has, whatever the
// branch was at. An empty sha deletes the branch.
func (s *Server) ForcePush(repo, branch, login, sha string) error {
	_, err := s.pushAs(repo, branch, login, func(r *repository, _ actor) (string, error) {
		if sha == "" {
			return "", nil
		}
		full, ok := s.commitOf(r, sha)
		if !ok {
			return "", fmt.Errorf("no commit %s", sha)
		}
		return full, nil
	})
	return err
}

func (s *Server) pushAs(repo, branch, login string, to func(*repository, actor) (string, error)) (string, error) {
	s.mu.Lock()
	r, err := s.findRepo(repo)
	s.mu.Unlock()
	if err != nil {
		return "", err
	}
	select { // receive-pack of this repository waits meanwhile
	case r.push <- struct{}{}:
		defer func() { <-r.push }()
	case <-s.ctx.Done():
		return "", errors.New("pushing: the simulator is closed")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, a, err := s.person(repo, login, "write")
	if err != nil {
		return "", err
	}
	sha, err := to(r, a)
	if err != nil {
		return "", fmt.Errorf("pushing %s of %s: %w", branch, repo, err)
	}
	if err := s.moveRef(r, a, "refs/heads/"+branch, sha); err != nil {
		return "", fmt.Errorf("pushing %s of %s: %w", branch, repo, err)
	}
	return sha, nil
}
