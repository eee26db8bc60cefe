package pages

import (
	"bytes"
	"html/template"
	"regexp"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// markdown renders people's Markdown as GitHub does: tables, task lists,
// strikethrough, links, and HTML such as <details>, cleaned afterwards.
type markdown struct {
	md     goldmark.Markdown
	policy *bluemonday.Policy
}

func newMarkdown() *markdown {
	p := bluemonday.UGCPolicy()
	p.AllowElements("details", "summary", "input")
	p.AllowAttrs("open").Matching(regexp.MustCompile(`^(open)?$`)).OnElements("details")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").Matching(regexp.MustCompile(`^$`)).OnElements("input")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[\w-]+$`)).OnElements("code")
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	return &markdown{md, p}
}

// render is safe HTML for a Markdown text.
func (m *markdown) render(text string) template.HTML {
	var b bytes.Buffer
	if err := m.md.Convert([]byte(text), &b); err != nil {
		return template.HTML(template.HTMLEscapeString(text))
	}
	safe := m.policy.SanitizeBytes(b.Bytes())
	// Scrollable elements must be reachable by keyboard, and a heading must have text.
	safe = bytes.ReplaceAll(safe, []byte("<pre>"), []byte(`<pre tabindex="0">`))
	safe = bytes.ReplaceAll(safe, []byte("<table>"), []byte(`<table tabindex="0">`))
	return template.HTML(bytes.ReplaceAll(safe, []byte("<th></th>"), []byte("<td></td>")))
}
