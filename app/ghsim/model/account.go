package model

import (
	"fmt"
	"time"
)

// User is an account: a person, an organization or an app's bot.
type User struct {
	ID    int64
	Login string
	Kind  string // User, Bot or Organization
	Made  time.Time
}

// Email is the address that the account's commits carry.
func (u *User) Email() string { return fmt.Sprintf("%d+%s@users.noreply.github.com", u.ID, u.Login) }

// Actor is who does something: a person, or an app through an installation.
type Actor struct {
	User *User
	App  *App
	Inst *Installation
}

// As is an account that does something by itself.
func As(u *User) Actor { return Actor{User: u} }
