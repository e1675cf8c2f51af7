package sitemap

import (
	"path"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// index are names of files that servers answer with where a folder is asked for.
var index = lazyregexp.New(`^(?i:index|default|home|welcome)\.[A-Za-z]{2,5}$`)

// MarkDuplicates leaves out operations that are another one by the name of the file that a folder
// is answered with: "/shop/index.php" beside "/shop/", of the same method and names, where
// same says that both gave the same answer. It gives same the name of the file.
func (s *Map) MarkDuplicates(same func(file string, a, b *message.Response) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.order {
		file := path.Base(e.Request.Path)
		if e.Withheld || e.Response == nil || e.Request.Template != "" || !index.MatchString(file) ||
			strings.HasSuffix(e.Request.Path, "/") {
			continue
		}
		folder := *e.Request
		folder.Path = strings.TrimSuffix(folder.Path, file)
		other := s.known[OperationKey(&folder)]
		if other == nil || other.Withheld || other.Response == nil || !same(file, e.Response, other.Response) {
			continue
		}
		e.Withheld, e.Seen.Reason = true, "it is the same as "+other.Request.Location()+", which is examined"
	}
}
