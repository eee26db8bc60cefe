package agent

import (
	"html"
	"net/url"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

var (
	// imagePattern is an image in Markdown or HTML (https://spec.commonmark.org/0.31.2/#images).
	// It also matches code in a line, so that an image in there is not taken for one.
	imagePattern = lazyregexp.New("(?is)`+[^`\n]*`+|" +
		`!\[[^\]\n]*\]\(\s*<?([^)\s>]*)>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)|<img\b([^>]*)>`)
	// sourcePattern is the attribute of an img element that matters.
	sourcePattern = lazyregexp.New(`(?is)\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)
)

// imagesAsLinks turns the images in a Markdown text into links, and counts them. Their
// alternative text is left out: people see the image. What stands in code stays as it is.
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
	open := "" // the fence of the code block that the line is in
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

// imageLink is the link in an image's place; ok is false when m is code.
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
