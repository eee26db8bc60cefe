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

// maxPolicies is the maximum number of a repository's policy files.
const maxPolicies = 50

// Policies returns the policies of a repository as last read: the built-in ones, the owner's, and its own.
func (f *Files) Policies(ctx context.Context, installation int64, repo sia.Repo) (*policies.Set, error) {
	if f.only != nil {
		return f.only, nil
	}
	set := policies.ShippedSet()
	sources, err := f.sources(ctx, installation, repo)
	if err != nil {
		return nil, err
	}
	for _, source := range slices.Backward(sources) {
		files, _, err := f.store.Policies(ctx, source.ID)
		if err != nil {
			return nil, err
		}
		layer := policies.Repository
		if source.ID != repo.ID {
			layer = policies.Owner
		}
		for _, file := range files {
			p, err := policies.Parse(file.Path, []byte(file.Source))
			if err != nil { // another version of SIA stored it
				f.log.WarnContext(ctx, "policy can't be used", "repo", source.String(), "path", file.Path, "why", err)
				continue
			}
			p.Path = file.Path
			set = set.With(layer, p)
		}
	}
	return set, nil
}

// Kept is [Files.Policies], without GitHub: the policies of a repository according to the database.
func Kept(ctx context.Context, s Store, installation int64, repo sia.Repo) (*policies.Set, error) {
	return (&Files{store: s, log: slog.New(slog.DiscardHandler)}).Policies(ctx, installation, repo)
}

// ReadPolicies reads and stores a repository's policies at a commit of a branch, and the owner's current ones. For a
// branch other than the default branch it reads the default branch instead, because policies apply to the whole
// repository. An invalid file is reported on its commit, and its last valid version stays in force, with a warning
// for people.
func (f *Files) ReadPolicies(
	ctx context.Context, installation int64, repo sia.Repo, branch, sha string,
) (warning string, err error) {
	sources, err := f.sources(ctx, installation, repo)
	if err != nil {
		return "", err
	}
	defaultBranch, err := f.defaultBranch(ctx, repo, branch)
	if err == nil && defaultBranch != branch {
		sha, err = f.git.Repo(f.github.Repo(installation, repo).Remote()).Fetch(ctx, defaultBranch)
		if errors.Is(err, gitops.ErrNoBranch) { // the default branch was renamed
			sources, err = slices.DeleteFunc(sources, func(p sia.Repo) bool { return p.ID == repo.ID }), nil
		}
	}
	if err != nil {
		return "", err
	}
	var warnings []string
	for _, source := range sources {
		warning, err := f.readSource(ctx, installation, repo, source, sha)
		if err != nil {
			return "", err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return strings.Join(warnings, "\n\n"), nil
}

// readSource reads and stores the policies of one of a repository's sources, itself or its owner's repository. A
// permanent failure leaves the last valid policies in force, with a warning.
func (f *Files) readSource(
	ctx context.Context, installation int64, repo, source sia.Repo, sha string,
) (warning string, err error) {
	if source.ID == repo.ID {
		broken, err := f.updatePolicies(ctx, installation, source, sha, f.ownPolicies(installation, repo, sha))
		if broken != "" {
			broken = "Policies can't be used, so the last good ones hold: " + broken
		}
		return broken, err
	}
	head, _, err := f.github.Repo(installation, source).DefaultHead(ctx)
	broken := ""
	if err == nil {
		broken, err = f.updatePolicies(ctx, installation, source, head, f.ownersPolicies(installation, source, head))
	}
	var refused *sia.Error
	switch {
	case errors.As(err, &refused) && refused.Permanent:
		return fmt.Sprintf("The policies in `%s` of `%s` can't be read, so the last good ones hold: %s", policies.Dir,
			source, refused.Message), nil
	case broken != "": // a reader of the task may lack access to their content
		return fmt.Sprintf("Policies in `%s` of `%s` can't be used, so the last good ones hold. The check `%s` on its "+
			"commit `%.12s` says what is wrong.", policies.Dir, source, render.PolicyCheckName, head), nil
	}
	return "", err
}

// reader reads the policy files of a commit.
type reader func(context.Context) (folder, error)

// ownPolicies returns a reader of the repository's policies at a commit, from git.
func (f *Files) ownPolicies(installation int64, repo sia.Repo, sha string) reader {
	return func(ctx context.Context) (folder, error) {
		return gitFolder(ctx, f.git.Repo(f.github.Repo(installation, repo).Remote()), sha, policies.Dir, policies.IsFile,
			maxPolicies)
	}
}

// ownersPolicies returns a reader of the owner's policies at a commit, from GitHub's API.
func (f *Files) ownersPolicies(installation int64, source sia.Repo, sha string) reader {
	return func(ctx context.Context) (folder, error) {
		if sha == "" {
			return folder{}, nil
		}
		repo := f.github.Repo(installation, source)
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

// updatePolicies reads and stores the policy files at a commit, unless they were read before. Of invalid files the
// last valid version stays. It reports those on the commit and describes them in broken.
func (f *Files) updatePolicies(
	ctx context.Context, installation int64, source sia.Repo, sha string, read reader,
) (broken string, err error) {
	stored, last, err := f.store.Policies(ctx, source.ID)
	if err != nil || last.SHA == sha {
		return last.Broken, err
	}
	found, err := read(ctx)
	if err != nil {
		return "", err
	}
	good, wrong, err := usablePolicies(found.files, stored)
	if err != nil {
		return "", err
	}
	if found.firstOmitted != "" {
		wrong = append(wrong, &invalid.File{Name: found.firstOmitted, Problems: []invalid.Problem{{Message: fmt.Sprintf(
			"a repository can have %d policies; this one and what follows are left out", maxPolicies)}}})
	}
	messages := make([]string, len(wrong))
	for i, w := range wrong {
		messages[i] = w.Error()
	}
	broken = strings.Join(messages, "; ")
	if len(wrong) > 0 {
		spec := github.CheckRunSpec{Name: render.PolicyCheckName, ExternalID: "policies/" + sha, HeadSHA: sha,
			CheckRun: render.PolicyCheckRun(wrong)}
		if err := f.show(ctx, installation, source, spec); err != nil {
			return "", err
		}
	}
	return broken, f.store.SavePolicies(ctx, source.ID, store.PolicyRead{SHA: sha, Broken: broken}, good)
}

// usablePolicies returns the valid files and the errors in the others, of which it keeps the stored version.
func usablePolicies(files map[string][]byte, stored []store.PolicyFile) (
	good []store.PolicyFile, wrong []*invalid.File, err error,
) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p, err := policies.Parse(name, files[name])
		var bad *invalid.File
		switch {
		case errors.As(err, &bad):
			wrong = append(wrong, bad)
			if i := slices.IndexFunc(stored, func(k store.PolicyFile) bool { return k.Path == name }); i >= 0 {
				good = append(good, stored[i])
			}
		case err != nil:
			return nil, nil, err
		default:
			good = append(good, store.PolicyFile{Path: name, Version: p.ID(), Source: p.Source})
		}
	}
	return good, wrong, nil
}
