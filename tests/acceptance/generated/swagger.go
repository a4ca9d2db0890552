// A client that go-swagger makes of the Swagger 2.0 document.
package main

import (
	"io"
	"strings"

	made "example.org/client/client"
	"example.org/client/client/backend"
	"example.org/client/client/configuration"
	"example.org/client/client/server"
	"example.org/client/client/stats"
	"example.org/client/client/storage"
	"example.org/client/client/transactions"
	"example.org/client/models"
	"github.com/go-openapi/runtime"
	transport "github.com/go-openapi/runtime/client"
)

type swagger struct{ *made.DataplaneSidecar }

func connect(address, user, password string) client {
	carrier := transport.New(address, made.DefaultBasePath, made.DefaultSchemes)
	carrier.DefaultAuthentication = transport.BasicAuth(user, password)
	return swagger{made.New(carrier, nil)}
}

func (api swagger) start() string {
	version, err := api.Configuration.GetConfigurationVersion(configuration.NewGetConfigurationVersionParams(), nil)
	check(err)
	started, err := api.Transactions.StartTransaction(transactions.NewStartTransactionParams().WithVersion(version.Payload), nil)
	check(err)
	return started.Payload.ID
}

func (api swagger) createBackend(transaction, name string) {
	data := &models.Backend{}
	data.Name = &name
	_, _, err := api.Backend.CreateBackend(backend.NewCreateBackendParams().WithTransactionID(&transaction).WithData(data), nil)
	check(err)
}

func (api swagger) createServer(transaction, backend, name string) {
	address, port := "127.0.0.1", int64(80)
	data := &models.Server{Name: &name, Address: &address, Port: &port}
	within := server.NewCreateServerBackendParams().WithTransactionID(&transaction).WithParentName(backend)
	_, _, err := api.Server.CreateServerBackend(within.WithData(data), nil)
	check(err)
}

func (api swagger) deleteServer(transaction, backend, name string) {
	within := server.NewDeleteServerBackendParams().WithTransactionID(&transaction).WithParentName(backend)
	_, _, err := api.Server.DeleteServerBackend(within.WithName(name), nil)
	check(err)
}

// commit returns the status; the change is either live, or a reload brings it.
func (api swagger) commit(transaction string) string {
	live, accepted, err := api.Transactions.CommitTransaction(transactions.NewCommitTransactionParams().WithID(transaction), nil)
	check(err)
	if live != nil {
		return live.Payload.Status
	}
	return accepted.Payload.Status
}

func (api swagger) uploadMap(name, content string) string {
	upload := runtime.NamedReader(name, io.NopCloser(strings.NewReader(content)))
	stored, err := api.Storage.CreateStorageMapFile(storage.NewCreateStorageMapFileParams().WithFileUpload(upload), nil)
	check(err)
	return stored.Payload.StorageName
}

func (api swagger) frontendStatus() string {
	counters, err := api.Stats.GetStats(stats.NewGetStatsParams(), nil)
	check(err)
	for _, each := range counters.Payload.Stats {
		if each.Type == "frontend" {
			return each.Stats.Status
		}
	}
	return ""
}
