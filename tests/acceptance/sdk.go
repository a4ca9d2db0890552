// A client as Go programs are: typed answers, no Accept header, bodies of length 0 with a JSON type.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

type transaction struct {
	ID      string `json:"id"`
	Version int64  `json:"_version"`
	Status  string `json:"status"`
}

type backend struct {
	Name string `json:"name"`
	Mode string `json:"mode,omitempty"`
	ID   *int64 `json:"id,omitempty"`
}

type failure struct {
	Code    *int64  `json:"code"`
	Message *string `json:"message"`
}

var base, user, password string

func call(method, path string, body, into any, expect ...int) *http.Response {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		check(err)
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, base+"/v3/services/haproxy"+path, sent)
	check(err)
	request.SetBasicAuth(user, password)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	check(err)
	for _, status := range expect {
		if answer.StatusCode == status {
			if into != nil {
				check(json.Unmarshal(text, into))
			}
			return answer
		}
	}
	check(fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, text))
	return nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func version() int64 {
	request, err := http.NewRequest("GET", base+"/v3/services/haproxy/configuration/version", nil)
	check(err)
	request.SetBasicAuth(user, password)
	answer, err := http.DefaultClient.Do(request)
	check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	check(err)
	number, err := strconv.ParseInt(strings.TrimSuffix(string(text), "\n"), 10, 64)
	check(err)
	return number
}

func main() {
	base, user, password = os.Args[1], os.Args[2], os.Args[3]
	var started, committed transaction
	var before, after []backend
	var made backend
	var failed failure
	call("POST", fmt.Sprintf("/transactions?version=%d", version()), nil, &started, 201)
	within := "?transaction_id=" + started.ID
	call("GET", "/configuration/backends"+within, nil, &before, 200)
	call("POST", "/configuration/backends"+within, backend{Name: "be_go", Mode: "http"}, &made, 201, 202)
	call("GET", "/configuration/backends"+within, nil, &after, 200)
	if len(after) != len(before)+1 || made.Name != "be_go" {
		check(fmt.Errorf("%d backends after %d", len(after), len(before)))
	}
	call("POST", "/transactions/"+started.ID, nil, &failed, 404, 405)
	if failed.Code == nil || failed.Message == nil {
		check(fmt.Errorf("an error without code or message"))
	}
	answer := call("PUT", "/transactions/"+started.ID, nil, &committed, 200, 202)
	if answer.StatusCode == 202 && answer.Header.Get("Reload-ID") == "" {
		check(fmt.Errorf("202 without a reload id"))
	}
	call("DELETE", "/transactions/"+started.ID, nil, nil, 204, 404)
	fmt.Println(committed.Status)
}
