package ghsim

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// appKey is an app's private key.
type appKey struct{ *rsa.PrivateKey }

// newAppKey is a new key, or the one that the configuration gives all apps.
func (s *Server) newAppKey() (*appKey, error) {
	if s.cfg.AppKeyPEM != nil {
		k, err := jwt.ParseRSAPrivateKeyFromPEM(s.cfg.AppKeyPEM)
		if err != nil {
			return nil, fmt.Errorf("reading AppKeyPEM: %w", err)
		}
		return &appKey{k}, nil
	}
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("generating a key: %w", err)
	}
	return &appKey{k}, nil
}

func (k *appKey) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k.PrivateKey)})
}

// token is an installation access token.
type token struct {
	inst        *installation
	permissions map[string]string
	repos       []*repository // nil: whatever the installation has
	expires     time.Time
	user        *user // set for a person's token, narrowed to one repository
}

func (t *token) has(r *repository) bool {
	return t.inst.has(r) && (t.repos == nil || slices.Contains(t.repos, r))
}

// may reports whether the token grants a permission at a level, read or write.
func (t *token) may(permission, level string) bool {
	return grants(t.permissions[permission], level) && (permission == "metadata" || grants(t.inst.permissions[permission], level))
}

func grants(have, want string) bool {
	return have != "" && (have == want || have == "write" || have == "admin")
}

// tokenLife is an installation token's life.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-an-installation-access-token-for-a-github-app
const tokenLife = time.Hour

// authApp verifies an app's JSON Web Token.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (s *Server) authApp(raw string) (*app, error) {
	var found *app
	claims := jwt.RegisteredClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(raw, &claims, func(*jwt.Token) (any, error) {
		for _, a := range s.apps {
			if claims.Issuer == strconv.FormatInt(a.id, 10) || claims.Issuer == a.clientID {
				found = a
				return &a.key.PublicKey, nil
			}
		}
		return nil, errors.New("unknown issuer")
	})
	now := s.now()
	switch {
	case err != nil && found == nil:
		return nil, badJWT("'Issuer' claim ('iss') must be an Integer")
	case err != nil:
		return nil, badJWT("A JSON web token could not be decoded")
	case claims.ExpiresAt == nil || !claims.ExpiresAt.After(now):
		return nil, badJWT("'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	case claims.ExpiresAt.After(now.Add(10*time.Minute + 5*time.Second)):
		return nil, badJWT("'Expiration time' claim ('exp') is too far in the future")
	case claims.IssuedAt != nil && claims.IssuedAt.After(now.Add(5*time.Second)):
		return nil, badJWT("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	}
	return found, nil
}

// authToken finds a live installation token.
func (s *Server) authToken(raw string) (*token, error) {
	t := s.tokens[raw]
	if t == nil || !s.now().Before(t.expires) || t.inst.removed {
		return nil, badCredentials()
	}
	if !t.inst.suspended.IsZero() {
		return nil, &apiError{code: http.StatusForbidden, message: "This installation has been suspended",
			doc: "https://docs.github.com/rest/reference/apps#create-an-installation-access-token-for-an-app"}
	}
	return t, nil
}

// credentials are the raw token of a request's Authorization header.
func credentials(r *http.Request) string {
	if _, pass, ok := r.BasicAuth(); ok {
		return pass
	}
	scheme, raw, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "token") {
		return strings.TrimSpace(raw)
	}
	return ""
}

// isJWT tells an app's token from an installation's.
func isJWT(raw string) bool { return strings.Count(raw, ".") == 2 && strings.HasPrefix(raw, "ey") }

func (s *Server) createToken(c *call) (answer, error) {
	i, err := c.installation()
	if err != nil {
		return answer{}, err
	}
	if !i.suspended.IsZero() {
		return answer{}, &apiError{code: http.StatusForbidden, message: "This installation has been suspended"}
	}
	var in struct {
		Repositories  []string          `json:"repositories"`
		RepositoryIDs []int64           `json:"repository_ids"`
		Permissions   map[string]string `json:"permissions"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	t := &token{inst: i, permissions: maps.Clone(i.permissions), expires: s.now().Add(tokenLife).Truncate(time.Second)}
	if len(in.Permissions) > 0 {
		t.permissions = map[string]string{"metadata": "read"}
		for p, level := range in.Permissions {
			if p != "metadata" && !grants(i.permissions[p], level) {
				return answer{}, unprocessable("The permissions requested are not granted to this installation.")
			}
			t.permissions[p] = level
		}
	}
	if len(in.Repositories)+len(in.RepositoryIDs) > 0 {
		t.repos = []*repository{}
	}
	for _, r := range i.repos {
		if slices.Contains(in.Repositories, r.name) || slices.Contains(in.RepositoryIDs, r.id) {
			t.repos = append(t.repos, r)
		}
	}
	if want := len(in.Repositories) + len(in.RepositoryIDs); want > 0 && len(t.repos) < want {
		return answer{}, unprocessable("There is at least one repository that does not exist or is not accessible to the parent installation.")
	}
	var b [18]byte
	rand.Read(b[:])
	raw := "ghs_" + hex.EncodeToString(b[:])
	s.tokens[raw] = t
	out := object{"token": raw, "expires_at": stamp(t.expires), "permissions": t.permissions, "repository_selection": i.selection()}
	if t.repos != nil {
		list := []object{}
		for _, r := range t.repos {
			list = append(list, s.repoFullJSON(r, t))
		}
		out["repositories"], out["repository_selection"] = list, "selected"
	}
	return created(out), nil
}

func (s *Server) revokeToken(c *call) (answer, error) {
	delete(s.tokens, credentials(c.r))
	return answer{code: http.StatusNoContent}, nil
}
