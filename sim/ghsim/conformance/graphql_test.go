package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Fields that GitHub's schema lacks, and answers that don't match the request, are found.
func TestGraphQL(t *testing.T) {
	schema, err := loadGraphQL()
	if err != nil {
		t.Fatal(err)
	}
	const repo = `query($name: String!) { repository(owner: "o", name: $name) { `
	for _, c := range []struct {
		name, query, answer string
		want                []string
	}{
		{"as it should be", repo + "nameWithOwner id } }", `{"repository":{"nameWithOwner":"o/r","id":"R"}}`, nil},
		{"an unknown field", repo + "nameAndOwner } }", `{"repository":{}}`, []string{`Cannot query field "nameAndOwner"`}},
		{"a wrong argument", repo + "pullRequest(number: $name) { id } } }", `{"repository":{}}`,
			[]string{`Variable "$name" of type "String!" used in position expecting type "Int!"`}},
		{"a field too few", repo + "nameWithOwner } }", `{"repository":{}}`,
			[]string{"repository lacks the field nameWithOwner"}},
		{"a field too many", repo + "id } }", `{"repository":{"id":"R","name":"r"}}`,
			[]string{"name, which was not selected"}},
		{"null", repo + "id } }", `{"repository":{"id":null}}`, []string{"id is null, which a ID! is not"}},
		{"no repository", repo + "id } }", `{"repository":null}`, nil},
		{"no such value", repo + "visibility } }", `{"repository":{"visibility":"SECRET"}}`,
			[]string{"no RepositoryVisibility"}},
		{"a text for a number", repo + "stargazerCount } }", `{"repository":{"stargazerCount":"1"}}`, []string{"no Int"}},
		{"an object for a list", repo + "issues(first: 1) { nodes { id } } } }", `{"repository":{"issues":{"nodes":{}}}}`,
			[]string{"nodes is no list"}},
		{"another type's field", repo +
			`object(expression: "x") { __typename ... on Commit { message } ... on Tree { id } } } }`,
			`{"repository":{"object":{"__typename":"Commit","message":"m","id":"T"}}}`, []string{"id, which was not selected"}},
		{"a type that is not told", repo + `object(expression: "x") { ... on Commit { message } } } }`,
			`{"repository":{"object":{"message":"m"}}}`, nil},
	} {
		v := &Validator{schema: schema, seen: map[string]int{}}
		request, err := json.Marshal(map[string]any{"query": c.query, "variables": map[string]any{"name": "r"}})
		if err != nil {
			t.Fatal(err)
		}
		got := v.checkGraphQL(request, []byte(`{"data":`+c.answer+`}`))
		same := slices.EqualFunc(c.want, got, func(want, got string) bool { return strings.Contains(got, want) })
		if !same {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
