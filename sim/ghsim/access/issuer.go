// Package access authenticates requests to the simulated GitHub and decides their permissions: apps by their JSON Web
// Token, installations and people by tokens that it issues, and the one-time codes of signing in and of registering an
// app.
//
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
package access

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"fmt"

	"github.com/golang-jwt/jwt/v4"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// TokenIssuer issues tokens and checks them; the simulator's lock is held unless a method says otherwise.
type TokenIssuer struct {
	hub     *model.Hub
	keyPEM  []byte
	tokens  map[string]*Token
	people  map[string]*PersonToken
	grants  map[string]Grant // by code
	refuses bool             // git refuses restricted tokens of the stateless form
}

// NewTokenIssuer is an issuer without tokens. keyPEM, when set, is every app's private key, PKCS #1.
func NewTokenIssuer(hub *model.Hub, keyPEM []byte) *TokenIssuer {
	return &TokenIssuer{hub: hub, keyPEM: keyPEM, tokens: map[string]*Token{}, people: map[string]*PersonToken{},
		grants: map[string]Grant{}}
}

// NewKey generates a private key for a new app. It takes a while, so the lock should not be held.
func (d *TokenIssuer) NewKey() (*rsa.PrivateKey, error) {
	if d.keyPEM != nil {
		k, err := jwt.ParseRSAPrivateKeyFromPEM(d.keyPEM)
		if err != nil {
			return nil, fmt.Errorf("reading the key of all apps: %w", err)
		}
		return k, nil
	}
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("generating a key: %w", err)
	}
	return k, nil
}

// NewSecret is random text after a prefix.
func NewSecret(prefix string) string {
	var b [20]byte
	rand.Read(b[:])
	return prefix + hex.EncodeToString(b[:])
}
