// Package ghsim is a GitHub simulator: REST, a little GraphQL, git over HTTP,
// webhooks, a check runner that really runs a repository's workflows, and pages
// to look at all of it. The demo and the end-to-end tests run the production
// application against it over HTTP alone.
//
// This package is the door: [Server] puts the rooms together, and users of the
// simulator need no other. Each room is a package that says what it is in a
// sentence. A room imports only those above it in this list:
//
//   - git: bare repositories on disk, and git's smart HTTP protocol.
//   - runner: workflows, read, planned and run.
//   - monitor: the one lock, and the work behind requests that tests wait for.
//   - journal: everything that happened, in order.
//   - delivery: webhooks, sent in order; lost, doubled or held when a test asks.
//   - fault: answers given in place of the simulator's, as tests ask.
//   - refusal: how GitHub says no.
//   - model: what there is: repositories, issues, checks, apps.
//   - rules: what stands in the way of a merge.
//   - oracle: whether a pull request's head is green, stated apart from SIA.
//   - payload: how GitHub prints it as JSON.
//   - access: tokens, and what they may do.
//   - world: what happens, and what follows from it.
//   - people: what a person does in a browser, and what the owner sets up.
//   - remote: git over HTTP, with GitHub's permissions and consequences.
//   - api: REST under /api/v3/ and GraphQL under /api/graphql, as on GitHub
//     Enterprise Server.
//   - pages: what a browser shows.
//
// Package conformance, beside them, checks requests, answers and payloads against
// GitHub's published descriptions.
//
// A change happens in one place: a person's click, a request and a push all end in
// a method of [world.World], which changes the model, writes into the journal and
// sends the webhooks, all under one lock. So whoever sees one of these sees the
// others.
//
// The simulator is meant for loopback: its pages let anyone act as anyone, and
// its workflows run unconfined. It imports nothing of ours but its rooms. Start
// reading at server.go, then world/push.go for what a push sets off.
package ghsim
