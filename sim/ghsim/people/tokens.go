package people

// RefuseRestrictedGit sets whether git over HTTP answers 404 to installation tokens of the form of 2026 that are
// restricted to some repositories, if a repository is private. The API accepts them all the same.
// https://github.com/orgs/community/discussions/211387
func (p *People) RefuseRestrictedGit(on bool) {
	p.world.Lock()
	defer p.world.Unlock()
	p.issuer.RefuseRestricted(on)
}
