package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// loadGraphQL reads GitHub's GraphQL schema.
var loadGraphQL = sync.OnceValues(func() (*ast.Schema, error) {
	file, err := dataFile("graphql-schema/schema.graphql")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading GitHub's GraphQL schema: %w", err)
	}
	doc, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: file, Input: string(text)})
	if err != nil {
		return nil, fmt.Errorf("reading GitHub's GraphQL schema: %w", err)
	}
	for _, def := range doc.Definitions { // GitHub's defines some fields twice, which a schema may not
		seen := map[string]bool{}
		def.Fields = slices.DeleteFunc(def.Fields, func(f *ast.FieldDefinition) bool {
			twice := seen[f.Name]
			seen[f.Name] = true
			return twice
		})
	}
	schema, err := validator.ValidateSchemaDocument(doc)
	if err != nil {
		return nil, fmt.Errorf("reading GitHub's GraphQL schema: %w", err)
	}
	return schema, nil
})

// graphqlRules are the validation rules of the specification.
var graphqlRules = rules.NewDefaultRules()

// graphql forwards a request and checks it and its answer.
func (v *Validator) graphql(next http.Handler, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := &recorder{ResponseWriter: w, code: http.StatusOK}
	next.ServeHTTP(rec, r)
	if rec.code != http.StatusOK {
		return
	}
	for _, found := range v.checkGraphQL(body, rec.body.Bytes()) {
		v.violation("GraphQL: %s: %s", found, clip(body))
	}
}

// checkGraphQL lists the violations of a request, and of its answer if that has data.
func (v *Validator) checkGraphQL(request, answer []byte) (found []string) {
	var asked struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	var got struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return []string{"the request is no JSON: " + err.Error()}
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return []string{"the answer is no JSON: " + err.Error()}
	}
	doc, errs := gqlparser.LoadQueryWithRules(v.schema, asked.Query, graphqlRules)
	for _, err := range errs {
		found = append(found, err.Error())
	}
	if len(errs) > 0 || len(doc.Operations) != 1 {
		return found
	}
	op := doc.Operations[0]
	v.count("GraphQL " + string(op.Operation))
	if _, err := validator.VariableValues(v.schema, op, asked.Variables); err != nil {
		found = append(found, err.Error())
	}
	if got.Data == nil {
		return found
	}
	root := v.schema.Query
	if op.Operation == ast.Mutation {
		root = v.schema.Mutation
	}
	a := graphqlAnswer{schema: v.schema}
	a.object("data", root, op.SelectionSet, got.Data)
	return append(found, a.found...)
}

// graphqlAnswer checks an answer against the request.
type graphqlAnswer struct {
	schema *ast.Schema
	found  []string
}

func (a *graphqlAnswer) wrong(format string, args ...any) {
	a.found = append(a.found, fmt.Sprintf(format, args...))
}

// object checks that an object has exactly the selected fields. If only __typename would reveal its type and it was not
// selected, fields of all possible types are accepted.
func (a *graphqlAnswer) object(at string, def *ast.Definition, asked ast.SelectionSet, got map[string]any) {
	known := def
	if name, ok := got["__typename"].(string); ok && a.schema.Types[name] != nil {
		known = a.schema.Types[name]
	}
	must, may := map[string]*ast.Field{}, map[string]*ast.Field{}
	a.fields(known, asked, true, must, may)
	for name, f := range must {
		if value, there := got[name]; !there {
			a.wrong("%s lacks the field %s, which was selected", at, name)
		} else {
			a.value(at+"."+name, f.Definition.Type, f.SelectionSet, value)
		}
	}
	for name, value := range got {
		if f := may[name]; f != nil && must[name] == nil {
			a.value(at+"."+name, f.Definition.Type, f.SelectionSet, value)
		} else if f == nil && must[name] == nil {
			a.wrong("%s has the field %s, which was not selected", at, name)
		}
	}
}

// fields collects the selection of a type: the fields that an object must have, and those that it may have, depending
// on the types of fragments.
func (a *graphqlAnswer) fields(
	def *ast.Definition, asked ast.SelectionSet, sure bool, must, may map[string]*ast.Field,
) {
	for _, s := range asked {
		switch s := s.(type) {
		case *ast.Field:
			to := may
			if sure {
				to = must
			}
			if first := to[s.Alias]; first != nil { // two selections of one field are merged
				joined := *first
				joined.SelectionSet = slices.Concat(first.SelectionSet, s.SelectionSet)
				s = &joined
			}
			to[s.Alias] = s
		case *ast.InlineFragment:
			if s.TypeCondition == "" {
				a.fields(def, s.SelectionSet, sure, must, may)
			} else {
				a.fragment(def, s.TypeCondition, s.SelectionSet, sure, must, may)
			}
		case *ast.FragmentSpread:
			a.fragment(def, s.Definition.TypeCondition, s.Definition.SelectionSet, sure, must, may)
		}
	}
}

func (a *graphqlAnswer) fragment(
	def *ast.Definition, condition string, asked ast.SelectionSet, sure bool, must, may map[string]*ast.Field,
) {
	switch {
	case condition == def.Name || slices.Contains(def.Interfaces, condition):
		a.fields(def, asked, sure, must, may)
	case def.IsAbstractType():
		a.fields(def, asked, false, must, may)
	}
}

func (a *graphqlAnswer) value(at string, want *ast.Type, asked ast.SelectionSet, got any) {
	switch {
	case got == nil:
		if want.NonNull {
			a.wrong("%s is null, which a %s is not", at, want)
		}
		return
	case want.Elem != nil:
		list, ok := got.([]any)
		if !ok {
			a.wrong("%s is no list", at)
		}
		for i, one := range list {
			a.value(fmt.Sprintf("%s[%d]", at, i), want.Elem, asked, one)
		}
		return
	}
	def := a.schema.Types[want.NamedType]
	switch def.Kind {
	case ast.Enum:
		if name, ok := got.(string); !ok || def.EnumValues.ForName(name) == nil {
			a.wrong("%s is %v, which is no %s", at, got, def.Name)
		}
	case ast.Scalar:
		a.scalar(at, def.Name, got)
	default:
		object, ok := got.(map[string]any)
		if !ok {
			a.wrong("%s is no object", at)
			return
		}
		a.object(at, def, asked, object)
	}
}

// scalar checks the types of the specification; GitHub's own, such as DateTime and URI, are strings.
func (a *graphqlAnswer) scalar(at, want string, got any) {
	var ok bool
	switch want {
	case "Int":
		n, is := got.(float64)
		ok = is && n == float64(int32(n))
	case "Float":
		_, ok = got.(float64)
	case "Boolean":
		_, ok = got.(bool)
	case "BigInt":
		_, is := got.(float64)
		_, text := got.(string)
		ok = is || text
	default:
		_, ok = got.(string)
	}
	if !ok {
		a.wrong("%s is %v, which is no %s", at, got, want)
	}
}
