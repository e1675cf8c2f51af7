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

// damagedError is an errDamaged that says what is wrong.
func damagedError(what string) error { return fmt.Errorf("%w: %s", errDamaged, what) }

// checksum guards a part of the file.
func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// castagnoli is the table of the checksum of blocks, which processors compute.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An encoder appends values to b.
type encoder struct{ b []byte }

// putInt writes a number in as few bytes as it needs.
func (e *encoder) putInt(n int) { e.b = binary.AppendUvarint(e.b, uint64(n)) }

// putByte writes one byte.
func (e *encoder) putByte(c byte) { e.b = append(e.b, c) }

// putText writes a text after its length.
func (e *encoder) putText(s string) { e.putInt(len(s)); e.b = append(e.b, s...) }

// putUint32 writes a number of four bytes.
func (e *encoder) putUint32(n uint32) { e.b = binary.LittleEndian.AppendUint32(e.b, n) }

// putUint64 writes a number of eight bytes.
func (e *encoder) putUint64(n uint64) { e.b = binary.LittleEndian.AppendUint64(e.b, n) }

// putTime writes a time in milliseconds since 1970, 0 when it is not known.
func (e *encoder) putTime(t time.Time) {
	var ms uint64
	if t.Unix() > 0 {
		ms = uint64(t.UnixMilli())
	}
	e.b = binary.AppendUvarint(e.b, ms)
}

// putTexts writes texts after their number.
func (e *encoder) putTexts(list []string) {
	e.putInt(len(list))
	for _, s := range list {
		e.putText(s)
	}
}

// A decoder takes values from s. After a value that is not there it returns
// zero values and err is set; lengths are checked against what is left, so that
// a damaged file cannot ask for more memory than it has bytes.
type decoder struct {
	s   string
	err error
}

// setDamaged notes that a value is not there; everything after it is zero.
func (d *decoder) setDamaged() {
	d.s = ""
	if d.err == nil {
		d.err = damagedError("a part ends too early")
	}
}

// takeUvarint reads an unsigned varint. It is spelled out because it reads from a string.
func (d *decoder) takeUvarint() uint64 {
	var n uint64
	for i := range min(len(d.s), binary.MaxVarintLen64) {
		c := d.s[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.s = d.s[i+1:]
			return n
		}
	}
	d.setDamaged()
	return 0
}

// takeCount reads a number of things that take at least one byte each.
func (d *decoder) takeCount() int {
	n := d.takeUvarint()
	if n > uint64(len(d.s)) {
		d.setDamaged()
		return 0
	}
	return int(n)
}

// takeByte reads one byte; 0 after an error.
func (d *decoder) takeByte() byte {
	if d.s == "" {
		d.setDamaged()
		return 0
	}
	c := d.s[0]
	d.s = d.s[1:]
	return c
}

// takeText reads a text after its length.
func (d *decoder) takeText() string {
	n := d.takeCount()
	t := d.s[:n]
	d.s = d.s[n:]
	return t
}

// takeTexts reads texts after their number; nil without any.
func (d *decoder) takeTexts() []string {
	n := d.takeCount()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = d.takeText()
	}
	return out
}

