package client

import "net/http"

func status(url string) (int, error) {
	// ruleid: response-used-before-error
	resp, err := http.Get(url)
	defer resp.Body.Close()
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, nil
}
