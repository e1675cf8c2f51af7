package apispec

import (
	"net/url"
	"path"
	"strconv"
	"strings"
)

// Address returns the address template of the operation at the target: scheme and
// host are those of the base whatever the description says, which was written for
// some other place. Of the path, that of the server counts where it is below the
// path of the base; else the base's.
func (o *Operation) Address(base *url.URL) string {
	root := strings.TrimRight(base.EscapedPath(), "/")
	prefix := root
	if own := strings.TrimRight(serverPath(o.Server), "/"); root == "" || own == root ||
		strings.HasPrefix(own, root+"/") {
		prefix = own
	}
	own, slashed := o.Path, strings.HasSuffix(o.Path, "/")
	if o.Slash && slashed {
		own = strings.TrimSuffix(own, "/")
	} else if o.Slash {
		own += "/"
	}
	return base.Scheme + "://" + base.Host + prefix + own
}

// serverPath returns the path of a server's address.
func serverPath(server string) string {
	u, err := url.Parse(server)
	if err != nil || server == "" {
		return ""
	}
	p := path.Clean("/" + u.EscapedPath())
	return strings.TrimRight(p, "/")
}

// number is an index as a part of a pointer.
func number(i int) string { return strconv.Itoa(i) }