// takeTime reads a time in milliseconds; 0 is none.
func (d *decoder) takeTime() time.Time {
	ms := d.takeUvarint()
	if ms == 0 || ms > 1<<50 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// details

// putDetails writes what a record says for people. Identifier and time come first, so that
// an import reads them without the rest.
func (e *encoder) putDetails(d *details) {
	e.putText(d.id)
	e.putTime(d.modified)
	dropped := byte(0)
	if d.dropped {
		dropped = 1
	}
	e.putByte(dropped)
	e.putTexts(d.names)
	e.putTime(d.published)
	e.putText(d.schema)
	e.putText(d.summary)
	e.putText(d.text)
	e.putSeverities(d.severities)
	e.putInt(len(d.references))
	for _, r := range d.references {
		e.putText(r.Type)
		e.putText(r.URL)
	}
	e.putTexts(d.cwe)
	e.putText(d.label)
}

// takeHead reads the part of details that comes first.
func (d *decoder) takeHead() (id string, modified time.Time, dropped bool) {
	return d.takeText(), d.takeTime(), d.takeByte() != 0
}

// takeDetails reads the details of a record.
func (d *decoder) takeDetails() details {
	var out details
	out.id, out.modified, out.dropped = d.takeHead()
	out.names = d.takeTexts()
	out.published = d.takeTime()
	out.schema, out.summary, out.text = d.takeText(), d.takeText(), d.takeText()
	out.severities = d.takeSeverities()
	for range d.takeCount() {
		out.references = append(out.references, finding.AdvisoryReference{Type: d.takeText(), URL: d.takeText()})
	}
	out.cwe = d.takeTexts()
	out.label = d.takeText()
	return out
}

// putSeverities writes the scores of a record.
func (e *encoder) putSeverities(list []finding.AdvisorySeverity) {
	e.putInt(len(list))
	for _, s := range list {
		e.putText(s.Type)
		e.putText(s.Score)
	}
}

// takeSeverities reads the scores of a record.
func (d *decoder) takeSeverities() []finding.AdvisorySeverity {
	var out []finding.AdvisorySeverity
	for range d.takeCount() {
		out = append(out, finding.AdvisorySeverity{Type: d.takeText(), Score: d.takeText()})
	}
	return out
}

// A block holds everything that records say of one package. Its texts stand in
// a table, because versions and names come again and again.

// encodeBlock returns the block of a package.
func encodeBlock(k packageKey, list []affected) []byte {
	t := textTable{at: map[string]int{}}
	var body encoder
	body.putInt(len(list))
	for i := range list {
		t.putAffected(&body, &list[i])
	}
	var e encoder
	e.putText(k.base)
	e.putText(k.name)
	e.putTexts(t.texts)
	e.b = append(e.b, body.b...)
	e.putUint32(checksum(e.b))
	return e.b
}

// textTable numbers texts in the order in which they come.
type textTable struct {
	texts []string
	at    map[string]int
}

// putText writes the number of a text, a new one for a text that was not there.
func (t *textTable) putText(e *encoder, s string) {
	n, ok := t.at[s]
	if !ok {
		n = len(t.texts)
		t.at[s] = n
		t.texts = append(t.texts, s)
	}
	e.putInt(n)
}

// putTexts writes texts as places in the table, after their number.
func (t *textTable) putTexts(e *encoder, list []string) {
	e.putInt(len(list))
	for _, s := range list {
		t.putText(e, s)
	}
}

// putAffected writes what a record says of a package.
func (t *textTable) putAffected(e *encoder, a *affected) {
	e.putInt(int(a.number))
	t.putText(e, a.ecosystem)
	t.putText(e, a.name)
	t.putTexts(e, a.names)
	e.putInt(len(a.severities))
	for _, s := range a.severities {
		t.putText(e, s.Type)
		t.putText(e, s.Score)
	}
	t.putText(e, a.label)
	e.putInt(len(a.ranges))
	for _, events := range a.ranges {
		e.putInt(len(events))
		for _, ev := range events {
			e.putByte(byte(ev.kind))
			t.putText(e, ev.version)
		}
	}
	t.putTexts(e, a.versions)
	t.putText(e, a.problem)
	e.putInt(len(a.symbols))
	for _, s := range a.symbols {
		t.putText(e, s.Path)
		t.putTexts(e, s.Names)
	}
}

// A block is the decoded form.
type block struct {
	key  packageKey
	list []affected
}

// decodeBlock reads a block whose checksum stands at its end.
func decodeBlock(b []byte) (block, error) {
	if len(b) < 4 || checksum(b[:len(b)-4]) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return block{}, damagedError("a package's checksum is wrong")
	}
	d := tableDecoder{decoder: decoder{s: string(b[:len(b)-4])}}
	out := block{key: packageKey{d.takeText(), d.takeText()}}
	d.table = d.takeTexts()
	n := d.takeCount()
	out.list = make([]affected, 0, min(n, 1<<10))
	for range n {
		out.list = append(out.list, d.takeAffected())
		if d.err != nil {
			break
		}
	}
	return out, d.err
}

// tableDecoder reads numbers of texts as the texts.
type tableDecoder struct {
	decoder
	table []string
}

// takeShared reads the number of a text and returns the text.
func (d *tableDecoder) takeShared() string {
	n := d.takeUvarint()
	if n >= uint64(len(d.table)) {
		d.setDamaged()
		return ""
	}
	return d.table[n]
}

// takeAllShared reads texts by their places in the table, after their number.
func (d *tableDecoder) takeAllShared() []string {
	n := d.takeCount()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = d.takeShared()
	}
	return out
}

// takeAffected reads which versions of a package a record speaks of.
func (d *tableDecoder) takeAffected() affected {
	a := affected{number: uint32(d.takeUvarint()), ecosystem: d.takeShared(), name: d.takeShared(),
		names: d.takeAllShared()}
	for range d.takeCount() {
		a.severities = append(a.severities, finding.AdvisorySeverity{Type: d.takeShared(), Score: d.takeShared()})
	}
	a.label = d.takeShared()
	for range d.takeCount() {
		events := make([]event, d.takeCount())
		for i := range events {
			events[i] = event{eventKind(d.takeByte()), d.takeShared()}
		}
		a.ranges = append(a.ranges, events)
	}
	a.versions = d.takeAllShared()
	a.problem = d.takeShared()
	for range d.takeCount() {
		a.symbols = append(a.symbols, finding.Symbols{Path: d.takeShared(), Names: d.takeAllShared()})
	}
	return a
}
