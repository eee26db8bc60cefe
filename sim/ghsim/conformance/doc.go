// Package conformance checks HTTP traffic against GitHub's own descriptions:
// REST requests and answers against the OpenAPI description (npm package
// @octokit/openapi), GraphQL against the schema (@octokit/graphql-schema), and
// webhook payloads against the schemas of @octokit/webhooks-schemas. All are test
// data, put under node_modules by "make deps"; a test fails and says so where they
// are missing.
//
// Put [Validator.Middleware] around the simulator (ghsim.Config.Wrap) and
// [Validator.Webhooks] around the application's webhook endpoint; violations
// fail the test at its end. The description is read once per process, and only
// those operations are compiled that a test meets, so the cost follows the use.
//
// It imports nothing of ours. Start reading at validator.go.
package conformance
