package github

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// queryShape returns the shape of the data of a response to a GraphQL query. Every selected field is required, and
// may be null where GitHub's schema allows it. So a missing part is not mistaken for an empty one.
// https://spec.graphql.org/October2021/#sec-Response-Format
func queryShape(query string) shape {
	p := queryParser{tokens: queryTokens.FindAllString(query, -1), fragments: map[string]*shape{}}
	var out shape
	for len(p.tokens) > 0 {
		switch word := p.next(); word {
		case "(":
			p.skip()
		case "fragment":
			name := p.next()
			p.next() // on
			p.next() // its type
			*p.fragment(name) = p.selection("")
		case "{":
			p.tokens = append([]string{"{"}, p.tokens...)
			out = p.selection("")
			out.kind = objectShape
		}
	}
	out.include(0)
	return out
}

// queryTokens matches the tokens of a query that matter here, and strings, which don't.
var queryTokens = lazyregexp.New(`"(?:[^"\\]|\\.)*"|\.\.\.|[A-Za-z_][A-Za-z0-9_]*|[{}():]`)

// neverNull lists fields that are never null, by GitHub's schema or by the query's subject, as suffixes of their
// paths.
// https://docs.github.com/en/graphql/reference/objects
var neverNull = []string{"repository", "issue", "closedByPullRequestsReferences", "timelineItems", "history", "nodes",
	"pageInfo", "hasNextPage", "checkRuns", "contexts", "commits", "commit",
	"checkRuns.nodes.name", "checkRuns.nodes.status",
	"state", "oid", "headRefOid", "baseRefName", "mergeable", "context", "pullRequest.isDraft", "createdAt",
	"committedDate",
	"requiresSignatures", "webCommitSignoffRequired", "markPullRequestReadyForReview", "convertPullRequestToDraft"}

type queryParser struct {
	tokens    []string
	fragments map[string]*shape
}

func (p *queryParser) next() string {
	if len(p.tokens) == 0 {
		return ""
	}
	word := p.tokens[0]
	p.tokens = p.tokens[1:]
	return word
}

// peek returns the next token without consuming it.
func (p *queryParser) peek() string { return append(p.tokens[:len(p.tokens):len(p.tokens)], "")[0] }

// skip consumes tokens up to the matching closing parenthesis.
func (p *queryParser) skip() {
	for depth := 1; depth > 0 && len(p.tokens) > 0; {
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

// selection parses a selection set that begins with a brace; at is its path. If it has exactly one fragment, that
// fragment's fields are required. Of several fragments only one applies, so none is required.
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
		name, path := word, at+"."+word
		if p.peek() == ":" { // an alias
			p.next()
			p.next()
		}
		if p.peek() == "(" {
			p.next()
			p.skip()
		}
		f := field{shape: shape{kind: anythingShape}, need: present}
		if p.peek() == "{" {
			f.shape = p.selection(path)
		}
		if slices.ContainsFunc(neverNull, func(end string) bool { return strings.HasSuffix(path, "."+end) }) {
			f.need = notNull
		}
		s.fields[name] = f
	}
	if len(parts) == 1 {
		s.fragment = parts[0]
	}
	return s
}

// maxSelection is the maximum depth of selections, in case a fragment includes itself.
const maxSelection = 30

// include adds the fields of fragments to the selections that use them.
func (s *shape) include(depth int) {
	if depth > maxSelection {
		return
	}
	if part := s.fragment; part != nil {
		s.fragment = nil
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
