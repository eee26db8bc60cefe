package payload

import (
	"net/url"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// Comment is a comment as its events carry it.
func (s *Shaper) Comment(r *model.Repository, c *model.Comment) Object {
	u := s.API("/repos/%s/issues/comments/%d", r.FullName(), c.ID)
	kind := "issues"
	if c.Issue.Pull != nil {
		kind = "pull"
	}
	return Object{
		"id": c.ID, "node_id": NodeID("IC", c.ID), "url": u,
		"html_url":  s.HTML("/%s/%s/%d#issuecomment-%d", r.FullName(), kind, c.Issue.Number, c.ID),
		"issue_url": s.API("/repos/%s/issues/%d", r.FullName(), c.Issue.Number), "user": s.User(c.By), "body": c.Body,
		"created_at": Stamp(c.Made), "updated_at": Stamp(c.Updated), "author_association": r.Association(c.By),
		"performed_via_github_app": s.appOrNull(c.App), "reactions": s.rollup(u, c.Reactions),
	}
}

// CommentFull adds what only the REST API answers.
func (s *Shaper) CommentFull(r *model.Repository, c *model.Comment) Object {
	o := s.Comment(r, c)
	if c.App != nil {
		o["performed_via_github_app"] = s.Integration(c.App)
	}
	return o
}

// Issue is an issue, or the issue side of a pull request.
func (s *Shaper) Issue(r *model.Repository, i *model.Issue) Object {
	repo := s.API("/repos/%s", r.FullName())
	u := s.API("/repos/%s/issues/%d", r.FullName(), i.Number)
	kind := "issues"
	if i.Pull != nil {
		kind = "pull"
	}
	o := Object{
		"id": i.ID, "node_id": NodeID("I", i.ID), "number": i.Number, "url": u, "repository_url": repo,
		"labels_url": u + "/labels{/name}", "comments_url": u + "/comments", "events_url": u + "/events",
		"html_url": s.HTML("/%s/%s/%d", r.FullName(), kind, i.Number), "timeline_url": u + "/timeline",
		"title": i.Title, "body": OrNull(i.Body), "user": s.User(i.By), "state": i.State,
		"state_reason": OrNull(i.Reason),
		"labels":       s.Labels(r, i.Labels), "assignee": s.userOrNull(i.Assignee()),
		"assignees": s.Users(i.Assignees),
		"milestone": nil, "locked": i.Locked, "active_lock_reason": nil, "comments": len(i.Comments),
		"created_at": Stamp(i.Made), "updated_at": Stamp(i.Updated), "closed_at": Stamp(i.Closed),
		"author_association": r.Association(i.By), "reactions": s.rollup(u, i.Reactions),
		"performed_via_github_app": s.appOrNull(i.App),
	}
	if p := i.Pull; p != nil {
		html := s.HTML("/%s/pull/%d", r.FullName(), i.Number)
		o["draft"] = p.Draft
		o["node_id"] = NodeID("PR", i.ID)
		o["pull_request"] = Object{"url": s.API("/repos/%s/pulls/%d", r.FullName(), i.Number), "html_url": html,
			"diff_url": html + ".diff", "patch_url": html + ".patch", "merged_at": Stamp(p.MergedAt)}
	}
	return o
}

// IssueFull adds what only the REST API answers.
func (s *Shaper) IssueFull(r *model.Repository, i *model.Issue) Object {
	o := s.Issue(r, i)
	o["closed_by"] = s.userOrNull(i.ClosedBy)
	if i.Pull == nil {
		o["issue_dependencies_summary"], o["sub_issues_summary"] = s.blockers(i), s.subIssues(i)
	}
	if i.App != nil {
		o["performed_via_github_app"] = s.Integration(i.App)
	}
	return o
}

// Label is a label.
func (s *Shaper) Label(r *model.Repository, l *model.Label) Object {
	return Object{"id": l.ID, "node_id": NodeID("LA", l.ID),
		"url":  s.API("/repos/%s/labels/%s", r.FullName(), url.PathEscape(l.Name)),
		"name": l.Name, "color": l.Color, "description": l.Description, "default": isDefaultLabel(l.Name)}
}

// Labels are labels.
func (s *Shaper) Labels(r *model.Repository, ls []*model.Label) []Object {
	return List(ls, func(l *model.Label) Object { return s.Label(r, l) })
}

// Reaction is a reaction.
func (s *Shaper) Reaction(re *model.Reaction) Object {
	return Object{"id": re.ID, "node_id": NodeID("REA", re.ID), "user": s.User(re.By), "content": re.Content,
		"created_at": Stamp(re.Made)}
}

// rollup counts reactions by kind.
func (s *Shaper) rollup(url string, rs []*model.Reaction) Object {
	o := Object{"url": url + "/reactions", "total_count": len(rs)}
	for _, k := range model.ReactionKinds() {
		n := 0
		for _, r := range rs {
			if r.Content == k {
				n++
			}
		}
		o[k] = n
	}
	return o
}

func isDefaultLabel(name string) bool {
	return slices.ContainsFunc(model.DefaultLabels(), func(l model.Label) bool { return l.Name == name })
}
