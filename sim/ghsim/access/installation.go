package access

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// Token is an installation access token.
type Token struct {
	Inst        *model.Installation
	Permissions map[string]string
	Repos       []*model.Repository // nil: all of the installation's
	Expires     time.Time
	User        *model.User // set for a person's token, restricted to one repository
	Stateless   bool        // it has the form of 2026
}

// Has reports whether the token includes a repository.
func (t *Token) Has(r *model.Repository) bool {
	return t.Inst.Has(r) && (t.Repos == nil || slices.Contains(t.Repos, r))
}

// May reports whether the token grants a permission at a level, read or write.
func (t *Token) May(permission, level string) bool {
	return Grants(t.Permissions[permission], level) &&
		(permission == "metadata" || Grants(t.Inst.Permissions[permission], level))
}

// Grants reports whether a level, "" for none, includes another.
func Grants(have, want string) bool {
	return have != "" && (have == want || have == "write" || have == "admin")
}

// tokenLife is the lifetime of an installation token.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-an-installation-access-token-for-a-github-app
const tokenLife = time.Hour

// App verifies an app's JSON Web Token.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (d *TokenIssuer) App(raw string) (*model.App, error) {
	var found *model.App
	claims := jwt.RegisteredClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(raw, &claims, func(*jwt.Token) (any, error) {
		for _, a := range d.hub.Apps() {
			if claims.Issuer == strconv.FormatInt(a.ID, 10) || claims.Issuer == a.ClientID {
				found = a
				return &a.Key.PublicKey, nil
			}
		}
		return nil, errors.New("unknown issuer")
	})
	now := d.hub.Now()
	switch {
	case err != nil && found == nil:
		return nil, refusal.BadJWT("'Issuer' claim ('iss') must be an Integer")
	case err != nil:
		return nil, refusal.BadJWT("A JSON web token could not be decoded")
	case claims.ExpiresAt == nil || !claims.ExpiresAt.After(now):
		return nil, refusal.BadJWT("'Expiration time' claim ('exp') must be a numeric value representing the future time " +
			"at which the assertion expires")
	case claims.ExpiresAt.After(now.Add(10*time.Minute + 5*time.Second)):
		return nil, refusal.BadJWT("'Expiration time' claim ('exp') is too far in the future")
	case claims.IssuedAt != nil && claims.IssuedAt.After(now.Add(5*time.Second)):
		return nil, refusal.BadJWT("'Issued at' claim ('iat') must be an Integer representing the time that the " +
			"assertion was issued")
	}
	return found, nil
}

// Token finds a live installation token.
func (d *TokenIssuer) Token(raw string) (*Token, error) {
	t := d.tokens[raw]
	if t == nil || !d.hub.Now().Before(t.Expires) || t.Inst.Removed {
		return nil, refusal.BadCredentials()
	}
	if !t.Inst.Suspended.IsZero() {
		return nil, &refusal.Error{Code: http.StatusForbidden, Message: "This installation has been suspended",
			Doc: "https://docs.github.com/rest/reference/apps#create-an-installation-access-token-for-an-app"}
	}
	return t, nil
}

// Credentials are the raw token of a request's Authorization header.
func Credentials(r *http.Request) string {
	if _, pass, ok := r.BasicAuth(); ok {
		return pass
	}
	scheme, raw, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "token") {
		return strings.TrimSpace(raw)
	}
	return ""
}

// IsJWT distinguishes an app's token from an installation's.
func IsJWT(raw string) bool { return strings.Count(raw, ".") == 2 && strings.HasPrefix(raw, "ey") }
