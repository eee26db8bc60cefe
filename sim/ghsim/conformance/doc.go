// Package conformance checks HTTP traffic against GitHub's published descriptions: REST requests and answers against
// the OpenAPI description (npm package @octokit/openapi), GraphQL against the schema (@octokit/graphql-schema), and
// webhook payloads against the schemas of @octokit/webhooks-schemas. All are test data, installed in node_modules by
// "make deps"; a test fails with a message if they are missing.
//
// Put [Validator.Middleware] around the simulator (ghsim.Config.Wrap) and [Validator.Webhooks] around the application's
// webhook endpoint; violations fail the test at its end. The description is read once per process, and only the used
// operations are compiled.
//
// It imports nothing of this module. Start reading at validator.go.
package conformance
