package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/invalid"
)

// maxPolicies is how many policy files of a repository are read.
const maxPolicies = 50

// Policies are the policies that may hold in a repository, as last read: those that ship,
// the owner's, and its own.
func (f *Files) Policies(ctx context.Context, installation int64, repo sia.Repo) (*policies.Set, error) {
	if f.only != nil {
		return f.only, nil
	}
	set := policies.ShippedSet()
	places, err := f.places(ctx, installation, repo)
	if err != nil {
		return nil, err
	}
	for _, place := range slices.Backward(places) {
		files, _, err := f.store.Policies(ctx, place.ID)
		if err != nil {
			return nil, err
		}
		layer := policies.Repository
		if place.ID != repo.ID {
			layer = policies.Owner
		}
		for _, file := range files {
			p, err := policies.Parse(file.Path, []byte(file.Source))
			if err != nil { // this version of SIA reads it otherwise than the one that kept it
				f.log.WarnContext(ctx, "policy can't be used", "repo", place.String(), "path", file.Path, "why", err)
				continue
			}
			p.Path = file.Path
			set = set.With(layer, p)
		}
	}
	return set, nil
}

// Kept are the policies that may hold in a repository, as a server's database has them: like
// [Files.Policies], without GitHub.
func Kept(ctx context.Context, s Store, installation int64, repo sia.Repo) (*policies.Set, error) {
	return (&Files{store: s, log: slog.New(slog.DiscardHandler)}).Policies(ctx, installation, repo)
}

// ReadPolicies takes up a repository's own policies as a commit of a branch has them, and
// its owner's as they stand now. A branch that is not the default branch has no say: they
// decide for the whole repository. A file that is broken is reported on its commit and
// leaves its last good state in force; the warning says so for people.
func (f *Files) ReadPolicies(
	ctx context.Context, installation int64, repo sia.Repo, branch, sha string,
) (warning string, err error) {
	places, err := f.places(ctx, installation, repo)
	if err != nil {
		return "", err
	}
	standard, err := f.defaultBranch(ctx, repo, branch)
	if err == nil && standard != branch {
		sha, err = f.git.Repo(f.github.Repo(installation, repo).Remote()).Fetch(ctx, standard)
		if errors.Is(err, gitops.ErrNoBranch) { // it has another name by now
			places, err = slices.DeleteFunc(places, func(p sia.Repo) bool { return p.ID == repo.ID }), nil
		}
	}
	if err != nil {
		return "", err
	}
	var warnings []string
	for _, place := range places {
		warning, err := f.readPlace(ctx, installation, repo, place, sha)
		if err != nil {
			return "", err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return strings.Join(warnings, "\n\n"), nil
}

// readPlace takes up the policies of one of the places that may have some for a
// repository, the repository itself or its owner's. What trying again can't help leaves
// the last good ones, with a warning.
func (f *Files) readPlace(
	ctx context.Context, installation int64, repo, place sia.Repo, sha string,
) (warning string, err error) {
	if place.ID == repo.ID {
		broken, err := f.takePolicies(ctx, installation, place, sha, f.ownPolicies(installation, repo, sha))
		if broken != "" {
			broken = "Policies can't be used, so the last good ones hold: " + broken
		}
		return broken, err
	}
	head, _, err := f.github.Repo(installation, place).DefaultHead(ctx)
	broken := ""
	if err == nil {
		broken, err = f.takePolicies(ctx, installation, place, head, f.ownersPolicies(installation, place, head))
	}
	var refused *sia.Error
	switch {
	case errors.As(err, &refused) && refused.Permanent:
		return fmt.Sprintf("The policies in `%s` of `%s` can't be read, so the last good ones hold: %s", policies.Dir, place,
			refused.Message), nil
	case broken != "": // what they say stays where it is: not everybody who sees a task may see it
		return fmt.Sprintf("Policies in `%s` of `%s` can't be used, so the last good ones hold. The check `%s` on its "+
			"commit `%.12s` says what is wrong.", policies.Dir, place, render.PolicyCheckName, head), nil
	}
	return "", err
}

// reader reads the policy files of a commit.
type reader func(context.Context) (folder, error)

// ownPolicies reads those of a commit of the repository from git.
func (f *Files) ownPolicies(installation int64, repo sia.Repo, sha string) reader {
	return func(ctx context.Context) (folder, error) {
		return gitFolder(ctx, f.git.Repo(f.github.Repo(installation, repo).Remote()), sha, policies.Dir, policies.IsFile,
			maxPolicies)
	}
}

// ownersPolicies reads those of a commit of the owner's repository from GitHub's API.
func (f *Files) ownersPolicies(installation int64, place sia.Repo, sha string) reader {
	return func(ctx context.Context) (folder, error) {
		if sha == "" {
			return folder{}, nil
		}
		repo := f.github.Repo(installation, place)
		names, err := repo.Dir(ctx, sha, policies.Dir)
		if err != nil {
			return folder{}, err
		}
		return readFolder(names, policies.IsFile, maxPolicies, func(name string) ([]byte, error) {
			b, found, err := repo.File(ctx, sha, name, fileLimit)
			if err == nil && !found {
				err = fs.ErrNotExist
			}
			return b, err
		})
	}
}

// takePolicies keeps the policy files of a commit, unless they were read already: the good
// ones as they are, of broken ones the last good state. Broken ones are reported, and told
// in words.
func (f *Files) takePolicies(
	ctx context.Context, installation int64, place sia.Repo, sha string, read reader,
) (broken string, err error) {
	kept, last, err := f.store.Policies(ctx, place.ID)
	if err != nil || last.SHA == sha {
		return last.Broken, err
	}
	found, err := read(ctx)
	if err != nil {
		return "", err
	}
	good, wrong, err := goodPolicies(found.files, kept)
	if err != nil {
		return "", err
	}
	if found.left != "" {
		wrong = append(wrong, &invalid.File{Name: found.left, Problems: []invalid.Problem{{Message: fmt.Sprintf(
			"a repository can have %d policies; this one and what follows are left out", maxPolicies)}}})
	}
	said := make([]string, len(wrong))
	for i, w := range wrong {
		said[i] = w.Error()
	}
	broken = strings.Join(said, "; ")
	if len(wrong) > 0 {
		spec := github.CheckRunSpec{Name: render.PolicyCheckName, ExternalID: "policies/" + sha, HeadSHA: sha}
		if err := f.show(ctx, installation, place, spec, render.PolicyCheckRun(wrong)); err != nil {
			return "", err
		}
	}
	return broken, f.store.SavePolicies(ctx, place.ID, store.PolicyRead{SHA: sha, Broken: broken}, good)
}

// goodPolicies are the files that can be used, and what is wrong with the others; of these
// the state that was kept stays.
func goodPolicies(files map[string][]byte, kept []store.PolicyFile) (
	good []store.PolicyFile, wrong []*invalid.File, err error,
) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p, err := policies.Parse(name, files[name])
		var bad *invalid.File
		switch {
		case errors.As(err, &bad):
			wrong = append(wrong, bad)
			if i := slices.IndexFunc(kept, func(k store.PolicyFile) bool { return k.Path == name }); i >= 0 {
				good = append(good, kept[i])
			}
		case err != nil:
			return nil, nil, err
		default:
			good = append(good, store.PolicyFile{Path: name, Version: p.ID(), Source: p.Source})
		}
	}
	return good, wrong, nil
}
