package helper

import "github.com/gin-gonic/gin"

func Bind(req interface{}, c *gin.Context) error {
	if err := c.ShouldBindJSON(req); err != nil {
		return err
	}
	return nil
}

func BindAddress(req interface{}, c *gin.Context) error { return c.ShouldBindJSON(&req) }
