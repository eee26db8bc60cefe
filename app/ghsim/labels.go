package ghsim

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

func (s *Server) ensureLabel(r *repository, name string) *label {
	if l := r.label(name); l != nil {
		return l
	}
	l := &label{id: s.newID(), name: name, color: "ededed"}
	r.labels = append(r.labels, l)
	return l
}

func (s *Server) addLabel(r *repository, i *issue, a actor, l *label) {
	if slices.Contains(i.labels, l) {
		return
	}
	i.labels = append(i.labels, l)
	s.issueEvent(r, i, a, "labeled", l.name, object{"label": s.labelJSON(r, l)})
}

func (s *Server) removeLabel(r *repository, i *issue, a actor, name string) bool {
	n := slices.IndexFunc(i.labels, func(l *label) bool { return strings.EqualFold(l.name, name) })
	if n < 0 {
		return false
	}
	l := i.labels[n]
	i.labels = slices.Delete(i.labels, n, n+1)
	s.issueEvent(r, i, a, "unlabeled", l.name, object{"label": s.labelJSON(r, l)})
	return true
}

// setLabels makes an issue carry exactly the named labels.
func (s *Server) setLabels(r *repository, i *issue, a actor, names []string) {
	for _, l := range slices.Clone(i.labels) {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, l.name) }) {
			s.removeLabel(r, i, a, l.name)
		}
	}
	for _, n := range names {
		s.addLabel(r, i, a, s.ensureLabel(r, n))
	}
}

func (s *Server) labelJSON(r *repository, l *label) object {
	return object{"id": l.id, "node_id": nodeID("LA", l.id), "url": s.api("/repos/%s/labels/%s", r.fullName(), pathEscape(l.name)),
		"name": l.name, "color": l.color, "description": l.description, "default": isDefaultLabel(l.name)}
}

func (s *Server) labelsJSON(r *repository, ls []*label) []object {
	out := []object{}
	for _, l := range ls {
		out = append(out, s.labelJSON(r, l))
	}
	return out
}

func isDefaultLabel(name string) bool {
	return slices.ContainsFunc(defaultLabels, func(d [3]string) bool { return d[0] == name })
}

// labelNames reads labels given as a list of names or of objects, or as an
// object with such a list.
func labelNames(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var wrapped struct {
		Labels json.RawMessage `json:"labels"`
	}
	if json.Unmarshal(raw, &wrapped) == nil && wrapped.Labels != nil {
		return labelNames(wrapped.Labels)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, unprocessable("Invalid request. For 'links/0/schema', labels is not an array.")
	}
	var names []string
	for _, it := range items {
		var name string
		if json.Unmarshal(it, &name) != nil {
			var o struct {
				Name string `json:"name"`
			}
			if json.Unmarshal(it, &o) != nil {
				return nil, invalid("Label", "name", "invalid", "")
			}
			name = o.Name
		}
		if strings.TrimSpace(name) == "" || len([]rune(name)) > 50 {
			return nil, invalid("Label", "name", "invalid", "")
		}
		names = append(names, name)
	}
	return names, nil
}

func (s *Server) listLabels(c *call) (answer, error) {
	return page(c, c.repo.labels, "", func(l *label) object { return s.labelJSON(c.repo, l) })
}

func (c *call) label() (*label, error) {
	if l := c.repo.label(c.params["name"]); l != nil {
		return l, nil
	}
	return nil, notFound()
}

func (s *Server) getLabel(c *call) (answer, error) {
	l, err := c.label()
	if err != nil {
		return answer{}, err
	}
	return ok(s.labelJSON(c.repo, l)), nil
}

type labelInput struct {
	Name        *string `json:"name"`
	NewName     *string `json:"new_name"`
	Color       *string `json:"color"`
	Description *string `json:"description"`
}

var hexColor = regexp.MustCompile(`^[0-9a-fA-F]{6}$`)

func (in labelInput) check() error {
	if in.Color != nil && !hexColor.MatchString(*in.Color) {
		return invalid("Label", "color", "invalid", "")
	}
	if in.Description != nil && len([]rune(*in.Description)) > 100 {
		return invalid("Label", "description", "custom", "description is too long (maximum is 100 characters)")
	}
	return nil
}

func (in labelInput) apply(l *label) {
	if in.NewName != nil && *in.NewName != "" {
		l.name = *in.NewName
	}
	if in.Color != nil {
		l.color = strings.ToLower(*in.Color)
	}
	if in.Description != nil {
		l.description = *in.Description
	}
}

func (s *Server) createLabel(c *call) (answer, error) {
	var in labelInput
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	switch {
	case in.Name == nil || strings.TrimSpace(*in.Name) == "":
		return answer{}, invalid("Label", "name", "missing_field", "")
	case len([]rune(*in.Name)) > 50:
		return answer{}, invalid("Label", "name", "invalid", "")
	case c.repo.label(*in.Name) != nil:
		return answer{}, invalid("Label", "name", "already_exists", "")
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	l := s.ensureLabel(c.repo, *in.Name)
	in.apply(l)
	s.note(Entry{Kind: "label.created", Actor: c.actor().user.login, Repo: c.repo.fullName(), Ref: l.name})
	return created(s.labelJSON(c.repo, l)), nil
}

func (s *Server) patchLabel(c *call) (answer, error) {
	l, err := c.label()
	if err != nil {
		return answer{}, err
	}
	var in labelInput
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	in.apply(l)
	s.note(Entry{Kind: "label.edited", Actor: c.actor().user.login, Repo: c.repo.fullName(), Ref: l.name})
	return ok(s.labelJSON(c.repo, l)), nil
}

func (s *Server) deleteLabel(c *call) (answer, error) {
	l, err := c.label()
	if err != nil {
		return answer{}, err
	}
	for _, i := range c.repo.issues {
		i.labels = slices.DeleteFunc(i.labels, func(x *label) bool { return x == l })
	}
	c.repo.labels = slices.DeleteFunc(c.repo.labels, func(x *label) bool { return x == l })
	s.note(Entry{Kind: "label.deleted", Actor: c.actor().user.login, Repo: c.repo.fullName(), Ref: l.name})
	return answer{code: http.StatusNoContent}, nil
}

func (s *Server) listIssueLabels(c *call) (answer, error) {
	i, err := c.issue("read")
	if err != nil {
		return answer{}, err
	}
	return page(c, i.labels, "", func(l *label) object { return s.labelJSON(c.repo, l) })
}

// changeIssueLabels is POST (add), PUT (set) and DELETE (remove all) of an
// issue's labels.
func (s *Server) changeIssueLabels(c *call) (answer, error) {
	i, err := c.issue("write")
	if err != nil {
		return answer{}, err
	}
	names, err := labelNames(c.body)
	if err != nil {
		return answer{}, err
	}
	switch c.r.Method {
	case http.MethodPost:
		for _, n := range names {
			s.addLabel(c.repo, i, c.actor(), s.ensureLabel(c.repo, n))
		}
	default:
		s.setLabels(c.repo, i, c.actor(), names)
	}
	if c.r.Method == http.MethodDelete {
		return answer{code: http.StatusNoContent}, nil
	}
	return ok(s.labelsJSON(c.repo, i.labels)), nil
}

func (s *Server) removeIssueLabel(c *call) (answer, error) {
	i, err := c.issue("write")
	if err != nil {
		return answer{}, err
	}
	if !s.removeLabel(c.repo, i, c.actor(), c.params["name"]) {
		return answer{}, &apiError{code: http.StatusNotFound, message: "Label does not exist"}
	}
	return ok(s.labelsJSON(c.repo, i.labels)), nil
}

// sortedKeys are a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
