package access

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// FormHeader requests a form of token while GitHub moves to the new one: "enabled" for the stateless form, "disabled"
// for the old one.
// https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/
const FormHeader = "X-GitHub-Stateless-S2S-Token"

// NewToken issues a token, which is valid for an hour.
func (d *TokenIssuer) NewToken(t Token) (raw string, made *Token) {
	t.Expires = d.hub.Now().Add(tokenLife).Truncate(time.Second)
	if raw = opaque(); t.Stateless {
		raw = stateless(&t)
	}
	d.tokens[raw] = &t
	return raw, &t
}

// opaque is a token of the old form, 40 characters.
func opaque() string {
	var b [18]byte
	rand.Read(b[:])
	return "ghs_" + hex.EncodeToString(b[:])
}

// statelessLength is the approximate length of a token of the stateless form.
const statelessLength = 520

// stateless is a token of the form ghs_APPID_JWT. Only GitHub can verify the JSON Web Token in it, and the simulator
// does not.
// https://github.blog/changelog/2026-04-24-notice-about-upcoming-new-format-for-github-app-installation-tokens/
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func stateless(t *Token) string {
	part := func(v any) string {
		b, _ := json.Marshal(v) // maps of strings and numbers can be marshalled
		return base64.RawURLEncoding.EncodeToString(b)
	}
	raw := fmt.Sprintf("ghs_%d_%s.%s.", t.Inst.App.ID, part(map[string]any{"alg": "ES256", "typ": "JWT", "kid": "1"}),
		part(map[string]any{"iss": "ghsim", "aud": "ghsim", "app": t.Inst.App.ID, "inst": t.Inst.ID,
			"exp": t.Expires.Unix()}))
	signature := make([]byte, max(32, (statelessLength-len(raw))*3/4))
	rand.Read(signature)
	return raw + base64.RawURLEncoding.EncodeToString(signature)
}

// RefuseRestricted sets whether git answers 404 to tokens of the stateless form that are restricted to some
// repositories, if a repository is private, as some users report of GitHub.
// https://github.com/orgs/community/discussions/211387
func (d *TokenIssuer) RefuseRestricted(on bool) { d.refuses = on }

// IsRefused reports whether git answers 404 to a token that may read a repository.
func (d *TokenIssuer) IsRefused(t *Token, r *model.Repository) bool {
	return d.refuses && t.Stateless && t.Repos != nil && r.Private
}
