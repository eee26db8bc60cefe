package payload

import (
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// Check is a check run as the REST API answers it.
func (s *Shaper) Check(r *model.Repository, c *model.CheckRun) Object {
	o := s.checkBody(r, c)
	o["check_suite"] = Object{"id": c.Suite.ID}
	o["app"] = s.Integration(c.Suite.App)
	return o
}

// CheckPayload is a check run as its events carry it.
func (s *Shaper) CheckPayload(r *model.Repository, c *model.CheckRun) Object {
	o := s.checkBody(r, c)
	st := c.Suite
	o["check_suite"] = Object{
		"id": st.ID, "node_id": NodeID("CS", st.ID), "head_branch": OrNull(st.Branch), "head_sha": st.SHA,
		"status":     st.Status,
		"conclusion": OrNull(st.Conclusion), "url": s.API("/repos/%s/check-suites/%d", r.FullName(), st.ID),
		"before": OrNull(st.Before),
		"after":  st.SHA, "pull_requests": s.pullStubs(r, st.SHA), "app": s.App(st.App), "created_at": Stamp(st.Made),
		"updated_at": Stamp(st.Updated),
	}
	o["app"] = s.App(st.App)
	if o["started_at"] == nil {
		o["started_at"] = Stamp(st.Made)
	}
	return o
}

func (s *Shaper) checkBody(r *model.Repository, c *model.CheckRun) Object {
	u := s.API("/repos/%s/check-runs/%d", r.FullName(), c.ID)
	html := s.HTML("/%s/runs/%d", r.FullName(), c.ID)
	details := c.DetailsURL
	if details == "" {
		details = html
	}
	return Object{
		"id": c.ID, "node_id": NodeID("CR", c.ID), "name": c.Name, "head_sha": c.SHA, "external_id": c.ExternalID, "url": u,
		"html_url": html, "details_url": details, "status": c.Status, "conclusion": OrNull(c.Conclusion),
		"started_at": Stamp(c.Started), "completed_at": Stamp(c.Completed),
		"output": Object{"title": c.Title, "summary": c.Summary, "text": c.Text, "annotations_count": len(c.Annotations),
			"annotations_url": u + "/annotations"},
		"pull_requests": s.pullStubs(r, c.SHA),
	}
}

// Status is a commit status as the combined status carries it.
func (s *Shaper) Status(r *model.Repository, st *model.Status) Object {
	return Object{
		"id": st.ID, "node_id": NodeID("SC", st.ID), "url": s.API("/repos/%s/statuses/%s", r.FullName(), st.SHA),
		"avatar_url": s.User(st.By)["avatar_url"], "state": st.State, "description": OrNull(st.Description),
		"target_url": OrNull(st.URL),
		"context":    st.Context, "created_at": Stamp(st.At), "updated_at": Stamp(st.At),
	}
}

// StatusFull adds who set it.
func (s *Shaper) StatusFull(r *model.Repository, st *model.Status) Object {
	o := s.Status(r, st)
	o["creator"] = s.User(st.By)
	return o
}

// Suite is a check suite as its events carry it.
func (s *Shaper) Suite(r *model.Repository, st *model.Suite) Object {
	u := s.API("/repos/%s/check-suites/%d", r.FullName(), st.ID)
	return Object{
		"id": st.ID, "node_id": NodeID("CS", st.ID), "head_branch": OrNull(st.Branch), "head_sha": st.SHA,
		"status":     st.Status,
		"conclusion": OrNull(st.Conclusion), "url": u, "before": OrNull(st.Before), "after": st.SHA,
		"pull_requests": s.pullStubs(r, st.SHA), "app": s.App(st.App), "created_at": Stamp(st.Made),
		"updated_at":    Stamp(st.Updated),
		"rerequestable": true, "runs_rerequestable": true, "latest_check_runs_count": len(r.LatestChecks(st)),
		"check_runs_url": u + "/check-runs", "head_commit": s.CommitLite(s.git.Facts(r.Dir, st.SHA)),
	}
}

// SuiteFull is a check suite as the REST API answers it.
func (s *Shaper) SuiteFull(r *model.Repository, st *model.Suite) Object {
	o := s.Suite(r, st)
	o["app"], o["repository"] = s.Integration(st.App), s.RepositoryLite(r)
	return o
}
