package ghsim

import (
	"net/http"
	"slices"
	"strconv"
)

var reactionKinds = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

// react adds a reaction; one that the person already gave is returned as it is.
func (s *Server) react(r *repository, i *issue, commentID int64, list *[]*reaction, a actor, content string) (re *reaction, fresh bool) {
	for _, re := range *list {
		if re.by == a.user && re.content == content {
			return re, false
		}
	}
	re = &reaction{id: s.newID(), by: a.user, content: content, made: s.now()}
	*list = append(*list, re)
	ref := ""
	if commentID != 0 {
		ref = strconv.FormatInt(commentID, 10)
	}
	s.note(Entry{Kind: "reaction.created", Actor: a.user.login, Repo: r.fullName(), Number: i.number, Ref: ref, Detail: content})
	return re, true
}

func (s *Server) reactionJSON(re *reaction) object {
	return object{"id": re.id, "node_id": nodeID("REA", re.id), "user": s.userJSON(re.by), "content": re.content, "created_at": stamp(re.made)}
}

// rollupJSON counts reactions by kind.
func (s *Server) rollupJSON(url string, rs []*reaction) object {
	o := object{"url": url + "/reactions", "total_count": len(rs)}
	for _, k := range reactionKinds {
		n := 0
		for _, r := range rs {
			if r.content == k {
				n++
			}
		}
		o[k] = n
	}
	return o
}

// reactions finds what the request's reactions belong to.
func (c *call) reactions(level string) (*issue, int64, *[]*reaction, error) {
	if c.params["review_comment"] != "" {
		m, err := c.reviewComment()
		if err != nil {
			return nil, 0, nil, err
		}
		return m.issue, m.id, &m.reactions, nil
	}
	if c.params["comment"] != "" {
		m, err := c.comment(level)
		if err != nil {
			return nil, 0, nil, err
		}
		return m.issue, m.id, &m.reactions, nil
	}
	i, err := c.issue(level)
	if err != nil {
		return nil, 0, nil, err
	}
	return i, 0, &i.reactions, nil
}

func (s *Server) listReactions(c *call) (answer, error) {
	_, _, list, err := c.reactions("read")
	if err != nil {
		return answer{}, err
	}
	rs := slices.DeleteFunc(slices.Clone(*list), func(r *reaction) bool {
		want := c.query.Get("content")
		return want != "" && r.content != want
	})
	return page(c, rs, "", s.reactionJSON)
}

func (s *Server) createReaction(c *call) (answer, error) {
	i, id, list, err := c.reactions("write")
	if err != nil {
		return answer{}, err
	}
	var in struct {
		Content string `json:"content"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if !slices.Contains(reactionKinds, in.Content) {
		return answer{}, invalid("Reaction", "content", "invalid", "")
	}
	re, fresh := s.react(c.repo, i, id, list, c.actor(), in.Content)
	if !fresh {
		return ok(s.reactionJSON(re)), nil
	}
	return created(s.reactionJSON(re)), nil
}

func (s *Server) deleteReaction(c *call) (answer, error) {
	_, _, list, err := c.reactions("write")
	if err != nil {
		return answer{}, err
	}
	n := slices.IndexFunc(*list, func(r *reaction) bool { return r.id == c.id("reaction") && r.by == c.actor().user })
	if n < 0 {
		return answer{}, notFound()
	}
	*list = slices.Delete(*list, n, n+1)
	return answer{code: http.StatusNoContent}, nil
}
