package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

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
		return nil, refusal.Unprocessable("Invalid request. For 'links/0/schema', labels is not an array.")
	}
	var names []string
	for _, it := range items {
		var name string
		if json.Unmarshal(it, &name) != nil {
			var o struct {
				Name string `json:"name"`
			}
			if json.Unmarshal(it, &o) != nil {
				return nil, refusal.Invalid("Label", "name", "invalid", "")
			}
			name = o.Name
		}
		if strings.TrimSpace(name) == "" || len([]rune(name)) > 50 {
			return nil, refusal.Invalid("Label", "name", "invalid", "")
		}
		names = append(names, name)
	}
	return names, nil
}

func listLabels(c *call) (answer, error) {
	return page(c, c.repo.Labels, "", func(l *model.Label) object { return c.shape.Label(c.repo, l) })
}

func (c *call) label() (*model.Label, error) {
	return found(c.repo.Label(c.params["name"]))
}

func getLabel(c *call, l *model.Label) (answer, error) {
	return ok(c.shape.Label(c.repo, l)), nil
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
		return refusal.Invalid("Label", "color", "invalid", "")
	}
	if in.Description != nil && len([]rune(*in.Description)) > 100 {
		return refusal.Invalid("Label", "description", "custom", "description is too long (maximum is 100 characters)")
	}
	return nil
}

func (in labelInput) apply(l *model.Label) {
	if in.NewName != nil && *in.NewName != "" {
		l.Name = *in.NewName
	}
	if in.Color != nil {
		l.Color = strings.ToLower(*in.Color)
	}
	if in.Description != nil {
		l.Description = *in.Description
	}
}

func createLabel(c *call, in labelInput) (answer, error) {
	switch {
	case in.Name == nil || strings.TrimSpace(*in.Name) == "":
		return answer{}, refusal.Invalid("Label", "name", "missing_field", "")
	case len([]rune(*in.Name)) > 50:
		return answer{}, refusal.Invalid("Label", "name", "invalid", "")
	case c.repo.Label(*in.Name) != nil:
		return answer{}, refusal.Invalid("Label", "name", "already_exists", "")
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	l := model.Label{Name: *in.Name, Color: model.DefaultColor}
	in.apply(&l)
	return created(c.shape.Label(c.repo, c.world.CreateLabel(c.repo, c.actor(), l))), nil
}

func patchLabel(c *call, l *model.Label, in labelInput) (answer, error) {
	if err := in.check(); err != nil {
		return answer{}, err
	}
	changed := *l
	in.apply(&changed)
	c.world.EditLabel(c.repo, c.actor(), l, changed)
	return ok(c.shape.Label(c.repo, l)), nil
}

func listIssueLabels(c *call, i *model.Issue) (answer, error) {
	return page(c, i.Labels, "", func(l *model.Label) object { return c.shape.Label(c.repo, l) })
}

func addIssueLabels(c *call, i *model.Issue) (answer, error) {
	names, err := labelNames(c.body)
	if err != nil {
		return answer{}, err
	}
	for _, n := range names {
		c.world.AddLabel(c.repo, i, c.actor(), c.world.EnsureLabel(c.repo, n))
	}
	return ok(c.shape.Labels(c.repo, i.Labels)), nil
}

func removeIssueLabel(c *call, i *model.Issue) (answer, error) {
	if !c.world.RemoveLabel(c.repo, i, c.actor(), c.params["name"]) {
		return answer{}, &refusal.Error{Code: http.StatusNotFound, Message: "Label does not exist"}
	}
	return ok(c.shape.Labels(c.repo, i.Labels)), nil
}

// deleteLabel is DELETE /repos/{owner}/{repo}/labels/{name}: it also removes it from every issue.
func deleteLabel(c *call, l *model.Label) (answer, error) {
	c.world.DeleteLabel(c.repo, c.actor(), l)
	return answer{code: http.StatusNoContent}, nil
}
