package people

// RefuseNarrowedGit says whether git over HTTP answers 404 to installation tokens of the
// form of 2026 that are narrowed to some repositories, where a repository is private. The
// API takes them all the same.
// https://github.com/orgs/community/discussions/211387
func (p *People) RefuseNarrowedGit(on bool) {
	p.world.Lock()
	defer p.world.Unlock()
	p.desk.Deafen(on)
}
