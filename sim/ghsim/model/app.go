package model

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/delivery"
)

// App is a registered GitHub App.
type App struct {
	ID          int64
	ClientID    string
	Slug, Name  string
	Owner       *User
	Bot         *User // the account of its comments and commits
	Key         *rsa.PrivateKey
	Permissions map[string]string
	Events      []string
	Made        time.Time
	Hidden      bool           // from the tokens of other apps, in GraphQL
	Hook        *delivery.Hook // nil without a webhook

	ClientSecret string   // for signing people in
	Callbacks    []string // permitted sign-in callback addresses; none: any
	SetupURL     string   // redirect address after installation
	PendingHook  string   // address of its webhook, until its keys are fetched
}

// KeyPEM is the private key as GitHub hands it out, PKCS #1.
func (a *App) KeyPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(a.Key)})
}

// Installation is an app on repositories of an account.
type Installation struct {
	ID          int64
	App         *App
	Account     *User
	Repos       []*Repository
	Made        time.Time
	Updated     time.Time
	Suspended   time.Time // zero when it is not
	SuspendedBy *User
	Removed     bool
	AllRepos    bool
	Permissions map[string]string
}

// Has reports whether the installation includes a repository.
func (i *Installation) Has(r *Repository) bool { return slices.Contains(i.Repos, r) }

// Selection reports whether it includes all of the account's repositories or selected ones.
func (i *Installation) Selection() string {
	if i.AllRepos {
		return "all"
	}
	return "selected"
}
