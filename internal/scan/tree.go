package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"merlon/internal/errs"
)

// This file walks and opens the scanned tree. All access goes through an os.Root, so that
// neither a symbolic link nor a path traversal in an untrusted tree leads outside.
//
// The tree has every regular file below the root, including installed dependencies. It excludes
// without a reason: the folder ".git" (analyzers of the history get it as a Repository),
// symbolic links (a target inside the tree is analyzed under its own name; one outside is out
// of scope), and devices, sockets and pipes.

// tree is a scanned folder, or a single file.
type tree struct {
	root  *os.Root
	name  string   // of the folder or file, without its parents
	dir   string   // on the host; empty for a single file
	files []File   // within the limits, sorted
	large []File   // too large for all analyzers but those that stream
	repos []string // folders that contain .git, in the order of the walk
	gaps  []Reason // what cannot be analyzed: files, folders (trailing slash), the rest (no path)

	index   sync.Once
	entries map[string][]fs.DirEntry // of every folder that contains a file, by path
}

// openTree opens and walks the folder or file.
func openTree(ctx context.Context, at string, limits Limits) (*tree, error) {
	abs, err := filepath.Abs(at)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", at, err)
	}
	dir, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.E(errs.Invalid, "%s does not exist", at)
	}
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", at, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("stat %s: %w", at, err)
	}
	t := &tree{name: filepath.Base(abs)}
	switch {
	case info.IsDir():
		t.dir = dir
		if t.root, err = os.OpenRoot(dir); err == nil {
			err = t.walkFiles(ctx, limits)
		}
	case info.Mode().IsRegular():
		if t.root, err = os.OpenRoot(filepath.Dir(dir)); err == nil {
			t.addFile(File{Path: filepath.Base(dir), Size: info.Size()}, limits)
		}
	default:
		return nil, errs.E(errs.Invalid, "%s is neither a folder nor a regular file", at)
	}
	if err != nil {
		t.close()
		return nil, fmt.Errorf("open %s: %w", at, err)
	}
	return t, nil
}

// close closes the root; a tree of an image has none.
func (t *tree) close() {
	if t.root != nil {
		_ = t.root.Close() // read only
	}
}

// maxRepositories bounds the repositories of a tree.
const maxRepositories = 1000

// errFull ends the walk at the limit of files.
var errFull = errors.New("the limit of files is reached")

// walkFiles lists the regular files, sorted by path.
func (t *tree) walkFiles(ctx context.Context, limits Limits) error {
	total, seen := int64(0), 0
	err := fs.WalkDir(t.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == ".":
			return err
		case err != nil:
			t.addGap("unreadable", causeText(err), name+"/")
			return fs.SkipDir
		case d.IsDir():
			return t.enterFolder(name, limits)
		case !d.Type().IsRegular():
			return nil
		}
		if seen++; seen > limits.Files {
			t.addGap("too-many-files", fmt.Sprintf("the tree has more than %d files; the rest was not "+
				"analyzed", limits.Files), "")
			return errFull
		}
		info, err := d.Info()
		if err != nil {
			t.addGap("unreadable", causeText(err), name)
			return nil
		}
		if total+info.Size() > limits.TotalSize {
			t.addGap("too-large", fmt.Sprintf("the files before it have the %d bytes that a scan "+
				"may read", limits.TotalSize), name)
			return nil
		}
		if t.addFile(File{Path: name, Size: info.Size()}, limits) {
			total += info.Size()
		}
		return nil
	})
	slices.SortFunc(t.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

// enterFolder decides whether the walk descends into the folder, and returns fs.SkipDir if not.
func (t *tree) enterFolder(name string, limits Limits) error {
	if path.Base(name) == ".git" {
		if len(t.repos) < maxRepositories {
			t.repos = append(t.repos, path.Dir(name))
		}
		return fs.SkipDir
	}
	if strings.Count(name, "/") >= limits.Depth {
		t.addGap("too-deep", fmt.Sprintf("more than %d folders inside each other", limits.Depth), name+"/")
		return fs.SkipDir
	}
	return nil
}

// addFile adds the file, and reports whether it did. A file above the limit is a gap, though
// analyzers that stream may still read it.
func (t *tree) addFile(f File, limits Limits) bool {
	if f.Size > limits.FileSize {
		if f.Size <= limits.StreamSize {
			t.large = append(t.large, f)
		}
		t.addGap("too-large", fmt.Sprintf("%d bytes; larger than the limit of %d", f.Size, limits.FileSize), f.Path)
		return false
	}
	t.files = append(t.files, f)
	return true
}

// addGap records a part of the tree that cannot be analyzed.
func (t *tree) addGap(code, message, name string) {
	t.gaps = append(t.gaps, Reason{Code: code, Message: message, Path: name})
}

// readFile returns the content of a listed file, at most limit bytes. The file may have grown
// since the walk, so the limit is enforced while reading and not by the listed size.
func (t *tree) readFile(name string, limit int64) ([]byte, error) {
	f, err := t.openFile(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, min(info.Size(), limit)+bytes.MinRead)) // with room to detect EOF
	if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > limit {
		return nil, errs.E(errs.TooLarge, "the file grew beyond %d bytes while it was read", limit)
	}
	return b.Bytes(), nil
}

// openFile opens a regular file. The entry may have been replaced since the walk (TOCTOU):
// O_NONBLOCK prevents blocking on a named pipe, and the type is checked on the open file.
func (t *tree) openFile(name string) (*os.File, error) {
	f, err := t.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		_ = f.Close() // the first error is reported
		return nil, err
	}
	return f, nil
}

// causeText returns the text of an error without the operation and path.
func causeText(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// languages names languages by the end of a file's name.
var languages = map[string]string{
	".go": "go", ".py": "python", ".pyi": "python", ".ipynb": "python", ".java": "java",
	".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript", ".vue": "vue",
	".svelte": "svelte", ".astro": "astro",
	".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp",
	".cs": "csharp", ".php": "php", ".rb": "ruby", ".erb": "ruby", ".rs": "rust",
	".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".swift": "swift", ".groovy": "groovy", ".gradle": "groovy",
	".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".clj": "clojure", ".dart": "dart", ".lua": "lua",
	".pl": "perl", ".r": "r",
	".sh": "shell", ".bash": "shell", ".zsh": "shell", ".ps1": "powershell", ".sql": "sql", ".html": "html",
	".htm": "html", ".css": "css",
	".tf": "terraform", ".tfvars": "terraform", ".hcl": "hcl", ".bicep": "bicep",
	".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".xml": "xml", ".ini": "ini",
	".properties": "properties", ".env": "env",
	".md": "markdown", ".dockerfile": "dockerfile",
}

// Language returns the name of a file's language, in lower case, by its name
// alone, and "text" when it has none.
func Language(name string) string {
	base := strings.ToLower(path.Base(name))
	if l, ok := languages[path.Ext(base)]; ok {
		return l
	}
	switch {
	case strings.HasPrefix(base, "dockerfile"), strings.HasPrefix(base, "containerfile"):
		return "dockerfile"
	case base == "makefile", base == "jenkinsfile":
		return base
	case strings.HasPrefix(base, ".env"):
		return "env"
	}
	return "text"
}
