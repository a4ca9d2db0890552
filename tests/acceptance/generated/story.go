// What a generated client is driven through. It is built together with the file of one generator, which defines connect.
package main

import (
	"fmt"
	"os"
)

type client interface {
	start() (transaction string)
	createBackend(transaction, name string)
	createServer(transaction, backend, name string)
	deleteServer(transaction, backend, name string)
	commit(transaction string) (status string)
	uploadMap(name, content string) (stored string)
	frontendStatus() string
}

// check ends the program with a message when there is an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// main takes the address, the user, the password and the name of a backend; it prints what the last three calls answered.
func main() {
	backend := os.Args[4]
	api := connect(os.Args[1], os.Args[2], os.Args[3])
	transaction := api.start()
	api.createBackend(transaction, backend)
	for _, name := range []string{"s1", "s2"} {
		api.createServer(transaction, backend, name)
	}
	api.deleteServer(transaction, backend, "s2")
	fmt.Println(api.commit(transaction), api.uploadMap(backend+".map", "key value\n"), api.frontendStatus())
}
