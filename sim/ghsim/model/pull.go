package model

import (
	"time"
)

// Pull is the part of a pull request that an issue lacks.
type Pull struct {
	ID               int64
	Head, Base       string // branch names; both in this repository
	HeadSHA, BaseSHA string
	Draft            bool
	Queue            string // branch of its merge queue entry; empty: none
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
	ID, Review    int64 // Review is the id of its review
	Issue         *Issue
	By            *User
	Body, Path    string
	First, Line   int  // the commented lines, as they were at SHA; First is 0 for a single line
	Old           bool // the lines are on the base's side
	SHA           string
	ReplyTo       int64 // 0 for the first of a thread
	Resolved      bool  // of the first: its thread is
	Made, Updated time.Time
	Reactions     []*Reaction
}

// Thread is the first comment of a comment's thread, or nil.
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
