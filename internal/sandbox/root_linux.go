package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// This file builds the file tree that the program sees: a small memory file
// system with the granted files at their own names, the system's libraries, a
// few devices, and the program's own entry of /proc. The steps are those of
// bubblewrap: two changes of the root, so that the old tree is whole while the
// new one is built, and gone afterwards.

// system holds what a dynamically linked program may need.
var system = []string{"/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo",
	"/etc/ld.so.cache", "/etc/localtime"}

// devices are those without state.
var devices = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}

// enterRoot makes the new tree the root. When the system refuses a mount before
// anything was changed, it warns and leaves the tree as it is.
func (s *stage) enterRoot() error {
	// The program's user enters the folders that are made here, whatever mask the
	// service has for its own files.
	defer unix.Umask(unix.Umask(0o022))
	if err := mountBase(); err != nil {
		if s.Family != nil {
			return fmt.Errorf("hide the file tree: %w", err)
		}
		s.addWarning("the whole file tree is visible (%v), but not readable where Landlock is "+
			"enabled", systemReason(err))
		return nil
	}
	for _, dir := range []string{"/root", "/proc"} {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("build the file tree: %w", err)
		}
	}
	if err := unix.Mount("/root", "/root", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("build the file tree: %w", err)
	}
	if err := s.fillRoot(); err != nil {
		return fmt.Errorf("build the file tree: %w", err)
	}
	s.rooted = true
	return leaveOld()
}

// mountBase makes an empty memory file system the root, with the present root at
// /old.
func mountBase() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("sandbox", "/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=1m"); err != nil {
		return err
	}
	err := os.Mkdir("/tmp/old", 0o755)
	if err == nil {
		err = unix.PivotRoot("/tmp", "/tmp/old")
	}
	if err != nil {
		_ = unix.Unmount("/tmp", unix.MNT_DETACH) // back to where it was
		return err
	}
	return os.Chdir("/")
}

// fillRoot binds everything that the program may see below /root.
func (s *stage) fillRoot() error {
	for _, path := range system {
		if err := bindSystem(path); err != nil {
			return err
		}
	}
	for _, path := range devices {
		if err := bindMount(path, path, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, g := range s.Files {
		attr := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
		if !g.Write {
			attr |= unix.MOUNT_ATTR_RDONLY
		}
		if !g.Exec {
			attr |= unix.MOUNT_ATTR_NOEXEC
		}
		if err := bindMount(g.Source, g.Path, attr); err != nil {
			return err
		}
	}
	if s.Family != nil {
		return s.fillFamily()
	}
	// Its own entry only: others' would tell of their environment and arguments.
	self := fmt.Sprintf("/proc/%d", os.Getpid())
	if err := bindMount(self, "/proc/self",
		unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC); err != nil {
		s.addWarning("no /proc/self: %v", err)
	}
	return nil
}

// bindSystem binds a part of the system, or copies it when it is a link. One that
// does not exist is left out.
func bindSystem(path string) error {
	info, err := os.Lstat("/old" + path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink("/old" + path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir("/root"+path), 0o755); err != nil {
			return err
		}
		return os.Symlink(target, "/root"+path)
	}
	return bindMount(path, path, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_RDONLY)
}

// bindMount mounts the source of the old tree at the path of the new one, with the
// attributes added to those that it has. They hold for mounts below it too.
func bindMount(source, path string, attr uint64) error {
	info, err := os.Stat("/old" + source)
	if err != nil {
		return err
	}
	target := "/root" + path
	if err := makeTarget(target, info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount("/old"+source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s: %w", path, err)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attr}); err != nil {
		return fmt.Errorf("protect %s: %w", path, err)
	}
	return nil
}

// makeTarget makes the folder or empty file that is mounted over, unless it is
// there already, as part of another grant.
func makeTarget(path string, dir bool) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// leaveOld makes /root the root and forgets everything else.
func leaveOld() error {
	steps := []struct {
		what string
		do   func() error
	}{
		{"forget the old tree", func() error { return unix.Unmount("/old", unix.MNT_DETACH) }},
		{"enter the new tree", func() error { return os.Chdir("/root") }},
		{"change the root", func() error { return unix.PivotRoot(".", ".") }},
		{"forget the base", func() error { return unix.Unmount(".", unix.MNT_DETACH) }},
		{"enter the root", func() error { return os.Chdir("/") }},
		{"close the root", func() error {
			return unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
		}},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}
