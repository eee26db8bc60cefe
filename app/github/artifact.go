package github

import (
	"context"
	"fmt"
	"io"

	gh "github.com/google/go-github/v66/github"
)

// Artifact is an artifact of a workflow run.
type Artifact struct {
	ID   int64
	Name string
	Size int64 // of the zip file, in bytes
}

// Artifacts lists the artifacts of a workflow run that have not expired, or none if the app lacks the permission.
// https://docs.github.com/en/rest/actions/artifacts#list-workflow-run-artifacts
func (s *Actions) Artifacts(ctx context.Context, workflowRun int64) (out []Artifact, err error) {
	for a, err := range eachPage(func(o gh.ListOptions) ([]*gh.Artifact, *gh.Response, error) {
		got, resp, err := s.gh.Actions.ListWorkflowRunArtifacts(ctx, s.repo.Owner, s.repo.Name, workflowRun, &o)
		if err != nil {
			return nil, resp, err
		}
		return got.Artifacts, resp, nil
	}) {
		if hiddenFromApp(err) {
			return nil, nil
		}
		if err != nil {
			return nil, s.app.failure(err, "list the artifacts of workflow run %d in %s", workflowRun, s.repo)
		}
		if !a.GetExpired() {
			out = append(out, Artifact{ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes()})
		}
	}
	return out, nil
}

// ArtifactZip downloads an artifact of at most limit bytes. The error is permanent if it has expired, was deleted or
// is too large.
// https://docs.github.com/en/rest/actions/artifacts#download-an-artifact
func (s *Actions) ArtifactZip(ctx context.Context, a Artifact, limit int64) ([]byte, error) {
	op := fmt.Sprintf("read the artifact %s in %s", a.Name, s.repo)
	at, resp, err := s.gh.Actions.DownloadArtifact(ctx, s.repo.Owner, s.repo.Name, a.ID, 1)
	ctx, cancel := context.WithTimeout(ctx, zipTimeout)
	defer cancel()
	file, _, err := s.open(ctx, op, "artifact", at, resp, err)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(b)) > limit {
		return nil, noFile(op, "artifact", fmt.Sprintf("it is larger than %d MiB", limit>>20))
	}
	return b, s.app.failure(err, "%s", op)
}
