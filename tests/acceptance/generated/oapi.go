// A program around a client that oapi-codegen has made of the served document: a transaction, and counters.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"example.org/client/made"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	background := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(os.Args[2], os.Args[3])
		return nil
	}
	client, err := made.NewClientWithResponses(os.Args[1]+"/v3", made.WithRequestEditorFn(authorize))
	check(err)
	version, err := client.GetConfigurationVersionWithResponse(background, nil)
	check(err)
	started, err := client.StartTransactionWithResponse(background, &made.StartTransactionParams{Version: *version.JSON200})
	check(err)
	id := *started.JSON201.Id
	backend := made.Backend{Name: "be_oapi"}
	_, err = client.CreateBackendWithResponse(background, &made.CreateBackendParams{TransactionId: &id}, backend)
	check(err)
	for _, name := range []string{"s1", "s2"} {
		port := 80
		server := made.Server{Name: name, Address: "127.0.0.1", Port: &port}
		made, err := client.CreateServerBackendWithResponse(background, "be_oapi", &made.CreateServerBackendParams{TransactionId: &id}, server)
		check(err)
		if made.JSON202 == nil {
			check(fmt.Errorf("%s", made.Body))
		}
	}
	_, err = client.DeleteServerBackendWithResponse(background, "be_oapi", "s2", &made.DeleteServerBackendParams{TransactionId: &id})
	check(err)
	committed, err := client.CommitTransactionWithResponse(background, id, nil)
	check(err)
	if committed.StatusCode() > 202 {
		check(fmt.Errorf("%s", committed.Body))
	}
	counters, err := client.GetStatsWithResponse(background, nil)
	check(err)
	for _, each := range *counters.JSON200.Stats {
		if *each.Type == "frontend" {
			fmt.Println(*each.Stats.Status)
			return
		}
	}
}
