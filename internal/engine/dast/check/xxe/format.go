package xxe

import (
	"archive/zip"
	"bytes"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// This file writes formats that hold XML, and documents that include others (XInclude).

// A kind is a file format that contains XML.
type kind struct {
	// The extension and the media type of the upload.
	ending, media string
	// write returns a file with declarations of entities, and a text of entities.
	write func(entities, text string) string
}

// kinds are the formats that applications parse most: images that are resized, and tables that are
// imported. To add one, write a function that puts the declarations into a part that is read first.
var kinds = []kind{
	{".svg", "image/svg+xml", func(entities, text string) string {
		return `<?xml version="1.0"?><!DOCTYPE svg [` + entities +
			`]><svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><text x="1" y="15">` + text +
			`</text></svg>`
	}},
	{".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", sheet},
}

// sheet is a table of Office Open XML (ECMA-376) with one cell. The first part that its
// readers open, and the cell, hold the entities.
func sheet(entities, text string) string {
	const packages, office, table = "http://schemas.openxmlformats.org/package/2006/",
		"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
		"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	relation := func(kind, target string) string {
		return `<Relationships xmlns="` + packages + `relationships"><Relationship Id="r1" Type="` + office + "/" +
			kind + `" Target="` + target + `"/></Relationships>`
	}
	parts := [][2]string{
		{"[Content_Types].xml", `<!DOCTYPE Types [` + entities + `]><Types xmlns="` + packages +
			`content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
			`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
		{"_rels/.rels", relation("officeDocument", "xl/workbook.xml")},
		{"xl/workbook.xml", `<workbook xmlns="` + table + `" xmlns:r="` + office +
			`"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", relation("worksheet", "worksheets/sheet1.xml")},
		{"xl/worksheets/sheet1.xml", `<!DOCTYPE worksheet [` + entities + `]><worksheet xmlns="` + table +
			`"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>` + text +
			`</t></is></c></row></sheetData></worksheet>`},
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, part := range parts {
		if w, err := archive.Create(part[0]); err == nil { // a buffer takes everything
			_, _ = w.Write([]byte(`<?xml version="1.0" encoding="UTF-8"?>` + part[1]))
		}
	}
	_ = archive.Close()
	return out.String()
}

// inclusion is an element that a parser replaces by what is at the address (XInclude),
// where it stands in a document that the application writes.
func inclusion(address string) string {
	return `<i xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include parse="text" href="` + address + `"/></i>`
}

// probeXInclude makes the parser of a document ask our listener by an inclusion.
func probeXInclude(t *activescan.OperationScan, p place) (bool, error) {
	return t.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request, []activescan.ExpectedInteraction) {
		b := bait()
		return p.document("", inclusion(b.URL)),
			[]activescan.ExpectedInteraction{{OASTPayload: b, Rule: external, Point: &p.at, Payload: inclusion(b.URL),
				RequiresHTTP: true,
				Proof: "An element of the document includes what is at an address of a listener; the parser " +
					"read it."}}
	})
}

// scanForXInclude tries all texts of an operation at once, of which the application may make a
// document. An address that is only text tells who asks for every link.
func scanForXInclude(t *activescan.OperationScan) error {
	if t.OAST == nil || !t.Target.Profile.Allows(scan.Standard) {
		return nil
	}
	var points []message.Point
	for _, p := range t.Request.Points() {
		switch p.In {
		case message.InQuery, message.InForm, message.InMultipart, message.InJSON:
			if p.Type != "file" && p.Type != "number" && p.Type != "boolean" && p.Type != "null" {
				points = append(points, p)
			}
		}
	}
	return t.SendOASTAtPoints(points,
		func(_ message.Point, bait func() activescan.OASTPayload) (string, []activescan.ExpectedInteraction) {
			b, link := bait(), bait()
			return inclusion(b.URL) + " " + link.URL,
				[]activescan.ExpectedInteraction{{OASTPayload: b, Control: &link, Rule: external, RequiresHTTP: true,
					Proof: "The value is an element that includes what is at an address of a listener; a parser " +
						"of XML " +
						"read it."}}
		})
}
