package apispec

import (
	"net/url"
	"path"
	"strconv"
	"strings"
)

// Address returns the address template of the operation at the target. Scheme and host are those of
// the base, because the description was written for another installation. Of the path, that of the
// server counts where it is below the path of the base, else that of the base: for the base
// https://test.example/shop and the server https://shop.example/shop/v1, it begins with /shop/v1.
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

// serverPath returns the path of a server's address without a slash at its end; empty: it has none.
func serverPath(server string) string {
	u, err := url.Parse(server)
	if err != nil || server == "" {
		return ""
	}
	p := path.Clean("/" + u.EscapedPath())
	return strings.TrimRight(p, "/")
}

// number returns an index as a part of a pointer.
func number(i int) string { return strconv.Itoa(i) }
