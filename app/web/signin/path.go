package signin

import (
	"net/url"
	"strings"
)

// maxPath bounds the page that a sign-in comes back to, in bytes.
const maxPath = 2000

// localPath is the page of ours that a text names, "/" for every text that a browser could take for an address
// elsewhere: //host, /\host, a scheme, or what hides one of these behind control characters.
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
