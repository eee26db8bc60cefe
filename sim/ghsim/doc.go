// Package ghsim is a GitHub simulator: REST, a little GraphQL, git over HTTP, webhooks, a check runner that really runs
// a repository's workflows, and web pages. The demo and the end-to-end tests run the production application against it,
// only over HTTP.
//
// This package is the entry point: [Server] combines the packages below, and users of the simulator need no other. A
// package imports only those above it in this list:
//
//   - git: bare repositories on disk, and git's smart HTTP protocol.
//   - runner: parses, plans and runs workflows.
//   - monitor: the only lock, and background work that tests wait for.
//   - journal: everything that happened, in order.
//   - delivery: webhooks, sent in order; dropped, duplicated or held for tests.
//   - fault: answers in place of the simulator's, for tests.
//   - refusal: GitHub's errors.
//   - model: the state: repositories, issues, checks, apps.
//   - rules: what blocks a merge.
//   - oracle: whether a pull request's head is green, independently of SIA.
//   - payload: the model in GitHub's JSON.
//   - access: tokens, and their permissions.
//   - world: changes, and their consequences.
//   - people: people's actions in a browser, and the owner's settings.
//   - remote: git over HTTP, with GitHub's permissions and consequences.
//   - api: REST under /api/v3/ and GraphQL under /api/graphql, as on GitHub
//     Enterprise Server.
//   - pages: the web pages.
//
// In addition, package conformance checks requests, answers and payloads against
// GitHub's published descriptions.
//
// A change happens in one place: a person's click, a request and a push all end in
// a method of [world.World], which changes the model, writes into the journal and
// sends the webhooks, all under one lock. So all of these become visible together.
//
// The simulator is meant for loopback: its pages let anyone act as anyone, and
// its workflows run unconfined. Of this module, it imports only the packages
// above. Start reading at server.go, then world/push.go for the consequences of a push.
package ghsim
