package project

import "regexp"

var goRequires = regexp.MustCompile(`(?m)^\s*require\b`)

// golang reads go.mod, or the go.work of a repository that keeps its modules in folders.
func golang(t top) finding {
	hosts := []string{"proxy.golang.org", "sum.golang.org"}
	if text, ok := t.file("go.mod"); ok {
		f := finding{language: Language{"Go", "go modules", "go.mod"},
			test: Command{Line: "go test ./...", Why: "go.mod makes the whole folder one module"}}
		if goRequires.MatchString(text) || t.has("go.work") {
			f.setup = []Command{{"go mod download", "go.mod requires other modules", hosts}}
		}
		return f
	}
	if !t.has("go.work") {
		return finding{}
	}
	return finding{language: Language{"Go", "go modules", "go.work"},
		setup: []Command{{"go mod download", "go.work joins several modules, which may require others", hosts}},
		test: Command{Line: "go list -m -f '{{.Dir}}/...' | xargs go test",
			Why: "go.work joins several modules, and this tests each of them"}}
}

// rust reads Cargo.toml. Tests run offline, since attempts test without a network.
func rust(t top) finding {
	if _, ok := t.file("Cargo.toml"); !ok {
		return finding{}
	}
	return finding{language: Language{"Rust", "cargo", "Cargo.toml"},
		setup: []Command{{"cargo fetch", "Cargo.toml is there", []string{"index.crates.io", "static.crates.io"}}},
		test:  Command{Line: "cargo test --offline", Why: "Cargo.toml is there"}}
}

// maven reads pom.xml; a wrapper that the repository brings is used.
func maven(t top) finding {
	if _, ok := t.file("pom.xml"); !ok {
		return finding{}
	}
	program := "mvn"
	if t.has("mvnw") {
		program = "./mvnw"
	}
	return finding{language: Language{"Java", "maven", "pom.xml"},
		setup: []Command{{program + " -q dependency:go-offline", "pom.xml is there", []string{"repo.maven.apache.org"}}},
		test:  Command{Line: program + " -q -o test", Why: "pom.xml is there"}}
}
