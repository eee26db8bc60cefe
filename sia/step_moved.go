package sia

// repoMoved updates the task's repository and installation. GitHub's id identifies the repository, because a name can
// be reused by another repository and an installation can be deleted and created again. Writes that were not possible
// when the task stopped are made now.
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
		s.commitFinalMemory()
		s.closeEscalation()
	}
	s.because("the repository is %s, in installation %d", f.Repo, f.Installation)
}
