package signin

import (
	"net/url"
	"strings"
)

// maxPath bounds the page to return to after a sign-in, in bytes.
const maxPath = 2000

// localPath returns to if it is a path of this server, and "/" for any text that a browser could take for a foreign
// address: //host, /\host, a scheme, or one of these hidden behind control characters.
func localPath(to string) string {
	const home = "/"
	hidden := strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f })
	if len(to) > maxPath || hidden || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		return home
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, `\`) {
		return home
	}
	if u.Path == outPath || u.Path == askPath || strings.HasPrefix(u.Path, askPath+"/") {
		return home
	}
	return u.RequestURI()
}
