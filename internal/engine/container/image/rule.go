package image

import (
	"fmt"
	"io/fs"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/finding"
)

// This file holds the rules about the configuration and the files of an image.

const (
	modeSetuid = fs.ModeSetuid
	modeSetgid = fs.ModeSetgid
)

// standardPrograms are the programs of distributions that run with other rights, and are
// made for it.
var standardPrograms = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range []string{"su", "sudo", "mount", "umount", "passwd", "chsh", "chfn", "newgrp", "gpasswd",
		"chage", "expiry", "unix_chkpwd",
		"pam_extrausers_chkpwd", "ping", "ping6", "fusermount", "fusermount3", "ssh-agent", "ssh-keysign",
		"dbus-daemon-launch-helper", "wall", "write", "write.ul", "bsd-write",
		"crontab", "at", "pkexec", "polkit-agent-helper-1", "utempter", "lockfile", "dotlockfile", "mlocate", "locate",
		"plocate", "bbsuid", "sudoedit", "traceroute6.iputils",
		"newuidmap", "newgidmap", "mail-lock", "mail-touchlock", "mail-unlock", "exim4", "postdrop", "postqueue",
		"chkpwd", "usernetctl", "grub2-set-bootflag", "userhelper", "pam_timestamp_check", "staprun", "cockpit-session",
		"screen", "procmail"} {
		m[name] = true
	}
	return m
}()

var (
	ruleRoot        = texts.Get("root-user")
	ruleMovingBase  = texts.Get("moving-base")
	ruleRemoteLogin = texts.Get("remote-login")
	ruleHealth      = texts.Get("no-health-check")
	ruleEnvironment = texts.Get("secret-in-environment")
	ruleHistory     = texts.Get("secret-in-history")
	ruleRemoteAdd   = texts.Get("remote-add")
	rulePiped       = texts.Get("piped-script")
	ruleInsecure    = texts.Get("unchecked-download")
	ruleEverybody   = texts.Get("writable-for-all")
	ruleSetuid      = texts.Get("setuid-program")
)

// listRules returns the rules of images; secrets and packages have those of their
// own analyzers.
func listRules() ([]*finding.Rule, error) {
	return []*finding.Rule{ruleRoot, ruleMovingBase, ruleRemoteLogin, ruleHealth, ruleEnvironment, ruleHistory,
		ruleRemoteAdd, rulePiped, ruleInsecure, ruleEverybody, ruleSetuid}, nil
}

// reportFiles reports what is wrong with files by their mode.
func (e *examination) reportFiles() {
	for _, name := range e.overlay.sortedPaths() {
		v := e.overlay.visibleVersion(name)
		if v == nil || v.setuid == nil {
			continue
		}
		l := e.describeLayer(v.layer)
		// The publisher of the base image maintains its programs. A set-user-ID program of another
		// user than root grants no more than the rights of that user.
		if l.Base || !v.setuid.group && v.setuid.uid != 0 {
			continue
		}
		what := "root"
		if v.setuid.group {
			what = "its group"
		}
		e.Report(ruleSetuid, finding.Finding{Message: fmt.Sprintf("%s runs with the rights of %s, whoever "+
			"starts it", inventory.OneLine(name), what),
			Location: finding.Location{Path: name}, Layer: l, Identity: "setuid " + what})
	}
}
