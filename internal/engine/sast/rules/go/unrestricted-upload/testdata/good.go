package web

import (
	"net/http"
	"path/filepath"

	"github.com/gin-gonic/gin"
)

func upload(c *gin.Context) {
	file, err := c.FormFile("picture")
	if err != nil {
		return
	}
	if filepath.Ext(file.Filename) != ".png" {
		c.Status(http.StatusBadRequest)
		return
	}
	// ok: unrestricted-upload
	if err := c.SaveUploadedFile(file, "pictures/"+filepath.Base(file.Filename)); err != nil {
		c.Status(http.StatusInternalServerError)
	}
}
