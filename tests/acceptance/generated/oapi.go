// A client that oapi-codegen makes of the OpenAPI 3 document.
package main

import (
	"bytes"
	"context"
	"errors"
	"mime/multipart"
	"net/http"

	"example.org/client/made"
)

type oapi struct{ *made.ClientWithResponses }

var background = context.Background()

func connect(address, user, password string) client {
	authorize := func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(user, password)
		return nil
	}
	api, err := made.NewClientWithResponses("http://"+address+"/v3", made.WithRequestEditorFn(authorize))
	check(err)
	return oapi{api}
}

// met ends the program when the answer is not the one that the document has for success.
func met(decoded bool, body []byte) {
	if !decoded {
		check(errors.New(string(body)))
	}
}

func (api oapi) start() string {
	version, err := api.GetConfigurationVersionWithResponse(background, nil)
	check(err)
	met(version.JSON200 != nil, version.Body)
	started, err := api.StartTransactionWithResponse(background, &made.StartTransactionParams{Version: *version.JSON200})
	check(err)
	met(started.JSON201 != nil, started.Body)
	return *started.JSON201.Id
}

func (api oapi) createBackend(transaction, name string) {
	within := &made.CreateBackendParams{TransactionId: &transaction}
	created, err := api.CreateBackendWithResponse(background, within, made.Backend{Name: name})
	check(err)
	met(created.JSON202 != nil, created.Body)
}

func (api oapi) createServer(transaction, backend, name string) {
	port := 80
	within := &made.CreateServerBackendParams{TransactionId: &transaction}
	server := made.Server{Name: name, Address: "127.0.0.1", Port: &port}
	created, err := api.CreateServerBackendWithResponse(background, backend, within, server)
	check(err)
	met(created.JSON202 != nil, created.Body)
}

func (api oapi) deleteServer(transaction, backend, name string) {
	within := &made.DeleteServerBackendParams{TransactionId: &transaction}
	deleted, err := api.DeleteServerBackendWithResponse(background, backend, name, within)
	check(err)
	met(deleted.StatusCode() == http.StatusAccepted, deleted.Body)
}

// commit returns the status; the change is either live, or a reload brings it.
func (api oapi) commit(transaction string) string {
	committed, err := api.CommitTransactionWithResponse(background, transaction, nil)
	check(err)
	if committed.JSON200 != nil {
		return string(*committed.JSON200.Status)
	}
	met(committed.JSON202 != nil, committed.Body)
	return string(*committed.JSON202.Status)
}

func (api oapi) uploadMap(name, content string) string {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file_upload", name)
	check(err)
	_, err = part.Write([]byte(content))
	check(err)
	check(form.Close())
	stored, err := api.CreateStorageMapFileWithBodyWithResponse(background, form.FormDataContentType(), &body)
	check(err)
	met(stored.JSON201 != nil, stored.Body)
	return *stored.JSON201.StorageName
}

func (api oapi) frontendStatus() string {
	counters, err := api.GetStatsWithResponse(background, nil)
	check(err)
	met(counters.JSON200 != nil, counters.Body)
	for _, each := range *counters.JSON200.Stats {
		if *each.Type == "frontend" {
			return string(*each.Stats.Status)
		}
	}
	return ""
}
