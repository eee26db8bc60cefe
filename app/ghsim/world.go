package ghsim

import (
	"fmt"
	"slices"
	"strings"
)

// User is an account.
type User struct {
	ID    int64
	Login string
	Type  string // User, Bot or Organization
}

// App is a registered GitHub App.
type App struct {
	ID            int64
	Slug          string
	ClientID      string
	ClientSecret  string // for signing people in
	PrivateKeyPEM []byte // PKCS #1, as GitHub hands it out
	Bot           User   // the account its comments and commits carry
	WebhookSecret string
}

// Repo is a repository.
type Repo struct {
	ID       int64
	FullName string // owner/name
	CloneURL string
	Head     string // SHA of the default branch
}

// RepoSpec says what a new repository holds.
type RepoSpec struct {
	Files         map[string]string // path → content; names ending in .sh are executable
	From          string            // instead of Files: a local git repository whose branches are copied
	DefaultBranch string            // default main, or what From has checked out
	Public        bool              // repositories are private unless told
	Message       string            // of the first commit; default "Initial commit"
}

// CreateUser registers a person; an existing login is returned as it is.
func (s *Server) CreateUser(login string) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ensureUser(login, "User").public()
}

// CreateOrg registers an organization.
func (s *Server) CreateOrg(login string) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ensureUser(login, "Organization").public()
}

func (u *user) public() User { return User{ID: u.id, Login: u.login, Type: u.kind} }

func (s *Server) ensureUser(login, kind string) *user {
	if u := s.users[strings.ToLower(login)]; u != nil {
		return u
	}
	u := &user{id: s.newID(), login: login, kind: kind, made: s.now()}
	s.users[strings.ToLower(login)] = u
	return u
}

// CreateRepo makes a repository; an unknown owner becomes a user with it. It
// has GitHub's default labels and no protection.
func (s *Server) CreateRepo(owner, name string, spec RepoSpec) (Repo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := strings.ToLower(owner + "/" + name)
	if s.repos[full] != nil {
		return Repo{}, fmt.Errorf("creating repository %s/%s: it exists", owner, name)
	}
	if !validName(owner) || owner[0] == '.' || !validName(name) || name == "." || name == ".." {
		return Repo{}, fmt.Errorf("creating repository %s/%s: names are made of letters, digits, '.', '-' and '_'", owner, name)
	}
	u := s.ensureUser(owner, "User")
	r := &repository{
		id: s.newID(), owner: u, name: name, private: !spec.Public, made: s.now(), pushed: s.now(),
		refs: map[string]string{}, perms: map[string]string{}, workflows: map[string]int64{},
		protection: map[string][]string{}, rules: map[string][]string{}, push: make(chan struct{}, 1),
	}
	branch, err := s.git.create(r.id, spec, ident{u.login, s.email(u), s.now()})
	if err != nil {
		return Repo{}, fmt.Errorf("creating repository %s/%s: %w", owner, name, err)
	}
	r.dir, r.defaultBranch = s.git.path(r.id), branch
	if r.refs, err = s.git.refs(r.dir); err != nil {
		return Repo{}, fmt.Errorf("creating repository %s/%s: %w", owner, name, err)
	}
	for _, l := range defaultLabels {
		r.labels = append(r.labels, &label{id: s.newID(), name: l[0], color: l[1], description: l[2]})
	}
	s.repos[full] = r
	s.note(Entry{Kind: "repository.created", Actor: u.login, Repo: r.fullName(), Ref: branch, SHA: r.head(branch)})
	return s.publicRepo(r), nil
}

func (s *Server) publicRepo(r *repository) Repo {
	return Repo{ID: r.id, FullName: r.fullName(), CloneURL: s.url + "/" + r.fullName() + ".git", Head: r.head(r.defaultBranch)}
}

// Repo is a repository as it is now.
func (s *Server) Repo(fullName string) (Repo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findRepo(fullName)
	if err != nil {
		return Repo{}, err
	}
	return s.publicRepo(r), nil
}

// SetPermission gives a user a role in a repository: none, read, triage, write,
// maintain or admin.
func (s *Server) SetPermission(repo, login, role string) error {
	if !slices.Contains(roles, role) {
		return fmt.Errorf("permission %q: want one of %s", role, strings.Join(roles, ", "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findRepo(repo)
	if err != nil {
		return err
	}
	r.perms[strings.ToLower(s.ensureUser(login, "User").login)] = role
	return nil
}

// SetBranchProtection requires the named checks on a branch, as classic branch
// protection does. Without contexts the branch is not protected.
func (s *Server) SetBranchProtection(repo, branch string, contexts ...string) error {
	return s.require(repo, branch, contexts, func(r *repository) map[string][]string { return r.protection })
}

// SetRuleset requires the named checks on a branch through a ruleset.
func (s *Server) SetRuleset(repo, branch string, contexts ...string) error {
	return s.require(repo, branch, contexts, func(r *repository) map[string][]string { return r.rules })
}

func (s *Server) require(repo, branch string, contexts []string, of func(*repository) map[string][]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findRepo(repo)
	if err != nil {
		return err
	}
	if r.ruleset == 0 {
		r.ruleset = s.newID()
	}
	if len(contexts) == 0 {
		delete(of(r), branch)
		return nil
	}
	of(r)[branch] = slices.Clone(contexts)
	return nil
}

func (s *Server) findRepo(fullName string) (*repository, error) {
	r := s.repos[strings.ToLower(fullName)]
	if r == nil {
		return nil, fmt.Errorf("no repository %s: CreateRepo makes one", fullName)
	}
	return r, nil
}

func (s *Server) email(u *user) string {
	return fmt.Sprintf("%d+%s@users.noreply.github.com", u.id, u.login)
}

func validName(s string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_') {
			return false
		}
	}
	return s != ""
}

var defaultLabels = [][3]string{
	{"bug", "d73a4a", "Something isn't working"},
	{"documentation", "0075ca", "Improvements or additions to documentation"},
	{"enhancement", "a2eeef", "New feature or request"},
	{"good first issue", "7057ff", "Good for newcomers"},
	{"help wanted", "008672", "Extra attention is needed"},
	{"question", "d876e3", "Further information is requested"},
}
