package probe

import (
	"bytes"
	"net/http"
	"strings"
)

// pushes are facts about commits and refs.
func pushes() []Fact {
	return []Fact{{
		ID: "pushes/workflow-files",
		Text: "A push that changes workflow files without the permission is refused whole. It is not tried: " +
			"the attempt has failed, and the next is told. Where the installation was granted `workflows: " +
			"write`, the push has it.",
		Source: "rest/authentication/permissions-required-for-github-apps",
		Needs:  "contents:write",
		Probe: func(t *Try) {
			a := t.With(t.narrowed(map[string]string{"contents": "write"}), http.MethodPost, "/git/trees",
				map[string]any{"base_tree": t.start(), "tree": []map[string]any{{"path": ".github/workflows/" + mark + ".yml",
					"mode": "100644", "type": "blob", "content": "on: workflow_dispatch\njobs: {}\n"}}})
			t.Want(a, http.StatusForbidden, http.StatusNotFound)
		},
	}, {
		ID:     "pushes/noreply",
		Text:   "A noreply address carries the host of the GitHub it is on, and a commit by it is its account's.",
		Source: "account-and-profile/reference/email-addresses-reference",
		Needs:  "contents:write",
		Probe: func(t *Try) {
			made := t.commit(commitSpec{parent: t.start(), files: fileOf(t.start()),
				author: map[string]any{"name": t.raw.App.Login, "email": t.raw.Noreply}})
			t.branch(made.Str("sha"))
			t.Until("the commit is the app's bot's", func() bool {
				a := t.Want(t.Get("/commits/%s", made.Str("sha")), http.StatusOK)
				return strings.EqualFold(a.Str("author.login"), t.raw.App.Login)
			})
		},
	}, {
		ID: "pushes/signed",
		Text: "GitHub signs a commit that an app makes through the API without an author and a committer. One " +
			"with an author is not signed.",
		Source: "authentication/managing-commit-signature-verification/" +
			"about-commit-signature-verification#signature-verification-for-bots",
		Needs: "contents:write",
		Probe: func(t *Try) {
			spec := commitSpec{parent: t.start(), files: fileOf(t.start())}
			t.Equal("an app's own commit is verified", t.commit(spec).At("verification.verified"), true)
			spec.author = map[string]any{"name": t.raw.App.Login, "email": t.raw.Noreply}
			t.Equal("a commit with an author is verified", t.commit(spec).At("verification.verified"), false)
		},
	}, {
		ID:     "pushes/outside-heads",
		Text:   "A ref may lie outside of `refs/heads`: it is no branch, and nothing runs for it.",
		Source: "rest/git/refs",
		Needs:  "contents:write",
		Probe: func(t *Try) {
			ref := t.unique("ref")
			t.ref("refs/"+ref, t.commitFile(t.start()))
			t.Want(t.Get("/git/ref/%s", ref), http.StatusOK)
			t.Want(t.Get("/git/ref/heads/%s", ref), http.StatusNotFound)
			t.Want(t.Send(http.MethodDelete, "/git/refs/"+ref, nil), http.StatusNoContent)
		},
	}, {
		ID:     "pushes/fast-forward",
		Text:   "A branch moves only forward unless the push is forced: `422` with `Update is not a fast forward`.",
		Source: "rest/git/refs",
		Needs:  "contents:write",
		Probe: func(t *Try) {
			one, other := t.commitFile(t.start()), t.commitFile(t.start())
			branch := t.branch(one)
			t.Want(t.push(branch, other, false), http.StatusUnprocessableEntity)
			t.Equal("where a forced push leads", t.Want(t.push(branch, other, true), http.StatusOK).Str("object.sha"), other)
		},
	}, {
		ID:     "pushes/taken-name",
		Text:   "A ref that exists is not made again, and one that does not exist is not deleted: `422`.",
		Source: "rest/git/refs",
		Needs:  "contents:write",
		Probe: func(t *Try) {
			branch := t.branch(t.start())
			t.Want(t.Post("/git/refs", map[string]any{"ref": "refs/heads/" + branch, "sha": t.start()}),
				http.StatusUnprocessableEntity)
			t.Want(t.Send(http.MethodDelete, "/git/refs/heads/"+t.unique("none"), nil), http.StatusUnprocessableEntity)
		},
	}, {
		ID:     "pushes/fetched-by-id",
		Text:   "Git fetches a commit that was made through the API by its id, also where no ref leads to it.",
		Source: "https://git-scm.com/docs/gitprotocol-v2",
		Needs:  "contents:write",
		Probe: func(t *Try) {
			sha := t.commitFile(t.start())
			ask := packets("command=fetch\n") + "0001" + packets("want "+sha+"\n", "done\n") + "0000"
			header := http.Header{"Git-Protocol": {"version=2"}, "Content-Type": {"application/x-git-upload-pack-request"},
				"Accept": {"application/x-git-upload-pack-result"}}
			a := t.do(basicAuth{t.raw.Network, t.raw.Token}, http.MethodPost,
				t.raw.Web+t.raw.Repo.String()+".git/git-upload-pack", header, []byte(ask))
			t.Want(a, http.StatusOK)
			t.That(bytes.Contains(a.Body, []byte("packfile\n")), "a pack with the commit", "%.80q", a.Body)
		},
	}}
}

// packets encodes lines of git's protocol, each with its length in front.
func packets(all ...string) (out string) {
	for _, line := range all {
		out += path("%04x%s", len(line)+4, line)
	}
	return out
}
