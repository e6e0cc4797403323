// curl_go URL AT-ONCE COUNT: so many downloads of one URL by Go's net/http, so many at once; the bytes are counted.
// SPDX-License-Identifier: MIT
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(runtime.Version())
		return
	}
	url := os.Args[1]
	atOnce, _ := strconv.Atoi(os.Args[2])
	count, _ := strconv.Atoi(os.Args[3])
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce, MaxConnsPerHost: atOnce, DisableCompression: true}}
	var next, bytes int64
	var all sync.WaitGroup
	for i := 0; i < atOnce; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for atomic.AddInt64(&next, 1) <= int64(count) {
				page, err := client.Get(url)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				size, err := io.Copy(io.Discard, page.Body)
				page.Body.Close()
				if err != nil || page.StatusCode != 200 {
					fmt.Fprintln(os.Stderr, page.Status, err)
					os.Exit(1)
				}
				atomic.AddInt64(&bytes, size)
			}
		}()
	}
	all.Wait()
	if bytes == 0 {
		os.Exit(1)
	}
}
