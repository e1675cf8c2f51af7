package web

import (
	"encoding/json"
	"net/http"
	"os"

	"example.com/app/helper"
	"example.com/app/request"
	"github.com/gin-gonic/gin"
)

type files interface{ read(r request.Req) }
type disk struct{}

func (d *disk) read(r request.Req)   { os.ReadFile(r.Path) }            // want path
func (d *disk) prefix(r request.Req) { os.ReadFile("/data/" + r.Path) } // want path

var service files = &disk{}

func fill(r *request.Req, c *gin.Context)      { r.Path = c.Query("p") }
func fillInner(r *request.Req, c *gin.Context) { r.Inner.Name = c.Query("p") }
func parse(r *http.Request, v interface{}) error {
	return json.NewDecoder(r.Body).Decode(v)
}
func constant(r *request.Req) { r.Path = "/etc/app.conf" }

func variable(c *gin.Context) {
	var r request.Req
	helper.Bind(&r, c)
	os.ReadFile(r.Path) // want path
}

func byInterface(c *gin.Context) {
	var r request.Req
	if err := helper.Bind(&r, c); err != nil {
		return
	}
	service.read(r)
	(&disk{}).prefix(r)
}

func addressOfParameter(c *gin.Context) {
	var r request.Req
	helper.BindAddress(&r, c)
	os.ReadFile(r.Path) // want path
}

func literal(c *gin.Context) {
	r := request.Req{}
	helper.Bind(&r, c)
	os.ReadFile(r.Path) // want path
}

func allocated(c *gin.Context) {
	r := new(request.Req)
	helper.Bind(r, c)
	os.ReadFile(r.Path) // want path
}

func field(c *gin.Context) {
	var r request.Req
	fill(&r, c)
	os.ReadFile(r.Path)       // want path
	os.ReadFile(r.Inner.Name) // it is still empty
}

func innerField(c *gin.Context) {
	var r request.Req
	fillInner(&r, c)
	os.ReadFile(r.Inner.Name) // want path
	os.ReadFile(r.Path)       // it is still empty
}

func innerFieldOfLiteral(c *gin.Context) {
	r := request.Req{Path: "/srv/index.html"}
	fillInner(&r, c)
	os.ReadFile(r.Inner.Name) // want path
	os.ReadFile(r.Path)       // a constant
}

func embedded(c *gin.Context) {
	var r request.Embedding
	helper.Bind(&r, c)
	os.ReadFile(r.Path) // want path
	os.ReadFile(r.Name) // want path
}

func otherFile(c *gin.Context) {
	var r local
	helper.Bind(&r, c)
	os.ReadFile(r.Path) // want path
}

func decoder(w http.ResponseWriter, q *http.Request) {
	var r request.Req
	parse(q, &r)
	os.ReadFile(r.Path) // want path
}

func overwritten(c *gin.Context) {
	var r request.Req
	fill(&r, c)
	constant(&r)
	os.ReadFile(r.Path) // a constant
}

func apart(c *gin.Context) {
	var given, own request.Req
	fill(&given, c)
	constant(&own)
	os.ReadFile(own.Path) // of the other variable
}

func noStruct(c *gin.Context) {
	var f request.Filler
	if f == nil {
		return
	}
	os.ReadFile(c.Query("p")) // never reached
}
