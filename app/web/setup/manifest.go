package setup

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/sia-bot/sia/sia/text"
)

// appYML is a copy of app.yml for embedding; a test compares the two.
//
//go:embed app.yml
var appYML []byte

// Grant is one permission or event that the app requests, with its reason.
type Grant struct {
	Name   string
	Access string // read or write, for a permission
	Reason string
}

// Shown is the name in GitHub's form.
func (a Grant) Shown() string {
	if a.Name == "statuses" {
		return "Commit statuses"
	}
	return text.Capital(strings.ReplaceAll(a.Name, "_", " "))
}

// May is a permission's access in GitHub's form.
func (a Grant) May() string {
	if a.Access == "write" {
		return "Read and write"
	}
	return "Read-only"
}

// appTemplate is the content of app.yml.
type appTemplate struct {
	Name        string
	URL         string
	Description string
	Permissions []Grant
	Events      []Grant
}

// Requested returns the permissions and events that the app requests.
func Requested() (permissions, events []Grant, err error) {
	t, err := readTemplate()
	return t.Permissions, t.Events, err
}

// readTemplate reads app.yml; the reasons are its comments.
func readTemplate() (appTemplate, error) {
	var plain struct {
		Name        string        `yaml:"name"`
		URL         string        `yaml:"url"`
		Description string        `yaml:"description"`
		Permissions yaml.MapSlice `yaml:"default_permissions"`
		Events      []string      `yaml:"default_events"`
	}
	comments := yaml.CommentMap{}
	if err := yaml.UnmarshalWithOptions(appYML, &plain, yaml.CommentToMap(comments)); err != nil {
		return appTemplate{}, fmt.Errorf("read app.yml: %w", err)
	}
	reason := func(path string) string {
		for _, c := range comments[path] {
			if c.Position == yaml.CommentLinePosition {
				return strings.TrimSpace(c.Texts[0])
			}
		}
		return ""
	}
	t := appTemplate{Name: plain.Name, URL: plain.URL, Description: plain.Description}
	for _, p := range plain.Permissions {
		name := fmt.Sprint(p.Key)
		t.Permissions = append(t.Permissions, Grant{name, fmt.Sprint(p.Value), reason("$.default_permissions." + name)})
	}
	for i, name := range plain.Events {
		t.Events = append(t.Events, Grant{Name: name, Reason: reason(fmt.Sprintf("$.default_events[%d]", i))})
	}
	return t, nil
}

// manifest is the manifest from which GitHub registers an app.
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type manifest struct {
	Name        string            `json:"name"`
	URL         string            `json:"url"`
	Description string            `json:"description"`
	Public      bool              `json:"public"`
	Hook        manifestHook      `json:"hook_attributes"`
	Redirect    string            `json:"redirect_url"`
	Callbacks   []string          `json:"callback_urls"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

type manifestHook struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
}

// manifest is the app for a choice. GitHub sends the browser back to redirect.
func (t appTemplate) manifest(c choice, redirect, callback string) (string, error) {
	m := manifest{Name: c.Name, URL: t.URL, Description: t.Description, Redirect: redirect,
		Hook: manifestHook{c.PublicURL + webhookPath, true}, Callbacks: []string{c.PublicURL + callback},
		Permissions: map[string]string{}}
	for _, p := range t.Permissions {
		m.Permissions[p.Name] = p.Access
	}
	for _, e := range t.Events {
		m.Events = append(m.Events, e.Name)
	}
	b, err := json.Marshal(m)
	return string(b), err
}

// address is GitHub's address for a choice's manifest.
func (c choice) address(state string) string {
	path := "/settings/apps/new"
	if c.Org != "" {
		path = "/organizations/" + url.PathEscape(c.Org) + path
	}
	return c.GitHub + path + "?" + url.Values{"state": {state}}.Encode()
}
