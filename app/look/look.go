// Package look serves the style sheet that all of SIA's pages share: the web pages, sign-in (app/web/signin) and
// setup (app/web/setup).
package look

import (
	"embed"
	"net/http"
)

//go:embed style.css
var files embed.FS

// Style serves the style sheet.
func Style(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "style.css") }
