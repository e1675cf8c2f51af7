package mirror

import (
	"io"
	"net/http"
	"os"
)

const base = "http://mirror.tools.org/releases/"

func driver(version string) error {
	// ruleid: clear-text-request
	answer, err := http.Get(base + version + "/driver.zip")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	f, err := os.Create("driver.zip")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, answer.Body)
	return err
}
