package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/image"
	"merlon/internal/outbound"
	"merlon/internal/registry"
	"merlon/internal/registry/credential"
)

// This file opens the image that scan --image names.

// openImage opens an image of the disk, or fetches one from its registry into a
// temporary folder. The function that it returns closes it and removes that folder.
func (c *scanCommand) openImage(ctx context.Context, host Host) (*image.Image, func(), error) {
	// A file on the disk comes first, so a tarball called "app" is not looked for in a registry.
	if at, name, ok := onDisk(c.Image); ok {
		img, err := image.Open(ctx, at, image.Options{Name: name, Platform: c.Platform})
		if err != nil {
			return nil, nil, fmt.Errorf("open %s: %w", c.Image, err)
		}
		if img.Name == "" {
			img.Name = filepath.Base(at)
		}
		return img, func() { _ = img.Close() }, nil // it was only read from
	}
	// Layers are stored on the disk, since an image may be larger than the memory.
	dir, err := os.MkdirTemp("", "merlon-image-")
	if err != nil {
		return nil, nil, fmt.Errorf("make room for the image: %w", err)
	}
	drop := func() { _ = os.RemoveAll(dir) } // a temporary folder
	img, err := c.fetchImage(ctx, host, dir)
	if err != nil {
		drop()
		return nil, nil, err
	}
	return img, func() { _ = img.Close(); drop() }, nil
}

// fetchImage fetches the image and opens it.
func (c *scanCommand) fetchImage(ctx context.Context, host Host, dir string) (*image.Image, error) {
	// The registry of a short name such as "alpine" is Docker Hub.
	server, err := registry.Host(c.Image)
	if err != nil {
		return nil, err
	}
	// The user has named this host, so it may be in a private network.
	// The allow list has names without ports.
	name, _, _ := strings.Cut(server, ":")
	client, err := outbound.New(outbound.Options{Agent: "merlon/" + config.Version, Allow: []string{name}})
	if err != nil {
		return nil, err
	}
	ask := registry.Request{Reference: c.Image, Platform: c.Platform, Keychain: registry.Docker(),
		Transport: client.RoundTripper(outbound.Limits{Body: registry.DefaultBytes})}
	// A password without a user is possible: some registries take a token alone.
	if user, password := host.Getenv("MERLON_REGISTRY_USER"), host.Getenv("MERLON_REGISTRY_PASSWORD"); password != "" {
		// The credentials go only to hosts related to the registry: it may redirect the client to
		// a token service anywhere (see SignsIn).
		ask.Login = &registry.Login{User: user, Password: password, SignsIn: func(host string) bool {
			return credential.Related(host, name)
		}}
	}
	fetched, err := registry.Fetch(ctx, ask, dir)
	if err != nil {
		return nil, err
	}
	img, err := image.Open(ctx, dir, image.Options{})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", fetched.Reference, err)
	}
	img.Name = fetched.Reference
	return img, nil
}

// onDisk splits "PATH#NAME", and reports whether there is such a file or folder, or
// the text can be nothing else.
// A "#" may be part of a file name, so the text as a whole is tried first.
func onDisk(target string) (at, name string, ok bool) {
	at, name = target, ""
	if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
		if before, after, cut := strings.Cut(target, "#"); cut {
			at, name = before, after
		}
	}
	if _, err := os.Stat(at); err == nil {
		return at, name, true
	}
	// A text that looks like a path and does not exist gets the error of a file, not of a
	// registry.
	looks := strings.HasPrefix(at, "/") || strings.HasPrefix(at, "./") || strings.HasPrefix(at, "../") ||
		strings.HasPrefix(at, "~") ||
		strings.HasSuffix(at, ".tar") || strings.HasSuffix(at, ".tgz") || strings.HasSuffix(at, ".tar.gz") ||
		strings.HasSuffix(at, ".tar.zst")
	return at, name, looks
}

// checkTarget checks that there is one thing to scan.
func (c *scanCommand) checkTarget() error {
	switch {
	case c.ConnFD != 0 && c.Path == "" && c.Image == "":
		return nil
	case c.Path == "" && c.Image == "":
		return errs.E(errs.Invalid, "name a folder or a file to scan, or an image with --image")
	case c.Path != "" && c.Image != "":
		return errs.E(errs.Invalid, "name either a folder or file, or an image with --image")
	case c.Image == "" && c.Platform != "":
		return errs.E(errs.Invalid, "--platform chooses the platform of an image: name one with --image")
	case c.Image != "" && c.Remote:
		return errs.E(errs.Invalid, "--image is for scans on this machine; leave --remote out")
	case c.Image != "" && (len(c.Rules) > 0 || c.Fast):
		return errs.E(errs.Invalid, "--rules and --fast are for source code, not for images")
	}
	return nil
}
