// Package look is the style sheet that all of SIA's pages share, whoever serves them: the pages themselves, the doors
// before them (app/web/signin) and set-up (app/web/setup).
package look

import (
	"embed"
	"net/http"
)

//go:embed style.css
var files embed.FS

// Style answers with the style sheet.
func Style(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "style.css") }
