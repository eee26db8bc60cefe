package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/yamlfile"
)

// Reference returns the reference of all settings in Markdown, as in
// docs/configuration.md.
func Reference() string {
	var b strings.Builder
	heading := func(name, doc string) {
		fmt.Fprintf(&b, "\n### `%s`\n\n%s\n\n| setting | default | possible | what it is for |\n|---|---|---|---|\n", name,
			doc)
	}
	fields := Fields()
	heading("label", "The way in.")
	for i, section := range append([][2]string{{""}}, sectionDocs()...) {
		if i > 0 {
			heading(section[0], section[1])
		}
		for _, f := range fields {
			sec, _, nested := strings.Cut(f.Path, ".")
			if nested != (i > 0) || nested && sec != section[0] {
				continue
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", f.Path, Format(f.Value(sia.DefaultSettings())), f.possibleValues(),
				f.Doc)
		}
	}
	return b.String()
}

func (f Field) possibleValues() string {
	switch f.Form {
	case Int, Number:
		return fmt.Sprintf("%s, %s to %s", f.Form, Format(f.Min), Format(f.Max))
	case Duration:
		return fmt.Sprintf("%s, %s to %s", f.Form, Format(seconds(f.Min)), Format(seconds(f.Max)))
	case Word:
		words := make([]string, len(f.Words))
		for i, w := range f.Words {
			words[i] = "`" + Format(w) + "`"
		}
		return strings.Join(words, ", ")
	case Texts:
		return fmt.Sprintf("%s of at most %d texts", f.Form, yamlfile.MaxItems)
	case Text:
		return fmt.Sprintf("%s, %s to %s characters", f.Form, Format(f.Min), Format(f.Max))
	}
	return string(f.Form)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
