package advisory

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"merlon/internal/finding"
)

// This file is the data file's format: written once, read in place, never
// changed. Integers are little-endian or, inside of parts, unsigned varints;
// text is its length and its bytes.
//
//	magic                                       8 bytes, names the version of the format
//	chunks      zstd(record …)                  what records say, by number; about 4 KiB each
//	blocks      text table, affected …, crc     what records say of one package
//	chunk table {first record, offset, length} …
//	index       {hash, offset, length} …        sorted by the hash of the package's key
//	epss        {cve, score, percentile} …      sorted by CVE (feed.go)
//	kev         {cve, days, ransomware} …       the same
//	meta        JSON
//	tail        offsets of the five parts above, count of records, crc of everything from the chunk table on
//	digest      SHA-256 of everything before it
//
// A look-up costs a binary search in the index, which is held in memory, and one
// read. Each part carries a checksum, so that a damaged file is an error and not
// an answer.

const (
	magicName = "MERLADV" // of all versions
	magic     = magicName + "2"
	tailSize  = 6*8 + 4
	digestLen = 32

	chunkSize  = 4 << 10  // of text, before compression: a look-up decompresses one for each record it returns
	maxChunk   = 64 << 20 // one record may be longer than chunkSize
	maxBlock   = 64 << 20
	chunkEntry = 20
	indexEntry = 20
)

// errDamaged says that a data file does not hold what it should.
var errDamaged = errors.New("the advisory data file is damaged")

func damaged(what string) error { return fmt.Errorf("%w: %s", errDamaged, what) }

// checksum guards a part of the file.
func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An encoder appends values to b.
type encoder struct{ b []byte }

func (e *encoder) int(n int)     { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) byte(c byte)   { e.b = append(e.b, c) }
func (e *encoder) text(s string) { e.int(len(s)); e.b = append(e.b, s...) }
func (e *encoder) u32(n uint32)  { e.b = binary.LittleEndian.AppendUint32(e.b, n) }
func (e *encoder) u64(n uint64)  { e.b = binary.LittleEndian.AppendUint64(e.b, n) }
func (e *encoder) time(t time.Time) {
	var ms uint64
	if t.Unix() > 0 {
		ms = uint64(t.UnixMilli())
	}
	e.b = binary.AppendUvarint(e.b, ms)
}

func (e *encoder) texts(list []string) {
	e.int(len(list))
	for _, s := range list {
		e.text(s)
	}
}

// A decoder takes values from s. After a value that is not there it returns
// zero values and err is set; lengths are checked against what is left, so that
// a damaged file cannot ask for more memory than it has bytes.
type decoder struct {
	s   string
	err error
}

func (d *decoder) fail() {
	d.s = ""
	if d.err == nil {
		d.err = damaged("a part ends too early")
	}
}

func (d *decoder) uvarint() uint64 {
	var n uint64
	for i := range min(len(d.s), binary.MaxVarintLen64) {
		c := d.s[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.s = d.s[i+1:]
			return n
		}
	}
	d.fail()
	return 0
}

// count reads a number of things that take at least one byte each.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.s)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) byte() byte {
	if d.s == "" {
		d.fail()
		return 0
	}
	c := d.s[0]
	d.s = d.s[1:]
	return c
}

func (d *decoder) text() string {
	n := d.count()
	t := d.s[:n]
	d.s = d.s[n:]
	return t
}

func (d *decoder) texts() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = d.text()
	}
	return out
}

