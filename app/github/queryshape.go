package github

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// queryShape is what the data of an answer to a GraphQL query has to hold: every field that the query selects is in it,
// though it may be null where GitHub's schema lets it. So a part that is missing is not taken for an empty one.
// https://spec.graphql.org/October2021/#sec-Response-Format
func queryShape(query string) shape {
	p := queryParser{words: queryWords.FindAllString(query, -1), fragments: map[string]*shape{}}
	var out shape
	for len(p.words) > 0 {
		switch word := p.next(); word {
		case "(":
			p.skip()
		case "fragment":
			name := p.next()
			p.next() // on
			p.next() // its type
			*p.fragment(name) = p.selection("")
		case "{":
			p.words = append([]string{"{"}, p.words...)
			out = p.selection("")
			out.kind = objectShape
		}
	}
	out.include(0)
	return out
}

// queryWords matches the words of a query that matter, and strings, which don't.
var queryWords = lazyregexp.New(`"(?:[^"\\]|\\.)*"|\.\.\.|[A-Za-z_][A-Za-z0-9_]*|[{}():]`)

// neverNull are the fields that GitHub's schema, or what the query is about, lets never be null, each as the end of the
// way to it.
// https://docs.github.com/en/graphql/reference/objects
var neverNull = []string{"repository", "issue", "closedByPullRequestsReferences", "timelineItems", "history", "nodes",
	"pageInfo", "hasNextPage", "checkRuns", "contexts", "commits", "commit",
	"checkRuns.nodes.name", "checkRuns.nodes.status",
	"state", "oid", "headRefOid", "baseRefName", "mergeable", "context", "pullRequest.isDraft", "createdAt",
	"committedDate",
	"requiresSignatures", "webCommitSignoffRequired", "markPullRequestReadyForReview", "convertPullRequestToDraft"}

type queryParser struct {
	words     []string
	fragments map[string]*shape
}

func (p *queryParser) next() string {
	if len(p.words) == 0 {
		return ""
	}
	word := p.words[0]
	p.words = p.words[1:]
	return word
}

// peek is the next word, which stays.
func (p *queryParser) peek() string { return append(p.words[:len(p.words):len(p.words)], "")[0] }

// skip reads on past the parenthesis that was opened.
func (p *queryParser) skip() {
	for depth := 1; depth > 0 && len(p.words) > 0; {
		switch p.next() {
		case "(":
			depth++
		case ")":
			depth--
		}
	}
}

func (p *queryParser) fragment(name string) *shape {
	if p.fragments[name] == nil {
		p.fragments[name] = &shape{}
	}
	return p.fragments[name]
}

// selection reads a selection set, which begins with a brace; at is the way to it. The fields of the one fragment that
// it consists of are there; of several, those of one are, so that none is asked for.
func (p *queryParser) selection(at string) shape {
	s := shape{kind: eitherShape, fields: map[string]field{}}
	var parts []*shape
	p.next()
	for word := p.next(); word != "}" && word != ""; word = p.next() {
		if word == "..." {
			if p.peek() != "on" {
				parts = append(parts, p.fragment(p.next()))
				continue
			}
			p.next()
			p.next() // the type
			part := p.selection(at)
			parts = append(parts, &part)
			continue
		}
		name, way := word, at+"."+word
		if p.peek() == ":" { // it is an alias
			p.next()
			p.next()
		}
		if p.peek() == "(" {
			p.next()
			p.skip()
		}
		f := field{shape: shape{kind: anythingShape}, need: present}
		if p.peek() == "{" {
			f.shape = p.selection(way)
		}
		if slices.ContainsFunc(neverNull, func(end string) bool { return strings.HasSuffix(way, "."+end) }) {
			f.need = notNull
		}
		s.fields[name] = f
	}
	if len(parts) == 1 {
		s.part = parts[0]
	}
	return s
}

// maxSelection bounds how deep selections are followed, in case a fragment should hold itself.
const maxSelection = 30

// include puts the fields of fragments beside those where they stand.
func (s *shape) include(depth int) {
	if depth > maxSelection {
		return
	}
	if part := s.part; part != nil {
		s.part = nil
		part.include(depth + 1)
		for name, f := range part.fields {
			s.fields[name] = f
		}
	}
	for name, f := range s.fields {
		f.include(depth + 1)
		s.fields[name] = f
	}
}
