package locate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sia-bot/sia/agent/tool/symbol"
)

// BM25 parameters used in most of the literature: Robertson and Zaragoza, "The probabilistic relevance framework: BM25
// and beyond", 2009, §3.2.
const (
	bm25K = 1.2
	bm25B = 0.75

	pathCounts = 4 // weight of a word in the path, relative to a word in the text
	maxTerms   = 300
	maxParsed  = 800 // files parsed for their definitions
)

// scanned is the result of a pass over the source files.
type scanned struct {
	docs  []document
	defs  map[string][]string // files that define a searched name
	total float64             // number of words in all documents
	terms map[string]int      // numbers of the searched words

	unread int // source files beyond the limits
}

// document is a source file that was read.
type document struct {
	path  string
	words int
	terms map[int]int  // counts, by the term's number
	holds map[int]bool // searched names, by number
	names map[string]bool
}

// scan reads the source files once: it counts the searched words, and finds the definitions of the searched names. If
// there are too many files, it prefers those with votes, or with the words in their paths.
func (g *gathering) scan(ctx context.Context, votes Evidence) error {
	terms, names := map[string]int{}, map[string]int{}
	for _, t := range slices.Concat(slices.Sorted(maps.Keys(g.terms)), slices.Sorted(maps.Keys(g.testTerms()))) {
		if _, ok := terms[t]; !ok {
			terms[t] = len(terms)
		}
	}
	for i, n := range slices.Sorted(maps.Keys(g.named)) {
		names[n] = i
	}
	g.found = scanned{defs: map[string][]string{}, terms: terms}
	if len(terms)+len(names) == 0 {
		return nil
	}
	files, left := []string{}, int64(maxBytes)
	for _, p := range g.byPriority(votes, terms) {
		if size := g.sizes[p]; size <= maxFile && left >= size && len(files) < maxRead {
			files, left = append(files, p), left-size
		}
	}
	g.found.unread = len(g.code) - len(files)
	slices.Sort(files)
	docs := make([]document, len(files))
	texts := make([][]byte, len(files))
	err := each(ctx, len(files), func(i int) {
		b, err := g.tree.Read(ctx, files[i], maxFile)
		if err != nil {
			return
		}
		docs[i] = readDocument(files[i], b, terms, names)
		if len(docs[i].holds) > 0 {
			texts[i] = b
		}
	})
	if err != nil {
		return err
	}
	wanted := selectForParsing(docs, len(names))
	err = each(ctx, len(wanted), func(j int) {
		i := wanted[j]
		docs[i].names = map[string]bool{}
		for _, s := range symbol.Of(files[i], string(texts[i])) {
			name := s.Name[strings.LastIndexAny(s.Name, ".:#")+1:]
			if n, ok := names[name]; ok && docs[i].holds[n] {
				docs[i].names[name] = true
			}
		}
	})
	for i := range docs {
		if docs[i].path == "" {
			continue
		}
		g.found.docs = append(g.found.docs, docs[i])
		g.found.total += float64(docs[i].words)
		for n := range docs[i].names {
			g.found.defs[n] = append(g.found.defs[n], docs[i].path)
		}
	}
	return err
}

// byPriority returns the source files in the order of their priority: first those with votes or named in the text, then
// by the number of searched words in their paths.
func (g *gathering) byPriority(e Evidence, terms map[string]int) []string {
	worth := map[string]int{}
	for _, p := range g.code {
		seen := map[int]bool{}
		eachIdentifier([]byte(p), func(id []byte) {
			eachWord(id, func(w []byte) {
				if t, ok := terms[string(w)]; ok {
					seen[t] = true
				}
			})
		})
		worth[p] = len(seen)
	}
	for _, votes := range e.Votes {
		for _, v := range votes {
			worth[v.Path] += len(terms) + 1
		}
	}
	for _, p := range g.paths {
		worth[p] += len(terms) + 1
	}
	files := slices.Clone(g.code)
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(worth[b], worth[a]) })
	return files
}

// each calls do for every number below n, concurrently on the available processors. It ends with ctx.
func each(ctx context.Context, n int, do func(i int)) error {
	var all sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 8)
	for w := range workers {
		all.Go(func() {
			for i := w; i < n && ctx.Err() == nil; i += workers {
				do(i)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// selectForParsing returns the numbers of the documents to parse for definitions. Names in many files are ignored,
// since they don't discriminate. If there are too many documents, those with the most names are preferred.
func selectForParsing(docs []document, names int) (wanted []int) {
	holders, rare := make([]int, names), make([]int, len(docs))
	for _, d := range docs {
		for n := range d.holds {
			holders[n]++
		}
	}
	common := max(100, len(docs)/10)
	for i, d := range docs {
		for n := range d.holds {
			if holders[n] <= common {
				rare[i]++
			}
		}
		if rare[i] > 0 {
			wanted = append(wanted, i)
		}
	}
	slices.SortStableFunc(wanted, func(a, b int) int { return cmp.Compare(rare[b], rare[a]) })
	return wanted[:min(len(wanted), maxParsed)]
}

// wordVotes ranks the files by words, with BM25. why describes the origin of the words. A word in the path counts
// several times.
func (g *gathering) wordVotes(terms map[string]float64, why string) []Vote {
	n := float64(len(g.found.docs))
	if n == 0 || len(terms) == 0 {
		return nil
	}
	list := slices.Sorted(maps.Keys(terms))
	idf := make([]float64, len(list))
	for i, t := range list {
		with := 0.0
		for _, d := range g.found.docs {
			if d.terms[g.found.terms[t]] > 0 {
				with++
			}
		}
		idf[i] = math.Log(1 + (n-with+0.5)/(with+0.5))
	}
	average := max(g.found.total/n, 1)
	var votes []Vote
	for _, d := range g.found.docs {
		var score float64
		type hit struct {
			term string
			part float64
		}
		var hits []hit
		for i, t := range list {
			tf := float64(d.terms[g.found.terms[t]])
			if tf == 0 {
				continue
			}
			part := terms[t] * idf[i] * tf * (bm25K + 1) / (tf + bm25K*(1-bm25B+bm25B*float64(d.words)/average))
			score += part
			hits = append(hits, hit{t, part})
		}
		if score == 0 {
			continue
		}
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.part, a.part) })
		var words []string
		for _, h := range hits[:min(len(hits), 3)] {
			if h.part >= hits[0].part/4 {
				words = append(words, h.term)
			}
		}
		votes = append(votes, Vote{Path: d.path, Score: score, Why: why + strings.Join(words, ", ")})
	}
	return sortVotes(votes)
}

// nameVotes votes for the files that the text names by path, or by a definition.
func (g *gathering) nameVotes() []Vote {
	best := map[string]Vote{}
	add := func(p string, score float64, why string) {
		v := best[p]
		if v.Path == "" || score > v.Score {
			v.Why = why
		}
		v.Path, v.Score = p, v.Score+score
		best[p] = v
	}
	for _, p := range g.paths {
		add(p, 3, "the text names it")
	}
	for _, name := range slices.Sorted(maps.Keys(g.named)) {
		files := g.found.defs[name]
		for _, p := range files {
			add(p, 1/float64(len(files)), fmt.Sprintf("defines %s, which the text names", name))
		}
	}
	return votesOf(best)
}

func votesOf(best map[string]Vote) []Vote { return sortVotes(slices.Collect(maps.Values(best))) }

func compareDown(a, b float64) int { return cmp.Compare(b, a) }
