package github

import (
	"net/http"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/golang-jwt/jwt/v4"
)

// The app's JSON web tokens are short-lived: GitHub accepts at most ten minutes, and its clock may be behind ours.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const (
	jwtLifetime = 2 * time.Minute
	jwtDrift    = 30 * time.Second
)

// clockedSigner signs the app's tokens by the configured clock; ghinstallation uses the machine's.
type clockedSigner struct {
	ghinstallation.Signer
	now func() time.Time
}

// Sign implements ghinstallation.Signer.
func (s clockedSigner) Sign(claims jwt.Claims) (string, error) {
	if c, ok := claims.(*jwt.RegisteredClaims); ok {
		issued := s.now().Add(-jwtDrift).Truncate(time.Second)
		c.IssuedAt, c.ExpiresAt = jwt.NewNumericDate(issued), jwt.NewNumericDate(issued.Add(jwtLifetime))
	}
	return s.Signer.Sign(claims)
}

// appTransport returns a transport that signs requests as the app.
func (a *App) appTransport(next http.RoundTripper) *ghinstallation.AppsTransport {
	tr := ghinstallation.NewAppsTransportFromPrivateKey(next, a.cfg.AppID, a.key)
	ghinstallation.WithSigner(clockedSigner{ghinstallation.NewRSASigner(jwt.SigningMethodRS256, a.key), a.cfg.Now})(tr)
	return tr
}
