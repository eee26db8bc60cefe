package github

import (
	"net/http"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/golang-jwt/jwt/v4"
)

// A token that the app signs for itself is good for a little: GitHub takes at
// most ten minutes, and its clock may be behind ours.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const (
	jwtLife  = 2 * time.Minute
	jwtDrift = 30 * time.Second
)

// clockedSigner signs the app's own tokens by the configured clock; ghinstallation
// writes the machine's time into them.
type clockedSigner struct {
	ghinstallation.Signer
	now func() time.Time
}

// Sign implements ghinstallation.Signer.
func (s clockedSigner) Sign(claims jwt.Claims) (string, error) {
	if c, ok := claims.(*jwt.RegisteredClaims); ok {
		issued := s.now().Add(-jwtDrift).Truncate(time.Second)
		c.IssuedAt, c.ExpiresAt = jwt.NewNumericDate(issued), jwt.NewNumericDate(issued.Add(jwtLife))
	}
	return s.Signer.Sign(claims)
}

// signs is a transport that signs requests as the app.
func (a *App) signs(next http.RoundTripper) *ghinstallation.AppsTransport {
	tr := ghinstallation.NewAppsTransportFromPrivateKey(next, a.cfg.AppID, a.key)
	ghinstallation.WithSigner(clockedSigner{ghinstallation.NewRSASigner(jwt.SigningMethodRS256, a.key), a.cfg.Now})(tr)
	return tr
}
