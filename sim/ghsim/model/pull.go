package model

import (
	"time"
)

// Pull is what a pull request has besides what an issue has.
type Pull struct {
	ID               int64
	Head, Base       string // branch names; both in this repository
	HeadSHA, BaseSHA string
	Draft            bool
	Queue            string // branch of the merge queue that holds it; empty: it is in none
	MergedAt         time.Time
	MergedBy         *User
	MergeSHA         string
	Reviews          []*Review
	Threads          []*ReviewComment
}

// Review is a review of a pull request.
type Review struct {
	ID          int64
	By          *User
	State, Body string // state: approved, changes_requested or commented
	SHA         string
	At          time.Time
}

// ReviewComment is a comment on a line of a pull request, or a reply to one.
type ReviewComment struct {
	ID, Review    int64 // Review is the id of the review that it belongs to
	Issue         *Issue
	By            *User
	Body, Path    string
	First, Line   int  // the lines that it is about, as they were at SHA; First is 0 where it is one
	Old           bool // the lines are of the base's side
	SHA           string
	ReplyTo       int64 // 0 for the first of a thread
	Made, Updated time.Time
	Reactions     []*Reaction
}

// Thread is the first comment of a thread that a comment belongs to, or nil.
func (i *Issue) Thread(id int64) *ReviewComment {
	if i.Pull == nil {
		return nil
	}
	for _, c := range i.Pull.Threads {
		if c.ID == id && c.ReplyTo != 0 {
			return i.Thread(c.ReplyTo)
		}
		if c.ID == id {
			return c
		}
	}
	return nil
}
