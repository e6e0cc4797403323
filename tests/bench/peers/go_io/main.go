// main.go: the servers of suite io by Go: echo (a goroutine for each connection) and net/http. io_go PORT THREADS echo|http
// SPDX-License-Identifier: MIT
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func echo(connection net.Conn) {
	defer connection.Close()
	buffer := make([]byte, 4096)
	for {
		count, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if _, err = connection.Write(buffer[:count]); err != nil {
			return
		}
	}
}

func main() {
	args := append(os.Args, "", "", "")
	if args[1] == "--version" {
		fmt.Println("Go " + strings.TrimPrefix(runtime.Version(), "go"))
		return
	}
	threads, _ := strconv.Atoi(args[2])
	listener, err := net.Listen("tcp", "127.0.0.1:"+args[1])
	if err != nil || threads <= 0 {
		fmt.Fprintf(os.Stderr, "usage: %s PORT THREADS echo|http | --version\n", args[0])
		os.Exit(2)
	}
	runtime.GOMAXPROCS(threads)
	if args[3] == "http" {
		http.Serve(listener, http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			answer.Header().Set("Content-Type", "text/plain")
			io.WriteString(answer, "Hello, World!")
		}))
	}
	for {
		if connection, err := listener.Accept(); err == nil {
			go echo(connection)
		}
	}
}
