// Package history finds credentials in all commits of the repository in the tree,
// also in files that are not there any more.
//
// It goes through the commits from the oldest on and looks at the lines that each
// brings, with the rules that look at files. A secret is told once, at the place
// where it first stood, with its first and last commit. What stands in the tree
// too is one finding with what is found there; the driver joins them.
package history

import (
	"bytes"
	_ "embed" // the manual
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"merlon/internal/engine/secrets/credentials"
	"merlon/internal/engine/secrets/git"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds credentials in the history of the repository.
var Analyzer = &scan.Analyzer{
	ID:       "secrets/history",
	Version:  1,
	Analysis: finding.Secret,
	Doc:      doc,
	Match:    func(string) bool { return false }, // it looks at no file of the tree
	History:  true,
	Project:  analyzeProject,
}

// analyzeProject reports the secrets in the commits of the repository at the root.
func analyzeProject(p *scan.ProjectPass) error {
	for i, repo := range p.Repositories {
		at := path.Join(repo.Path, ".git")
		if repo.FS == nil {
			p.Degrade(scan.Reason{Code: "unavailable", Message: "the history lies outside of the folder, where " +
				".git points", Path: at})
			continue
		}
		if _, err := fs.Stat(repo.FS, "HEAD"); errors.Is(err, fs.ErrNotExist) {
			continue // the remains of a repository hold no history
		}
		r, err := git.Open(repo.FS, git.Limits{})
		if err != nil {
			p.Degrade(scan.Reason{Code: "unreadable", Message: "the history was not " +
				"analyzed: " + err.Error(), Path: at + "/"})
			continue
		}
		w := &historyWalk{pass: p, repo: r, folder: repo.Path, at: at + "/", commits: map[git.Hash]*git.Commit{},
			trees: map[git.Hash][]git.Entry{}, names: map[string]bool{},
			held: map[fileVersion][]*secretRecord{}, records: map[string]*secretRecord{}}
		err = w.walkCommits()
		r.Close()
		if err != nil {
			return err
		}
		w.reportRecords()
		p.Progress(100*(i+1)/len(p.Repositories), "analyzed the history of "+repo.Path)
	}
	return nil
}

// historyWalk goes through one repository.
// Maps and lists live as long as the walk through one repository. Their sizes follow from the
// limits of the repository and from maxTrees.
type historyWalk struct {
	pass    *scan.ProjectPass
	repo    *git.Repository
	folder  string // that holds .git
	at      string // .git, with a slash
	commits map[git.Hash]*git.Commit
	trees   map[git.Hash][]git.Entry // read last
	// A cache: names repeat in each commit.
	names map[string]bool // whether files of the name are looked at
	// By blob and name, so that an unchanged version is analyzed once, whatever number of commits
	// contain it.
	held    map[fileVersion][]*secretRecord // the secrets of versions of files
	records map[string]*secretRecord        // by key
	// Records in the order in which they were found; the order of reports.
	order  []*secretRecord
	damage map[string]int // objects that could not be read, by what is wrong
}

// fileVersion is a content under a name, by which it is decided what is looked for.
// The name belongs to it, because formats and rules depend on it: the same bytes are a finding
// in .env and none in a test.
type fileVersion struct {
	blob git.Hash
	name string
}

// secretRecord is a secret with its commits.
type secretRecord struct {
	credentials.Secret
	history finding.History
}

// maxTrees bounds the folders, and the names, that are kept.
// The cache is cleared when it is full: commits change over time, and old folders are not
// needed any more.
const maxTrees = 20_000

// walkCommits looks at every commit.
// Commits are visited from the oldest to the newest, so that the first location of a secret is
// the one that introduced it.
func (w *historyWalk) walkCommits() error {
	w.damage = map[string]int{}
	// A shallow clone lacks parents. The result is then incomplete, which must be visible.
	for _, missing := range w.repo.Missing {
		w.pass.Degrade(scan.Reason{Code: "unavailable", Message: "the history does not contain " + missing +
			"; fetch all of it to have it analyzed", Path: w.at})
	}
	tips, err := w.repo.Tips()
	if err := w.countUnreadable(err); err != nil {
		return err
	}
	commits := w.loadCommits(tips)
	for i, c := range commits {
		if err := w.pass.Context.Err(); err != nil {
			return err
		}
		if err := w.scanCommit(c); err != nil {
			// The budget is spent: what was found so far is kept, and the report says how many
			// commits are missing.
			if errors.Is(err, git.ErrSpent) {
				w.pass.Degrade(scan.Reason{Code: "too-large", Message: fmt.Sprintf("%s; %d of %d commits were "+
					"analyzed", err, i, len(commits)), Path: w.at})
				break
			}
			return err
		}
		// Progress for every 64th commit: often enough for a bar, seldom enough to cost nothing.
		if i%64 == 0 {
			w.pass.Progress(100*i/len(commits), fmt.Sprintf("analyzed %d of %d commits", i, len(commits)))
		}
	}
	for what, n := range w.damage {
		w.pass.Degrade(scan.Reason{Code: "unreadable", Message: fmt.Sprintf("%d objects of the history were not "+
			"analyzed: %s", n, what), Path: w.at})
	}
	return nil
}

// countUnreadable counts an object that could not be read; the budget's end is told on.
// One damaged object must not end the analysis of the whole history.
func (w *historyWalk) countUnreadable(err error) error {
	switch {
	case err == nil:
	case errors.Is(err, git.ErrSpent), !git.IsDamaged(err):
		return err
	case errors.Is(err, git.ErrNotFound), errors.Is(err, git.ErrTooLarge):
		w.damage[err.Error()]++
	default:
		w.damage["they are damaged"]++
	}
	return nil
}

// scanCommit looks at what the commit changes: the files that none of its parents
// has in that form.
// A merge is compared with all of its parents: only what differs from each of them is new in
// the merge.
func (w *historyWalk) scanCommit(c *git.Commit) error {
	var parents []git.Hash
	for _, id := range c.Parents {
		if p := w.commits[id]; p != nil {
			parents = append(parents, p.Tree)
		}
	}
	return w.compareFolders(c, c.Tree, parents, "", 0)
}

// maxDepth bounds folders inside each other.
// 128 is far beyond real trees. A crafted tree can contain itself only through a collision of
// SHA-1, but may be deep.
const maxDepth = 128

// readFolders reads the folder as each parent has it, by name. One that cannot be read is
// left out and counted: everything in the folder is then new beside that parent.
func (w *historyWalk) readFolders(parents []git.Hash) ([]map[string]git.Entry, error) {
	before := make([]map[string]git.Entry, 0, len(parents))
	for _, p := range parents {
		list, err := w.readTree(p)
		if err != nil {
			if err := w.countUnreadable(err); err != nil {
				return nil, err
			}
			continue
		}
		byName := make(map[string]git.Entry, len(list))
		for _, e := range list {
			byName[e.Name] = e
		}
		before = append(before, byName)
	}
	return before, nil
}

// findBases returns what the entry was in each of the folders, and whether one of them
// had the very same: the commit then did not change it.
func findBases(before []map[string]git.Entry, e git.Entry) (bases []git.Hash, same bool) {
	for _, list := range before {
		// A file that replaces a folder has no base.
		if b, ok := list[e.Name]; ok && b.Dir == e.Dir {
			same = same || b.ID == e.ID
			if b.Dir || b.File {
				bases = append(bases, b.ID)
			}
		}
	}
	return bases, same
}

// compareFolders compares a folder with those of the parents, and scans the files that
// differ from all of them.
func (w *historyWalk) compareFolders(c *git.Commit, tree git.Hash, parents []git.Hash, folder string, depth int) error {
	// The folder is the same as that of a parent: Merkle trees make a whole subtree one
	// comparison.
	for _, p := range parents {
		if p == tree {
			return nil
		}
	}
	if depth > maxDepth {
		w.damage["folders are too deep inside each other"]++
		return nil
	}
	entries, err := w.readTree(tree)
	if err != nil {
		return w.countUnreadable(err)
	}
	before, err := w.readFolders(parents)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name)
		bases, same := findBases(before, e)
		switch {
		// The same version as in a parent: the commit did not touch it.
		case same:
		case e.Dir:
			err = w.compareFolders(c, e.ID, bases, name, depth+1)
		case e.File && w.isScanned(name):
			err = w.scanFile(c, e.ID, bases, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isScanned reports whether files of the name are looked at. Most names come again
// and again.
// The decision is by extension and folder, as for files of the working tree.
func (w *historyWalk) isScanned(name string) bool {
	known, ok := w.names[name]
	if !ok {
		if len(w.names) >= maxTrees {
			clear(w.names)
		}
		known = credentials.IsScanned(name)
		w.names[name] = known
	}
	return known
}

// readTree reads a folder. Those of one commit are mostly those of the one before.
func (w *historyWalk) readTree(id git.Hash) ([]git.Entry, error) {
	if list, ok := w.trees[id]; ok {
		return list, nil
	}
	list, err := w.repo.Tree(id)
	if err != nil {
		return nil, err
	}
	if len(w.trees) >= maxTrees {
		clear(w.trees)
	}
	w.trees[id] = list
	return list, nil
}

// scanFile looks at a version of a file beside those before it.
func (w *historyWalk) scanFile(c *git.Commit, blob git.Hash, bases []git.Hash, name string) error {
	v := fileVersion{blob, name}
	// The version is known from another branch or an earlier commit: only the last commit of its
	// secrets changes.
	if known, ok := w.held[v]; ok {
		w.addCommit(c, known)
		return nil
	}
	b, err := w.repo.Blob(blob)
	if err != nil {
		return w.countUnreadable(err)
	}
	var records []*secretRecord
	// Secrets that the previous version had and this one still contains keep their record without
	// a new search.
	for _, base := range bases {
		for _, r := range w.held[fileVersion{base, name}] {
			if r.Value != "" && bytes.Contains(b, []byte(r.Value)) {
				records = append(records, r)
			}
		}
	}
	found, err := w.findNewSecrets(b, bases, name)
	if err != nil {
		return err
	}
	for i := range found {
		records = append(records, w.recordOf(c, found[i], name))
	}
	w.held[v] = records
	w.addCommit(c, records)
	return nil
}

// findNewSecrets returns the secrets that the version brings.
func (w *historyWalk) findNewSecrets(b []byte, bases []git.Hash, name string) ([]credentials.Secret, error) {
	full := path.Join(w.folder, name)
	// A key store is binary and reported as a whole.
	if store, ok := credentials.FindKeyStore(full, b); ok {
		store.Finding.Location.Path = full
		return []credentials.Secret{store}, nil
	}
	text, ok := credentials.DecodeText(b)
	if !ok {
		return nil, nil
	}
	var before []string
	for _, base := range bases {
		old, err := w.repo.Blob(base)
		if err != nil {
			if err := w.countUnreadable(err); err != nil {
				return nil, err
			}
			continue
		}
		if t, ok := credentials.DecodeText(old); ok {
			before = append(before, t)
		}
	}
	change := &credentials.Change{Path: full, Text: text}
	// Only the added lines are searched; Near has the lines around them, which detectors need for
	// context.
	if change.New, change.Near = addedLines(text, before); len(change.New) == 0 {
		return nil, nil
	}
	found, err := credentials.Find(w.pass.Context, change)
	if credentials.IsPartial(err) {
		w.damage["files have more secret candidates than the limit"]++
		err = nil
	}
	return found, err
}

// recordOf returns the record of a secret, a new one when it was not seen before.
// The key identifies the secret itself, so that a copy in another file has the same record.
func (w *historyWalk) recordOf(c *git.Commit, s credentials.Secret, name string) *secretRecord {
	key := s.Finding.Secret.Key
	if r := w.records[key]; r != nil {
		return r
	}
	r := &secretRecord{Secret: s, history: finding.History{FirstCommit: c.ID.String(),
		Author: strings.TrimSpace(c.Author),
		Date:   c.Date, Path: path.Join(w.folder, name)}}
	w.records[key] = r
	w.order = append(w.order, r)
	return r
}

// addCommit notes that the commit wrote files with the secrets.
// Each commit that still contains the secret moves the end of its lifetime.
func (w *historyWalk) addCommit(c *git.Commit, records []*secretRecord) {
	for _, r := range records {
		r.history.LastCommit, r.history.LastDate = c.ID.String(), c.Date
	}
}

// reportRecords reports the secrets in the order in which they came.
func (w *historyWalk) reportRecords() {
	for _, r := range w.order {
		f := r.Finding
		s := *f.Secret
		history := r.history
		s.History = &history
		// Verification asks the issuer whether the secret is still valid. Verify is nil where it
		// is switched off.
		if w.pass.Verify != nil && r.Value != "" {
			s.Validity = w.pass.Verify.Verify(w.pass.Context, r.Rule.ID, r.Value)
		}
		f.Secret = &s
		f.Also = nil
		w.pass.Report(r.Rule, f)
	}
}