func (d *decoder) time() time.Time {
	ms := d.uvarint()
	if ms == 0 || ms > 1<<50 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// details

func (e *encoder) details(d *details) {
	e.text(d.id)
	e.time(d.modified)
	dropped := byte(0)
	if d.dropped {
		dropped = 1
	}
	e.byte(dropped)
	e.texts(d.names)
	e.time(d.published)
	e.text(d.schema)
	e.text(d.summary)
	e.text(d.text)
	e.severities(d.severities)
	e.int(len(d.references))
	for _, r := range d.references {
		e.text(r.Type)
		e.text(r.URL)
	}
	e.texts(d.cwe)
	e.text(d.label)
}

// head reads the part of details that stands first.
func (d *decoder) head() (id string, modified time.Time, dropped bool) {
	return d.text(), d.time(), d.byte() != 0
}

func (d *decoder) details() details {
	var out details
	out.id, out.modified, out.dropped = d.head()
	out.names = d.texts()
	out.published = d.time()
	out.schema, out.summary, out.text = d.text(), d.text(), d.text()
	out.severities = d.severities()
	for range d.count() {
		out.references = append(out.references, finding.AdvisoryReference{Type: d.text(), URL: d.text()})
	}
	out.cwe = d.texts()
	out.label = d.text()
	return out
}

func (e *encoder) severities(list []finding.AdvisorySeverity) {
	e.int(len(list))
	for _, s := range list {
		e.text(s.Type)
		e.text(s.Score)
	}
}

func (d *decoder) severities() []finding.AdvisorySeverity {
	var out []finding.AdvisorySeverity
	for range d.count() {
		out = append(out, finding.AdvisorySeverity{Type: d.text(), Score: d.text()})
	}
	return out
}

// A block holds everything that records say of one package. Its texts stand in
// a table, because versions and names come again and again.

// encodeBlock returns the block of a package.
func encodeBlock(k key, list []affected) []byte {
	t := table{at: map[string]int{}}
	var body encoder
	body.int(len(list))
	for i := range list {
		t.affected(&body, &list[i])
	}
	var e encoder
	e.text(k.base)
	e.text(k.name)
	e.texts(t.texts)
	e.b = append(e.b, body.b...)
	e.u32(checksum(e.b))
	return e.b
}

// A table numbers texts in the order in which they come.
type table struct {
	texts []string
	at    map[string]int
}

func (t *table) put(e *encoder, s string) {
	n, ok := t.at[s]
	if !ok {
		n = len(t.texts)
		t.at[s] = n
		t.texts = append(t.texts, s)
	}
	e.int(n)
}

func (t *table) putAll(e *encoder, list []string) {
	e.int(len(list))
	for _, s := range list {
		t.put(e, s)
	}
}

func (t *table) affected(e *encoder, a *affected) {
	e.int(int(a.number))
	t.put(e, a.ecosystem)
	t.put(e, a.name)
	t.putAll(e, a.names)
	e.int(len(a.severities))
	for _, s := range a.severities {
		t.put(e, s.Type)
		t.put(e, s.Score)
	}
	t.put(e, a.label)
	e.int(len(a.ranges))
	for _, events := range a.ranges {
		e.int(len(events))
		for _, ev := range events {
			e.byte(byte(ev.kind))
			t.put(e, ev.version)
		}
	}
	t.putAll(e, a.versions)
	t.put(e, a.problem)
	e.int(len(a.symbols))
	for _, s := range a.symbols {
		t.put(e, s.Path)
		t.putAll(e, s.Names)
	}
}

// A block is the decoded form.
type block struct {
	key  key
	list []affected
}

// decodeBlock reads a block whose checksum stands at its end.
func decodeBlock(b []byte) (block, error) {
	if len(b) < 4 || checksum(b[:len(b)-4]) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return block{}, damaged("a package's checksum is wrong")
	}
	d := tableDecoder{decoder: decoder{s: string(b[:len(b)-4])}}
	out := block{key: key{d.text(), d.text()}}
	d.table = d.texts()
	n := d.count()
	out.list = make([]affected, 0, min(n, 1<<10))
	for range n {
		out.list = append(out.list, d.affected())
		if d.err != nil {
			break
		}
	}
	return out, d.err
}

// A tableDecoder reads numbers of texts as the texts.
type tableDecoder struct {
	decoder
	table []string
}

func (d *tableDecoder) take() string {
	n := d.uvarint()
	if n >= uint64(len(d.table)) {
		d.fail()
		return ""
	}
	return d.table[n]
}

func (d *tableDecoder) takeAll() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = d.take()
	}
	return out
}

func (d *tableDecoder) affected() affected {
	a := affected{number: uint32(d.uvarint()), ecosystem: d.take(), name: d.take(), names: d.takeAll()}
	for range d.count() {
		a.severities = append(a.severities, finding.AdvisorySeverity{Type: d.take(), Score: d.take()})
	}
	a.label = d.take()
	for range d.count() {
		events := make([]event, d.count())
		for i := range events {
			events[i] = event{eventKind(d.byte()), d.take()}
		}
		a.ranges = append(a.ranges, events)
	}
	a.versions = d.takeAll()
	a.problem = d.take()
	for range d.count() {
		a.symbols = append(a.symbols, finding.Symbols{Path: d.take(), Names: d.takeAll()})
	}
	return a
}
