package agent

import (
	"html"
	"net/url"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

var (
	// imagePattern matches an image in Markdown or HTML (https://spec.commonmark.org/0.31.2/#images). It also matches
	// inline code, so that an image in code is not treated as one.
	imagePattern = lazyregexp.New("(?is)`+[^`\n]*`+|" +
		`!\[[^\]\n]*\]\(\s*<?([^)\s>]*)>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)|<img\b([^>]*)>`)
	// sourcePattern matches the src attribute of an img element.
	sourcePattern = lazyregexp.New(`(?is)\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)
)

// imagesAsLinks replaces the images in a Markdown text by links, and counts them. It drops their alternative text,
// which readers of the rendered page don't see. Code is unchanged.
func imagesAsLinks(markdown string) (string, int) {
	var out, prose strings.Builder
	n := 0
	flush := func() {
		out.WriteString(imagePattern.ReplaceAllStringFunc(prose.String(), func(m string) string {
			link, is := imageLink(m)
			if is {
				n++
			}
			return link
		}))
		prose.Reset()
	}
	open := "" // opening fence of the current code block
	for line := range strings.Lines(markdown) {
		switch {
		case open == "":
			if open = text.OpensFence(line); open == "" {
				prose.WriteString(line)
				continue
			}
			flush()
		case text.ClosesFence(line, open):
			open = ""
		}
		out.WriteString(line)
	}
	flush()
	return out.String(), n
}

// imageLink returns the link that replaces an image; ok is false if m is code.
func imageLink(m string) (link string, ok bool) {
	var src string
	switch {
	case strings.HasPrefix(m, "`"):
		return m, false
	case strings.HasPrefix(m, "!"):
		src = imagePattern.FindStringSubmatch(m)[1]
	default:
		if a := sourcePattern.FindStringSubmatch(m); a != nil {
			src = html.UnescapeString(a[1] + a[2] + a[3])
		}
	}
	u, err := url.Parse(strings.TrimSpace(src))
	switch {
	case err != nil || src == "" || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return "[image] (it has no address that can be linked to)", true
	case len(src) > 2000:
		return "[image] (its address is too long)", true
	}
	return "[image](" + strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\n",
		"").Replace(strings.TrimSpace(src)) + ")", true
}
