package sia

// repoMoved has the task follow its repository. GitHub's id is what identifies one: a name may be another repository's
// by now, and an installation ends with its account's or is made anew. Where nothing could be written to GitHub since
// the task had stopped, what was left undone then is done now.
func (s *step) repoMoved() {
	f := s.e.Fact.(RepoMoved)
	switch {
	case f.Repo.ID != s.t.Repo.ID:
		s.ignore("%s is another repository", f.Repo)
		return
	case f.Installation == s.t.Installation && f.Repo == s.t.Repo && !s.t.Gone:
		s.ignore("the repository is where it was")
		return
	}
	s.t.Installation, s.t.Repo, s.t.Gone = f.Installation, f.Repo, false
	if s.t.Unwritten {
		s.t.Unwritten = false
		s.remember()
		s.closeEscalation()
	}
	s.because("the repository is %s, in installation %d", f.Repo, f.Installation)
}
