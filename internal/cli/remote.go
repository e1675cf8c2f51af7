package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"merlon/client"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file lets a server scan a folder. What comes of it is given to the same
// reports as a local scan.

// remoteOptions are the options of `merlon scan --remote`.
type remoteOptions struct {
	serverOptions `embed:""`

	Remote  bool   `group:"Server" help:"Upload the folder or a zip archive and scan it on a server; see merlon login."`
	Project string `placeholder:"ID" group:"Server" help:"Project on the server."`
	Token   string `placeholder:"TOKEN" group:"Server" help:"Personal access token; MERLON_TOKEN is safer. Default: the sign-in of merlon login."`
	Branch  string `placeholder:"NAME" group:"Server" help:"Branch of the code. Default: the branch that is checked out, otherwise main."`
	Git     bool   `group:"Server" help:"Upload .git too, including its history and any credentials in it."`
	Wait    bool   `default:"true" negatable:"" group:"Server" help:"Wait for the scan and report its findings. Otherwise only the scan ID is printed."`
}

// openStates are the states of findings that are reported.
// Resolved and ignored findings are not reported, so that the exit code follows the triage on the
// server.
var openStates = []string{"to_verify", "confirmed"}

// checkRemote refuses options that do not go together. Those of how to look are
// the server's business; --workers is let pass, for serve has a setting of that
// name in the same file.
// An option without effect would give a result that the user did not ask for.
func (c *scanCommand) checkRemote() error {
	if c.Project == "" {
		return errs.E(errs.Invalid, "--remote needs --project ID")
	}
	if c.MaxFileSize != 0 || c.MaxFiles != 0 {
		return errs.E(errs.Invalid, "--max-file-size and --max-files cannot be combined with --remote: the server "+
			"has its "+
			"own limits")
	}
	if c.Advisories != "" {
		return errs.E(errs.Invalid, "--advisories cannot be combined with --remote: the server has its own")
	}
	return nil
}

// runRemote uploads the path, waits, and reports.
func (c *scanCommand) runRemote(ctx context.Context, host Host, analyses []finding.Analysis) error {
	if err := c.checkRemote(); err != nil {
		return err
	}
	api, err := c.connectClient(host, c.Token)
	if err != nil {
		return err
	}
	// The branch decides which findings the new ones are compared with.
	r := &remoteScan{Client: api, project: c.Project, branch: cmp.Or(c.Branch, checkedOut(c.Path), "main"),
		progress: newProgressHandler(host.Stderr)}
	if err := r.startScan(ctx, c.Path, c.Git); err != nil {
		return fmt.Errorf("scan %s on %s: %w", c.Path, api.BaseURL, err)
	}
	if !c.Wait {
		_, err := fmt.Fprintln(host.Stdout, r.id)
		return err
	}
	s, err := api.WaitScan(ctx, r.project, r.id, func(s client.Scan) {
		// 100 % clears the line, which must not happen before the end.
		_ = r.progress.Progress(&scan.Progress{Percent: min(s.Progress, 99), Step: s.Step}) // only a terminal's line
	})
	_ = r.progress.Progress(&scan.Progress{Percent: 100}) // the same
	if err != nil {
		return fmt.Errorf("%w; scan %s continues on the server", err, r.id)
	}
	if s.State == client.Failed {
		return exit{ExitFailed, fmt.Sprintf("scan %s failed: %s", s.ID, s.ErrorMessage)}
	}
	for _, warning := range s.Warnings {
		host.printError("server warning: " + warning)
	}
	// For example an empty folder, or another project: resolved findings would be closed by
	// mistake.
	if s.Suspicious {
		host.printError("this scan resolved so many findings that something else was probably uploaded")
	}
	return c.writeReport(host, c.Format, func(h scan.Handler) error {
		return r.replayScan(ctx, s, replayed{c.Path, analyses}, h)
	})
}

// A remoteScan is a scan at a server.
// packed is filled while the folder is uploaded and is empty for an archive; the upload is
// finished before it is read.
type remoteScan struct {
	*client.Client
	project, branch string
	id              string
	packed          client.Packed
	progress        scan.Handler
}

// startScan starts the scan and uploads the folder or archive.
func (r *remoteScan) startScan(ctx context.Context, path string, git bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	// A tarball or a single file is refused before a scan is started on the server.
	if !info.IsDir() && !(info.Mode().IsRegular() && strings.EqualFold(filepath.Ext(path), ".zip")) {
		return errs.E(errs.Invalid, "it is neither a folder nor a .zip archive")
	}
	started, err := r.StartScan(ctx, r.project, client.NewScan{Branch: r.branch, SourceType: "cli"})
	if err != nil {
		return err
	}
	r.id = started.ID
	if info.IsDir() {
		err = r.uploadFolder(ctx, started.UploadURL, path, git)
	} else {
		err = r.uploadFile(ctx, started.UploadURL, path)
	}
	if err != nil {
		// Nobody waits for the upload any more.
		// ctx may be canceled already (Ctrl-C), and the cancellation must still be sent.
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = r.CancelScan(ending, r.project, r.id) // the server ends it by itself later
		return fmt.Errorf("upload: %w", err)
	}
	return nil
}

// uploadFile uploads an archive as it is.
func (r *remoteScan) uploadFile(ctx context.Context, address, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return r.Upload(ctx, address, f, info.Size())
}

// uploadFolder packs and sends at the same time.
// A pipe, so that neither memory nor disk is needed for an archive of any size; hence its length
// is unknown.
func (r *remoteScan) uploadFolder(ctx context.Context, address, path string, git bool) error {
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	packed := make(chan error, 1)
	var told, sum int64
	go func() {
		var err error
		r.packed, err = client.Pack(ctx, in, path, client.Packing{Git: git, Packed: func(name string, size int64) {
			// One message for each mebibyte, and one for the first file.
			if sum += size; sum-told >= 1<<20 || told == 0 {
				told = sum
				// only a terminal's line
				_ = r.progress.Progress(&scan.Progress{Step: fmt.Sprintf("uploading, %d MiB read", sum>>20)})
			}
		}})
		in.CloseWithError(err) // nil ends the upload well
		packed <- err
	}()
	err := r.Upload(ctx, address, out, -1)
	// The packer blocks in Write when nobody reads: the error of the pipe or the canceled context
	// ends it.
	cancel()                    // a refused upload ends the packing
	_ = out.CloseWithError(err) // the same, while it writes
	// The upload's own error is the cause when both fail.
	if failed := <-packed; failed != nil && err == nil {
		return failed
	}
	return err
}

// checkedOut returns the branch that git has checked out in the folder, or "".
// .git/HEAD is read directly, so git need not be installed.
func checkedOut(dir string) string {
	git := filepath.Join(dir, ".git")
	// In a linked work tree, and in a submodule, .git is a file with the line "gitdir: PATH".
	if text, err := os.ReadFile(git); err == nil { // of a further work tree
		link, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if !ok {
			return ""
		}
		if git = link; !filepath.IsAbs(git) {
			git = filepath.Join(dir, git)
		}
	}
	head, err := os.ReadFile(filepath.Join(git, "HEAD"))
	if err != nil {
		return ""
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if !ok {
		return "" // a commit without a branch
	}
	return branch
}
