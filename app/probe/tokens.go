package probe

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/secret"
)

// tokens are facts about tokens.
func tokens() []Fact {
	return []Fact{{
		ID: "tokens/form",
		Text: "An installation's token begins with `ghs_`. Since spring 2026 it is `ghs_APPID_JWT`, about 520 " +
			"characters; before, and where `X-GitHub-Stateless-S2S-Token: disabled` asks for it, 40. SIA " +
			"masks both by their form.",
		Source: "https://github.blog/changelog/" +
			"2026-04-24-notice-about-upcoming-new-format-for-github-app-installation-tokens/",
		Probe: func(t *Try) {
			t.That(strings.HasPrefix(t.raw.Token, "ghs_"), "a token that begins with ghs_", "another beginning")
			masked := secret.Mask("before " + t.raw.Token + " after")
			t.That(!strings.Contains(masked, t.raw.Token[len(t.raw.Token)-8:]), "a token of a form that is masked",
				"one of %d characters that is not", len(t.raw.Token))
		},
	}, {
		ID:   "tokens/hour",
		Text: "It is good for an hour.",
		Source: "apps/creating-github-apps/authenticating-with-a-github-app/" +
			"generating-an-installation-access-token-for-a-github-app",
		Probe: func(t *Try) {
			a := t.createToken(map[string]string{"metadata": "read"})
			until, err := time.Parse(time.RFC3339, a.Str("expires_at"))
			now, errNow := http.ParseTime(a.Header.Get("Date"))
			if err == nil && errNow == nil {
				life := until.Sub(now)
				t.That(life > 55*time.Minute && life <= time.Hour+time.Minute, "an hour", "%s", life)
				return
			}
			t.Differ("a date of expiry and the date of the answer", a.Str("expires_at"))
		},
	}, {
		ID: "tokens/narrowed",
		Text: "A token may be narrowed to some repositories and permissions, and does nothing else: `403` with " +
			"`Resource not accessible by integration`.",
		Source: "rest/apps/apps",
		Probe: func(t *Try) {
			a := t.With(t.narrowed(map[string]string{"metadata": "read"}), http.MethodPost, "/issues",
				map[string]any{"title": t.unique("issue")})
			t.undoIssueLater("an issue that a narrowed token opened", a.Int("number"))
			t.Want(a, http.StatusForbidden)
			t.That(strings.Contains(a.Str("message"), "Resource not accessible by integration"),
				"Resource not accessible by integration", "%s", a.Str("message"))
		},
	}, {
		ID: "tokens/not-granted",
		Text: "A token with a permission that the installation was not granted is refused with `422`. SIA asks " +
			"again for less.",
		Source: "rest/apps/apps",
		Probe: func(t *Try) {
			for _, p := range []string{"secrets", "packages", "environments", "pages", "deployments"} {
				if t.raw.Granted[p] == "" {
					t.Want(t.createToken(map[string]string{p: "write"}), http.StatusUnprocessableEntity)
					return
				}
			}
			t.Skip("the installation was granted everything")
		},
	}, {
		ID: "tokens/git",
		Text: "Git over HTTPS takes a narrowed token, as the password of `x-access-token`. Some got `404` for " +
			"a private repository with one of the new form; then SIA asks for the old one.",
		Source: "https://github.com/orgs/community/discussions/211387",
		Needs:  "contents:read",
		Probe: func(t *Try) {
			if !t.raw.Private {
				t.Skip("needs a private repository")
				return
			}
			token := t.narrowed(map[string]string{"contents": "read"})
			address := t.raw.Web + t.raw.Repo.String() + ".git/info/refs?service=git-upload-pack"
			a := t.do(basicAuth{t.raw.Network, token}, http.MethodGet, address, nil, nil)
			t.Want(a, http.StatusOK)
			t.That(strings.HasPrefix(a.Header.Get("Content-Type"), "application/x-git-upload-pack-advertisement"),
				"what git is answered", "%s", a.Header.Get("Content-Type"))
		},
	}, {
		ID: "tokens/old-form",
		Text: "The header `X-GitHub-Stateless-S2S-Token: disabled` on the request for a token gives one of the old form, " +
			"without dots.",
		Source: "https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/",
		Probe: func(t *Try) {
			a := t.do(t.raw.AsApp, http.MethodPost, t.raw.API+path("app/installations/%d/access_tokens", t.raw.Installation),
				http.Header{"X-GitHub-Stateless-S2S-Token": {"disabled"}}, map[string]any{
					"repositories": []string{t.raw.Repo.Name}, "permissions": map[string]string{"metadata": "read"}})
			token := t.Want(a, http.StatusCreated).Str("token")
			t.That(token != "" && !strings.Contains(token, "."), "a token without dots", "one of %d characters with dots",
				len(token))
		},
	}}
}

// createToken creates a token for this repository, narrowed to permissions.
func (t *Try) createToken(permissions map[string]string) Answer {
	return t.AsApp(http.MethodPost, path("app/installations/%d/access_tokens", t.raw.Installation),
		map[string]any{"repositories": []string{t.raw.Repo.Name}, "permissions": permissions})
}

// narrowed returns a token for this repository, narrowed to permissions.
func (t *Try) narrowed(permissions map[string]string) string {
	return t.Want(t.createToken(permissions), http.StatusCreated).Str("token")
}

// basicAuth authenticates requests as git does.
type basicAuth struct {
	next  http.RoundTripper
	token string
}

func (b basicAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.SetBasicAuth("x-access-token", b.token)
	return b.next.RoundTrip(req)
}

// contains reports whether a list of texts has a value.
func contains(all []string, v any) bool { return slices.Contains(all, path("%v", v)) }
