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

// newRule makes a rule of this analyzer.
func newRule(id, name string, s finding.Severity, r finding.Rule) *finding.Rule {
	r.ID, r.Analysis, r.Name, r.Severity, r.Language = "container/image/"+id, finding.Container, name, s, "dockerfile"
	if r.ShortDescription == "" {
		r.ShortDescription = name
	}
	if r.Confidence == "" {
		r.Confidence = finding.Certain
	}
	if len(r.OWASP) == 0 {
		r.OWASP = []string{"A05:2021"}
	}
	return &r
}

var (
	ruleRoot = newRule("root-user", "Container runs as root", finding.Medium, finding.Rule{
		CWE: []string{"CWE-250"},
		Description: "The image sets no user, or sets root. Whoever takes over the program in the container is root " +
			"there: they can change its files, install tools, " +
			"and need one flaw of the kernel or of the runtime less to reach the host.",
		HowToPrevent: "Make a user in the build and switch to it after the steps that need root:\n\n```\nRUN useradd " +
			"--system --no-create-home app\nUSER app\n```\n\nA number (`USER 10001`) lets an orchestrator verify " +
			"that it is not root.",
	})
	ruleMovingBase = newRule("moving-base", "Unpinned base image", finding.Low, finding.Rule{
		CWE: []string{"CWE-1357"}, OWASP: []string{"A08:2021"},
		Description: "The image is built from a tag such as `latest`, or from none. The next build may begin with " +
			"another system, which nobody looked at and nobody can go back from.",
		HowToPrevent: "Name a version, and better its digest: `FROM debian:12.7-slim@sha256:…`. Let a tool propose " +
			"newer ones, so that they are looked at.",
	})
	ruleRemoteLogin = newRule("remote-login", "Remote login service in the image", finding.Medium, finding.Rule{
		CWE: []string{"CWE-668"},
		Description: "The image exposes a port of SSH or Telnet. A login in a container is a second door with " +
			"accounts and keys of its own, which nobody watches; its host keys are in the image and the same for " +
			"every container.",
		HowToPrevent: "Remove the login service and the port. Use the runtime's own means (`kubectl exec`, `docker " +
			"exec`), which ask for the rights of the platform and are logged.",
	})
	ruleHealth = newRule("no-health-check", "Missing health check", finding.Low, finding.Rule{
		CWE: []string{"CWE-693"}, Confidence: finding.Likely,
		Description: "The image offers a service, and does not say how to tell whether it works. A container that " +
			"hangs stays in service.",
		HowToPrevent: "Add a `HEALTHCHECK` that asks the service itself, or have the orchestrator do it (a liveness " +
			"probe); then this finding may be set aside.",
	})
	ruleEnvironment = newRule("secret-in-environment", "Secret in an environment variable of the image", finding.High,
		finding.Rule{
			CWE: []string{"CWE-526", "CWE-798"}, OWASP: []string{"A07:2021"}, Confidence: finding.Likely,
			Description: "A variable that looks like a secret has a value in the image's configuration. " +
				"Everybody who " +
				"can pull the image can read it, with no container running (`docker inspect`); " +
				"so can every program in the container, and it ends up in logs and error reports.",
			HowToPrevent: "Replace the secret where it was issued. Then give it to the container when it starts, " +
				"from a " +
				"secret store or a mounted file, and take `ENV` and `ARG` with it out of the build. A later `ENV " +
				"NAME=` hides it from the container only: the history keeps it.",
		})
	ruleHistory = newRule("secret-in-history", "Secret in the history of the image", finding.High, finding.Rule{
		CWE: []string{"CWE-538", "CWE-798"}, OWASP: []string{"A07:2021"}, Confidence: finding.Likely,
		Description: "A step of the build held a secret: as the value of a build argument, or in a command. The " +
			"history of the image keeps every step with its arguments, and everybody who can pull the image can read " +
			"it (`docker history --no-trunc`).",
		HowToPrevent: "Replace the secret where it was issued. Give secrets to a build as mounts, which leave no " +
			"trace:\n\n```\nRUN --mount=type=secret,id=token TOKEN=$(cat /run/secrets/token) make\n```",
	})
	ruleRemoteAdd = newRule("remote-add", "ADD from a URL without checksum", finding.Medium, finding.Rule{
		CWE: []string{"CWE-494", "CWE-829"}, OWASP: []string{"A08:2021"},
		Description: "`ADD` takes a file from an address and puts it into the image as it comes. Whoever controls " +
			"the server, or with http:// the way to it, decides what is built in.",
		HowToPrevent: "Pin what is to come: `ADD --checksum=sha256:… https://…`, or copy the file into the build's " +
			"folder and check it there.",
	})
	rulePiped = newRule("piped-script", "Remote script executed in the build", finding.Medium, finding.Rule{
		CWE: []string{"CWE-494"}, OWASP: []string{"A08:2021"},
		Description: "A step of the build pipes what a server sends into a shell. What ran in this build cannot be " +
			"told afterwards, and the next one may run something else. When the transfer breaks off, the first half " +
			"of the script has run.",
		HowToPrevent: "Take the tool from a package repository with signatures, or fetch a release of a named " +
			"version and verify its checksum before running it.",
	})
	ruleInsecure = newRule("unchecked-download", "Download without TLS or signature verification", finding.Medium,
		finding.Rule{
			CWE: []string{"CWE-295"}, OWASP: []string{"A02:2021"},
			Description: "A step of the build turns off the check of certificates or signatures. Whoever is on " +
				"the way " +
				"can send something else.",
			HowToPrevent: "Leave the check on. Where the server has a certificate of your own authority, add that " +
				"to the " +
				"image's trusted ones.",
		})
	ruleEverybody = newRule("writable-for-all", "World-writable files", finding.Low, finding.Rule{
		CWE: []string{"CWE-732"},
		Description: "A step of the build lets every user of the container change files. A flaw in any program " +
			"there becomes a way to change the others, which may run with more rights.",
		HowToPrevent: "Give the files to the user who needs them (`COPY --chown=app`), with no more than `u+w`.",
	})
	ruleSetuid = newRule("setuid-program", "Setuid or setgid program", finding.Medium, finding.Rule{
		CWE: []string{"CWE-250", "CWE-269"}, Confidence: finding.Likely,
		Description: "The program has the setuid or setgid bit: whoever starts it gets the rights of its owner or " +
			"group. It is none of the programs of a distribution that are made for this. A flaw in it gives every " +
			"user in the container those rights.",
		HowToPrevent: "Remove the bit (`chmod u-s,g-s`), or the program. Run containers with `no-new-privileges`, " +
			"with which the bit does nothing.",
	})
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
